"""The products that a search over all of them finds."""

from dataclasses import dataclass

from results.models import Category
from webapp.register.categories import SPECS
from webapp.register.drives.coded import Shelf
from webapp.register.drives.search import Found
from webapp.templatetags import units

SHOWN_AT_MOST = 100


@dataclass(frozen=True)
class FoundProduct:
    """One product: its names, and what its results come to."""

    slug: str
    vendor: str
    model: str
    part_number: str
    capacity: str
    category: str
    is_historical: bool
    speed: str
    results: int


def found_products(shelf: Shelf, found: Found) -> tuple[list[FoundProduct], int]:
    """Return the products whose names hold what was asked, in the order of names, and how many there are in all."""
    rows_of: dict[str, list[int]] = {}
    for row, text in enumerate(shelf.names.texts):
        if found.holds(text):
            rows_of.setdefault(shelf.slugs[row], []).append(row)
    shown = list(rows_of.values())[:SHOWN_AT_MOST]
    return [_product(shelf, rows) for rows in shown], len(rows_of)


def _product(shelf: Shelf, rows: list[int]) -> FoundProduct:
    columns, tps, first = shelf.columns, shelf.columns["tps"], rows[0]
    return FoundProduct(
        slug=shelf.slugs[first],
        vendor=columns["vendor"].word(first),
        model=columns["model"].word(first),
        part_number=columns["part_number"].word(first),
        capacity=columns["capacity_gb"].word(first),
        category=SPECS[Category(columns["category"].word(first))].title,
        is_historical=columns["historical"].word(first) == "yes",
        speed=tps.word(max(rows, key=lambda row: tps.value(row) or 0)),
        results=len(rows),
    )


def found_sentence(query: str, count: int, shown: int) -> str:
    """Say how many products were found."""
    if not query:
        return "Search by maker, model, part number or capacity; one typing error is forgiven."
    first = f", the first {shown} shown" if shown < count else ""
    return f"{units.counted(count, 'drive')} found by {query}{first}."
