"""Drives that a reader may enter prices for. The register has no prices: only the browser knows them.

static/js/prices.js fills the cells of `register/prices/cell.html`, which have the facts of a `PricedDrive`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from results.models import Product, Run
from results.models.categories import OF_DRIVES
from results.rules.endurance import sustained_tps, three_digits
from webapp.register.tables.columns import product_of, whole_device_tps
from webapp.register.tables.sentences import product_name


@dataclass(frozen=True)
class PricedDrive:
    """A drive with the facts that prices are divided by: tested and sustained speed of one drive, and capacity."""

    slug: str
    name: str
    tps: int | None
    sustained_tps: Decimal | None
    capacity_gb: int


def is_priced(product: Product) -> bool:
    """Return whether a product is a single drive with a capacity. Instances and systems have no price of a drive."""
    return product.category in OF_DRIVES and bool(product.capacity_gb)


def priced_drives(runs: Iterable[Run]) -> list[PricedDrive]:
    """Return the drives of some runs, each once, with the speed of its first run."""
    found: dict[str, PricedDrive] = {}
    for run in runs:
        product = product_of(run)
        if is_priced(product):
            sustained = three_digits(sustained_tps(product.endurance_dwpd, product.capacity_gb))
            facts = (whole_device_tps(run), sustained, product.capacity_gb or 0)
            found.setdefault(product.slug, PricedDrive(product.slug, product_name(product), *facts))
    return list(found.values())
