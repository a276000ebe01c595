"""The order of rows: sorted within their statistic, in pages of a hundred."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress

from webapp.register.drives.store.encoded_columns import ColumnStore, EncodedColumn, Rows, flags_of
from webapp.register.tables.parameters import FASTEST_FIRST, Sort
from webapp.register.tables.tables import STATISTIC_TITLES

ROWS_A_PAGE = 100


@dataclass(frozen=True)
class RowGroup:
    """Rows listed together, under one or two lines of title."""

    titles: tuple[tuple[str, str], ...]
    rows: tuple[int, ...]


def in_order(store: ColumnStore, rows: Rows, sort: Sort) -> list[int]:
    """Return the rows sorted. Missing values come last in both directions; ties are sorted by speed, then by name."""
    if not rows:
        return []
    ordered = store.cached(sort, lambda: _all_rows(store, sort))
    flags = flags_of(rows, store.count)
    return list(compress(ordered, map(flags.__getitem__, ordered)))


def _all_rows(store: ColumnStore, sort: Sort) -> list[int]:
    fastest = _by_column(range(store.count), store.columns["tps"], falls=True)
    if sort == FASTEST_FIRST:
        return fastest
    if sort.code == "drive":
        return sorted(fastest, reverse=sort.falls)  # a store is in the order of names
    return _by_column(fastest, store.columns[sort.code], falls=sort.falls)


def _by_column(rows: Iterable[int], encoded: EncodedColumn, *, falls: bool) -> list[int]:
    placed = list(rows)
    stated = [row for row in placed if encoded.codes[row] >= 0]
    missing = [row for row in placed if encoded.codes[row] < 0]
    orders: Sequence[int | float] = encoded.values or range(len(encoded.words))
    return sorted(stated, key=lambda row: orders[encoded.codes[row]], reverse=falls) + missing


def grouped(store: ColumnStore, rows: Rows, sort: Sort, *, by_vendor: bool) -> list[RowGroup]:
    """Sort rows and divide them by statistic, so that figures of two statistics are never mixed."""
    groups: list[RowGroup] = []
    for kind, title in STATISTIC_TITLES.items():
        same = in_order(store, rows & store.columns["statistic"].of(kind), sort)
        if same and by_vendor:
            groups += _by_vendor(store, title, same)
        elif same:
            groups.append(RowGroup((title,), tuple(same)))
    return groups


def _by_vendor(store: ColumnStore, title: tuple[str, str], rows: list[int]) -> Iterable[RowGroup]:
    vendor = store.columns["vendor"]
    titles: tuple[tuple[str, str], ...] = (title,)
    for name, number in Counter(vendor.word(row) for row in rows).most_common():
        results = "1 result" if number == 1 else f"{number} results"
        yield RowGroup((*titles, (name, results)), tuple(row for row in rows if vendor.word(row) == name))
        titles = ()


def pages_count(rows_count: int) -> int:
    """Return the number of pages, at least one."""
    return max(1, -(-rows_count // ROWS_A_PAGE))


def page_of(groups: Iterable[RowGroup], page: int, before: int = 0) -> list[RowGroup]:
    """Return the groups of one page. `before` is the number of rows in the tables above."""
    first, shown = (page - 1) * ROWS_A_PAGE, []
    for group in groups:
        start, end = max(first - before, 0), max(first + ROWS_A_PAGE - before, 0)
        if cut := group.rows[start:end]:
            shown.append(RowGroup(group.titles, cut))
        before += len(group.rows)
    return shown
