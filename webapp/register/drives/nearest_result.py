"""The result that comes nearest to the filters of a page without a match: what it fails, and which filter to relax.

static/js/drives/nearest-result.js finds the same result and makes the same sentence in the browser.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import reduce
from math import inf

from webapp.register.drives import filters
from webapp.register.drives.filters import Filter, Test
from webapp.register.drives.layouts import INCLUDED
from webapp.register.drives.limit_check import name_of
from webapp.register.drives.page import DrivesPage
from webapp.register.drives.query import DrivesQuery
from webapp.register.drives.store.encoded_columns import ColumnStore, Rows, rows_of
from webapp.register.drives.store.ranking import speeds_of
from webapp.templatetags import units


@dataclass(frozen=True)
class NearestResult:
    """The sentence about the nearest result, and a link to the results of a query with less strict filters."""

    sentence: str
    link: str
    address: str


@dataclass(frozen=True)
class Miss:
    """A filter that a row fails. `plain` is the row's own number for a filter by numbers, as an address has it."""

    test: Test
    text: str
    factor: float = inf
    plain: str = ""


def nearest_result(page: DrivesPage) -> NearestResult | None:
    """Return the result that fails the fewest filters, of several the one whose numbers are nearest.

    None if the page has matches, or if no result is left without the filters.
    """
    if page.filtered_rows:
        return None
    shown = filters.rows_that_pass(page.universe, (test for test in page.tests if test.name in INCLUDED))
    tests = [test for test in page.tests if test.name not in INCLUDED]
    nearest = rows_of(_failing_fewest(shown, tests))
    if not nearest:
        return None
    misses = {row: _misses(page, row, tests) for row in nearest}
    speeds = speeds_of(page.store)
    row = min(nearest, key=lambda row: (max(miss.factor for miss in misses[row]), -speeds[row]))
    passed = filters.rows_that_pass(shown, (test for test in tests if test.rows >> row & 1))
    link, query = _relaxed(page, misses[row], passed)
    return NearestResult(_sentence(page.store, row, misses[row]), link, query.address)


def _failing_fewest(rows: Rows, tests: Sequence[Test]) -> Rows:
    """Return those of the rows that fail the fewest tests."""
    failing = [rows]  # by the number of failed tests
    for test in tests:
        passed, failed = ([each & test.rows for each in failing], [each & ~test.rows for each in failing])
        failing = [one | other for one, other in zip([*passed, 0], [0, *failed], strict=True)]
    return next(filter(None, failing), 0)


def _misses(page: DrivesPage, row: int, tests: Sequence[Test]) -> list[Miss]:
    numbers = dict(page.query.numbers)
    failed = [test for test in tests if not test.rows >> row & 1]
    return [
        _number_miss(page.store, row, test, filters.BY_NAME[test.name], numbers[test.name])
        if test.name in numbers
        else Miss(test, test.text)
        for test in failed
    ]


def _number_miss(store: ColumnStore, row: int, test: Test, chosen: Filter, text: str) -> Miss:
    value, word = store.columns[chosen.column].value(row), store.columns[chosen.column].word(row)
    if value is None:
        return Miss(test, f"{chosen.subject} is not reported")
    plain = word.replace(",", "") if chosen.scale == 1 else _fixed(value / chosen.scale, chosen.places)
    lower, higher = sorted((value, filters.bound_of(chosen, text)))
    side = "at least" if chosen.kind == filters.LEAST else "at most"
    own, bound = (f"{units.decimal(Decimal(number))} {chosen.unit}" for number in (plain, text))
    return Miss(test, f"{chosen.subject} is {own}, not {side} {bound}", higher / lower if lower else inf, plain)


def _fixed(number: float, places: int) -> str:
    return f"{number:.{places}f}".rstrip("0").rstrip(".")


def _sentence(store: ColumnStore, row: int, misses: Sequence[Miss]) -> str:
    number = "one filter" if len(misses) == 1 else f"{len(misses)} filters"
    return f"The nearest result is {name_of(store, row)}. It fails {number}: {'; '.join(each.text for each in misses)}."


def _relaxed(page: DrivesPage, misses: Sequence[Miss], passed: Rows) -> tuple[str, DrivesQuery]:
    """Return the text of the link and the query that shows the row: one number relaxed, or without the failed filters.

    `passed` are the rows that pass all filters that the row passes.
    """
    if len(misses) == 1 and misses[0].plain:
        name, plain = misses[0].test.name, misses[0].plain
        chosen = next(each for each in page.layout.filters if each.name == name)
        found = passed & filters.number_test(chosen, plain, page.store).rows
        numbers = tuple((each, plain if each == name else text) for each, text in page.query.numbers)
        number = f"{chosen.label} {units.decimal(Decimal(plain))} {chosen.unit}"
        return f"{number}: show {_results(found)}", replace(page.query, numbers=numbers, page=1)
    those = "this filter" if len(misses) == 1 else f"these {len(misses)} filters"
    query = reduce(lambda query, miss: query.without(miss.test.name), misses, page.query)
    return f"Without {those}: show {_results(passed)}", query


def _results(rows: Rows) -> str:
    return units.counted(rows.bit_count(), "result")
