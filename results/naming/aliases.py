"""Aliases: the product that a reviewer decided a stated name to mean."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils import timezone

from results.errors import ReviewRefusedError
from results.history import record_event
from results.models import Product, ProductAlias
from results.naming.addresses import current_product

ALIAS = "alias"  # the type of the subject; no public list shows these events, because a sender stated the name
IDENTITY = ("category", "vendor", "model", "part_number", "capacity_gb")


def name_key(identity: Mapping[str, Any]) -> str:
    r"""Return a stated identity without differences of case and white space.

    >>> name_key({"category": "", "vendor": "Exemplar", "model": " EX4  Pro", "part_number": "", "capacity_gb": 960})
    '\nexemplar\nex4 pro\n\n960'
    """
    values = ("" if identity[name] is None else str(identity[name]) for name in IDENTITY)
    return "\n".join(" ".join(value.casefold().split()) for value in values)


def aliased_product(identity: Mapping[str, Any]) -> Product | None:
    """Return the product that a reviewer decided a stated identity to mean; None without a decision."""
    aliases = ProductAlias.objects.filter(revoked_at__isnull=True, name_key=name_key(identity))
    found = aliases.select_related("product").first()
    return current_product(found.product) if found else None


def add_alias(identity: Mapping[str, Any], product: Product, actor: AbstractBaseUser | None, reason: str = "") -> None:
    """Store that a stated identity means a product from now on, and revoke what it meant before.

    The identity of the product itself needs no alias; stating it again ends the alias that it had.
    """
    key = name_key(identity)
    is_own = key == name_key({name: getattr(product, name) for name in IDENTITY})
    if not identity["vendor"] and not identity["model"] and not identity["part_number"]:
        return  # a capacity alone is no name
    with transaction.atomic():
        aliases = ProductAlias.objects.select_for_update().filter(revoked_at__isnull=True, name_key=key)
        for before in aliases:
            if before.product_id == product.pk and not is_own:
                return
            _revoke(before, actor, reason)
        if is_own:
            return
        stated = {name: identity[name] for name in IDENTITY}
        decided_by_id = actor.pk if actor else None
        alias = ProductAlias.objects.create(name_key=key, product=product, decided_by_id=decided_by_id, **stated)
        record_event(actor, "alias-added", (ALIAS, str(alias.pk)), reason, {"name": stated, "product": product.slug})


def revoke_alias(alias: ProductAlias, actor: AbstractBaseUser, reason: str) -> None:
    """End an alias. Submissions that it named still have their product.

    Raises ReviewRefusedError without a reason, or if it was revoked already.
    """
    if not reason.strip():
        raise ReviewRefusedError("A reason is needed to revoke an alias. The history shows it.")
    with transaction.atomic():
        locked = ProductAlias.objects.select_for_update().select_related("product").get(pk=alias.pk)
        if locked.revoked_at is not None:
            raise ReviewRefusedError(f"The alias {locked} was revoked already. Nothing was changed.")
        _revoke(locked, actor, reason)


def _revoke(alias: ProductAlias, actor: AbstractBaseUser | None, reason: str) -> None:
    ProductAlias.objects.filter(pk=alias.pk).update(revoked_at=timezone.now())
    details = {"name": {name: getattr(alias, name) for name in IDENTITY}, "product": alias.product.slug}
    record_event(actor, "alias-revoked", (ALIAS, str(alias.pk)), reason, details)
