"""Another name for a product: its identity and its slug change, and the former ones still lead to it."""

from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from results.errors import ReviewRefusedError
from results.ingest.rows import Identity
from results.models import Event, Product, ProductAddress
from results.models.ids import product_stem
from results.naming.addresses import free_slug
from results.naming.aliases import IDENTITY, add_alias
from results.products.changes import lock_product, record_change

RENAMED = "product-renamed"
NAMES = ("vendor", "model", "capacity_gb")


def rename(
    product: Product, identity: Identity, actor: AbstractBaseUser, reason: str, version: int | None = None
) -> Event:
    """Give a product another identity. Renaming it back reverts this, and gives it the former slug again.

    The former identity becomes an alias, and the former slug redirects. Raises ReviewRefusedError if another product
    has this identity; ProductChangedError if the product was changed since the version that the caller read.
    """
    with transaction.atomic():
        locked = lock_product(product, version, reason)
        before = {name: getattr(locked, name) for name in IDENTITY}
        changes = {name: [before[name], after] for name, after in identity.items() if before[name] != after}
        if not changes:
            raise ReviewRefusedError(f"{locked.slug} already has this name. Nothing was changed.")
        if other := Product.objects.filter(**identity).exclude(pk=locked.pk).first():
            raise ReviewRefusedError(
                f"Another product has this name: {other.slug}. Merge {locked.slug} into it instead."
            )
        slug = _slug_for(locked, before, identity)
        former_slug = locked.slug
        ProductAddress.objects.filter(slug=slug, product=locked).delete()
        if slug != former_slug:
            ProductAddress.objects.create(slug=former_slug, product=locked)
        Product.objects.filter(pk=locked.pk).update(slug=slug, **identity)
        locked.refresh_from_db()
        add_alias(before, locked, actor, reason)
        add_alias(identity, locked, actor, reason)  # ends an alias that this name has
        details = {"changes": changes, "slugs": [former_slug, slug]}
        return record_change(locked, actor, RENAMED, reason, details)


def _slug_for(product: Product, before: dict[str, Any], identity: Identity) -> str:
    """Return the slug for an identity: the present one if the name in it is the same, or a former one of its own."""
    named = (identity["vendor"], identity["model"], identity["capacity_gb"])
    stem = product_stem(*named)
    if product_stem(*(before[name] for name in NAMES)) == stem:
        return product.slug
    own = product.former_addresses.filter(slug=stem).first()
    return own.slug if own else free_slug(*named)
