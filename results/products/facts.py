"""Facts and list prices of a product, as a reviewer enters and corrects them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from results.errors import ReviewRefusedError
from results.models import Event, ListPrice, Product
from results.products.changes import lock_product, record_change

FACTS = ("endurance_dwpd", "pcie_gen", "form_factor", "part_numbers", "historical")
PART_NUMBERS_MAX = 50
PART_NUMBER_CHARS = 200
CURRENCY = r"\A[A-Z]{3}\Z"
NO_CURRENCY = "Expected a code of three capital letters, such as USD."
FACTS_CHANGED, PRICE_ADDED, PRICE_REMOVED = "product-facts-changed", "product-price-added", "product-price-removed"


def change_facts(
    product: Product, stated: Mapping[str, Any], actor: AbstractBaseUser, reason: str, version: int | None = None
) -> Event:
    """Set the stated facts, of those in FACTS; the others stay. An import of the catalogue no longer changes them.

    Raises ReviewRefusedError without a reason, or if the product already has these facts; ProductChangedError if it
    was changed since the version that the caller read.
    """
    with transaction.atomic():
        locked = lock_product(product, version, reason)
        both = {name: [json_fact(getattr(locked, name)), json_fact(stated[name])] for name in FACTS if name in stated}
        changes = {name: [before, after] for name, (before, after) in both.items() if before != after}
        if not changes:
            raise ReviewRefusedError(f"{locked.slug} already has these facts. Nothing was changed.")
        entered = sorted({*locked.entered_facts, *changes})
        Product.objects.filter(pk=locked.pk).update(entered_facts=entered, **{name: stated[name] for name in changes})
        return record_change(locked, actor, FACTS_CHANGED, reason, {"changes": changes})


def json_fact(value: Any) -> Any:
    """Return a fact as an event's JSON has it: decimals as text without trailing zeros, empty values as null.

    >>> json_fact(Decimal("3.00")), json_fact(""), json_fact(False)
    ('3', None, False)
    """
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    if isinstance(value, bool):
        return value
    return value or None


@dataclass(frozen=True)
class StatedPrice:
    """A list price as a source states it."""

    amount: Decimal
    currency: str
    stated_on: date
    source_url: str

    def as_json(self) -> dict[str, str]:
        """Return the price as an event has it."""
        return {
            "amount": str(self.amount),
            "currency": self.currency,
            "stated_on": self.stated_on.isoformat(),
            "source_url": self.source_url,
        }


def complaint_about_date(stated_on: date) -> str:
    """Return why a price cannot be of a date; empty if it can."""
    today = timezone.now().date()
    return f"Expected a date that is not after {today}, got {stated_on}." if stated_on > today else ""


def add_price(
    product: Product, price: StatedPrice, actor: AbstractBaseUser, reason: str = "", version: int | None = None
) -> ListPrice:
    """Add a list price. Its source is the reason, unless one is stated.

    Raises ReviewRefusedError if the product has a price of that date in that currency.
    """
    with transaction.atomic():
        locked = lock_product(product, version, reason or price.source_url)
        same = {"currency": price.currency, "stated_on": price.stated_on}
        if known := current_prices(locked).filter(**same).first():
            raise ReviewRefusedError(
                f"{locked.slug} already has a list price of {price.stated_on} in {price.currency}: {known.amount}. "
                "Remove it first if it is wrong."
            )
        row = ListPrice.objects.create(
            product=locked, amount=price.amount, source_url=price.source_url, entered_by_id=actor.pk, **same
        )
        record_change(locked, actor, PRICE_ADDED, reason or price.source_url, {"price": price.as_json()})
    return row


def remove_price(price: ListPrice, actor: AbstractBaseUser, reason: str) -> None:
    """Remove a list price that is wrong; its event stays. Raises ReviewRefusedError if it was removed already."""
    with transaction.atomic():
        locked = lock_product(price.product, None, reason)
        if not ListPrice.objects.filter(pk=price.pk, removed_at__isnull=True).update(removed_at=timezone.now()):
            raise ReviewRefusedError(f"This list price of {locked.slug} was removed already. Nothing was changed.")
        stated = StatedPrice(price.amount, price.currency, price.stated_on, price.source_url)
        record_change(locked, actor, PRICE_REMOVED, reason, {"price": stated.as_json()})


def current_prices(product: Product) -> QuerySet[ListPrice]:
    """Return the list prices of a product that were not removed, the newest date first."""
    return product.list_prices.filter(removed_at__isnull=True)
