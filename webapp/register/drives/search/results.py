"""The products that a search over all of them finds."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.html import format_html

from results.models import Category
from results.rules.act.limits import Limit
from webapp.register.drives.limit_check import Judge, on_drives, ranked_tps, standing
from webapp.register.drives.search.query import Lookup
from webapp.register.drives.store.encoded_columns import Rows, Shelf
from webapp.register.limits.reader_limits import read_limits
from webapp.register.tables.categories import SPECS
from webapp.register.tables.sentences import HOW, devices_words
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
    speeds: list[tuple[str, str]]
    results: int


def found_products(shelf: Shelf, asked: Lookup, profile: Iterable[Limit]) -> tuple[list[FoundProduct], int]:
    """Return the products whose names hold what was asked, in the order of names, and how many there are in all.

    Results are those that stand; the fastest within the profile is told for each statistic, as they do not compare.
    """
    stand = standing(shelf)
    passing = stand & on_drives(shelf) & Judge(shelf, read_limits({}, profile)).passes_profile
    rows_of: dict[str, list[int]] = {}
    for row in range(shelf.count):
        if asked.holds(shelf, row):
            rows_of.setdefault(shelf.slugs[row], []).append(row)
    shown = list(rows_of.values())[:SHOWN_AT_MOST]
    return [_product(shelf, rows, stand, passing) for rows in shown], len(rows_of)


def _product(shelf: Shelf, rows: list[int], stand: Rows, passing: Rows) -> FoundProduct:
    columns, first = shelf.columns, rows[0]
    return FoundProduct(
        slug=shelf.slugs[first],
        vendor=columns["vendor"].word(first),
        model=columns["model"].word(first),
        part_number=columns["part_number"].word(first),
        capacity=columns["capacity_gb"].word(first),
        category=SPECS[Category(columns["category"].word(first))].title,
        is_historical=columns["historical"].word(first) == "yes",
        speeds=_speeds(shelf, [row for row in rows if passing >> row & 1]),
        results=sum(stand >> row & 1 for row in rows),
    )


def _speeds(shelf: Shelf, rows: list[int]) -> list[tuple[str, str]]:
    """Return the stated speed of the fastest row of each statistic, and how it was taken."""
    tps, statistic = shelf.columns["tps"], shelf.columns["statistic"]
    stated = [row for row in rows if tps.value(row)]
    best = [
        max(
            (row for row in stated if statistic.word(row) == kind), key=lambda row: ranked_tps(shelf, row), default=None
        )
        for kind in HOW
    ]
    told = [(row, how) for row, how in zip(best, HOW.values(), strict=True) if row is not None]
    return [(tps.word(row), f"{how}{_together(shelf, row)}") for row, how in told]


def _together(shelf: Shelf, row: int) -> str:
    return devices_words(shelf.columns["storage"].word(row), int(shelf.columns["device_count"].word(row) or 1))


def found_sentence(query: str, count: int, shown: int) -> str:
    """Say how many products were found; what was typed turns nothing around it."""
    if not query:
        return "Search by maker, model, part number or capacity; one typing error is forgiven."
    first = f", the first {shown} shown" if shown < count else ""
    return format_html("{} found by <bdi>{}</bdi>{}.", units.counted(count, "drive"), query, first)
