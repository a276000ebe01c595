"""The products that a search finds."""

from collections.abc import Iterable
from typing import Any

from django.utils.html import format_html

from results.models import Category
from results.rules.act.limits import Limit
from webapp.register.drives.limit_check import LimitCheck, current_rows, on_drives, ranked_tps
from webapp.register.drives.search.query import ProductQuery
from webapp.register.drives.store.encoded_columns import ColumnStore, Rows
from webapp.register.limits.reader_limits import read_limits
from webapp.register.tables.categories import SPECS
from webapp.register.tables.sentences import HOW, devices_words
from webapp.templatetags import units

SHOWN_AT_MOST = 100


def found_products(
    store: ColumnStore, query: ProductQuery, profile: Iterable[Limit]
) -> tuple[list[dict[str, Any]], int]:
    """Return the first products that match a query, in the order of their names, and the number of all that match.

    Only current results count. Each statistic has a fastest result of its own, because statistics do not compare.
    """
    current = current_rows(store)
    passing = current & on_drives(store) & LimitCheck(store, read_limits({}, profile)).passes_profile
    rows_of: dict[str, list[int]] = {}
    for row in range(store.count):
        if query.matches(store, row):
            rows_of.setdefault(store.slugs[row], []).append(row)
    shown = list(rows_of.values())[:SHOWN_AT_MOST]
    return [_product(store, rows, current, passing) for rows in shown], len(rows_of)


def _product(store: ColumnStore, rows: list[int], current: Rows, passing: Rows) -> dict[str, Any]:
    """Return one product: its names, the number of its results and its fastest speeds."""
    names = ("vendor", "model", "part_number", "capacity_gb", "category", "historical")
    words = {name: store.columns[name].word(rows[0]) for name in names}
    return words | {
        "slug": store.slugs[rows[0]],
        "category": SPECS[Category(words["category"])].title,
        "speeds": _speeds(store, [row for row in rows if passing >> row & 1]),
        "results": sum(current >> row & 1 for row in rows),
    }


def _speeds(store: ColumnStore, rows: list[int]) -> list[tuple[str, str]]:
    """Return the speed of the fastest row of each statistic, and how it was measured."""
    tps, statistic = store.columns["tps"], store.columns["statistic"]
    stated = [row for row in rows if tps.value(row)]
    best = [
        max(
            (row for row in stated if statistic.word(row) == kind), key=lambda row: ranked_tps(store, row), default=None
        )
        for kind in HOW
    ]
    fastest = [(row, how) for row, how in zip(best, HOW.values(), strict=True) if row is not None]
    return [(tps.word(row), f"{how}{_together(store, row)}") for row, how in fastest]


def _together(store: ColumnStore, row: int) -> str:
    return devices_words(store.columns["storage"].word(row), int(store.columns["device_count"].word(row) or 1))


def found_sentence(query: str, count: int, shown: int) -> str:
    """Return the sentence with the number of products found. What was typed cannot change the direction of its text."""
    if not query:
        return "Search by maker, model, part number or capacity. One typing error per word is corrected."
    first = f", the first {shown} shown" if shown < count else ""
    return format_html("{} found for <bdi>{}</bdi>{}.", units.counted(count, "drive"), query, first)
