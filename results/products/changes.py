"""What all changes of a product share: the lock, the stated version, the reason, and the event."""

from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import F

from results.errors import ReviewRefusedError
from results.history import WAS_PUBLIC, record_event
from results.models import Event, Product
from results.naming.addresses import current_product


class ProductChangedError(ReviewRefusedError):
    """Another reviewer has changed the product since the caller read it."""


def lock_product(product: Product, version: int | None, reason: str) -> Product:
    """Return the product, locked against other changes until the caller's transaction ends.

    `version` is the one that the caller read; None accepts any. Raises ProductChangedError if it is not the current
    one, and ReviewRefusedError without a reason and for a merged product.
    """
    if not reason.strip():
        raise ReviewRefusedError("A reason or source is needed. Everyone reads it in the history of the product.")
    locked = Product.objects.select_for_update().get(pk=product.pk)
    if locked.merged_into is not None:
        raise ReviewRefusedError(
            f"{locked.slug} was merged into {current_product(locked).slug}. Change that product, or revert the merge."
        )
    if version is not None and version != locked.version:
        raise ProductChangedError(
            f"{locked.slug} was changed after you read it: expected version {version}, found {locked.version}. "
            "Nothing was changed. Read the product again, then repeat your change."
        )
    return locked


def record_change(
    product: Product, actor: AbstractBaseUser | None, kind: str, reason: str, details: dict[str, Any]
) -> Event:
    """Count the change, which also outdates the stored pages of the product, and record its event."""
    Product.objects.filter(pk=product.pk).update(version=F("version") + 1)
    visible = {WAS_PUBLIC: is_public(product)} | details
    return record_event(actor, kind, ("product", product.slug), reason, visible)


def is_public(product: Product) -> bool:
    """Return whether everyone can see the product."""
    return Product.objects.public().filter(pk=product.pk).exists()
