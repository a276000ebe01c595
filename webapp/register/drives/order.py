"""The order of rows: sorted inside their statistic, never across, and a page of a hundred at a time."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress

from webapp.register.drives.store.encoded_columns import Coded, Rows, Shelf, flags_of
from webapp.register.tables.parameters import FASTEST_FIRST, Sort
from webapp.register.tables.tables import STATISTIC_TITLES

ROWS_A_PAGE = 100


@dataclass(frozen=True)
class RowGroup:
    """Rows that stand together, under one or two lines of title."""

    titles: tuple[tuple[str, str], ...]
    rows: tuple[int, ...]


def in_order(shelf: Shelf, rows: Rows, sort: Sort) -> list[int]:
    """Return the rows sorted; what is not stated comes last either way, ties stand fastest first, then by name."""
    if not rows:
        return []
    every = shelf.remember(sort, lambda: _every_row(shelf, sort))
    flags = flags_of(rows, shelf.count)
    return list(compress(every, map(flags.__getitem__, every)))


def _every_row(shelf: Shelf, sort: Sort) -> list[int]:
    fastest = _by_column(range(shelf.count), shelf.columns["tps"], falls=True)
    if sort == FASTEST_FIRST:
        return fastest
    if sort.code == "drive":
        return sorted(fastest, reverse=sort.falls)  # a shelf stands in the order of names
    return _by_column(fastest, shelf.columns[sort.code], falls=sort.falls)


def _by_column(rows: Iterable[int], coded: Coded, *, falls: bool) -> list[int]:
    placed = list(rows)
    stated = [row for row in placed if coded.codes[row] >= 0]
    missing = [row for row in placed if coded.codes[row] < 0]
    orders: Sequence[int | float] = coded.values or range(len(coded.words))
    return sorted(stated, key=lambda row: orders[coded.codes[row]], reverse=falls) + missing


def grouped(shelf: Shelf, rows: Rows, sort: Sort, *, by_vendor: bool) -> list[RowGroup]:
    """Sort rows and divide them by statistic, so that figures of two statistics never sort into each other."""
    groups: list[RowGroup] = []
    for kind, title in STATISTIC_TITLES.items():
        same = in_order(shelf, rows & shelf.columns["statistic"].of(kind), sort)
        if same and by_vendor:
            groups += _by_vendor(shelf, title, same)
        elif same:
            groups.append(RowGroup((title,), tuple(same)))
    return groups


def _by_vendor(shelf: Shelf, title: tuple[str, str], rows: list[int]) -> Iterable[RowGroup]:
    vendor = shelf.columns["vendor"]
    titles: tuple[tuple[str, str], ...] = (title,)
    for name, number in Counter(vendor.word(row) for row in rows).most_common():
        results = "1 result" if number == 1 else f"{number} results"
        yield RowGroup((*titles, (name, results)), tuple(row for row in rows if vendor.word(row) == name))
        titles = ()


def pages_count(rows_count: int) -> int:
    """Return how many pages rows take; no row takes one."""
    return max(1, -(-rows_count // ROWS_A_PAGE))


def page_of(groups: Iterable[RowGroup], page: int, before: int = 0) -> list[RowGroup]:
    """Return the groups of one page, cut where it begins and ends; `before` are the rows of the tables before."""
    first, shown = (page - 1) * ROWS_A_PAGE, []
    for group in groups:
        start, end = max(first - before, 0), max(first + ROWS_A_PAGE - before, 0)
        if cut := group.rows[start:end]:
            shown.append(RowGroup(group.titles, cut))
        before += len(group.rows)
    return shown
