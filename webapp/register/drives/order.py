"""The order of rows: sorted within their comparison group, in pages of a hundred."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress
from typing import overload

from webapp.register.drives.store.encoded_columns import ColumnStore, EncodedColumn, Rows, flags_of
from webapp.register.drives.store.ranking import groups_of
from webapp.register.tables.groups import BANDS, band_code
from webapp.register.tables.parameters import FASTEST_FIRST, Sort

ROWS_A_PAGE = 100


@dataclass(frozen=True)
class RowGroup:
    """Rows listed together, under a title and its note."""

    title: tuple[str, str]
    rows: Sequence[int]


class SortedRows(Sequence[int]):
    """A set of rows in an order, sorted when the first of them is read."""

    def __init__(self, store: ColumnStore, rows: Rows, sort: Sort) -> None:
        self.store, self.rows, self.sort = store, rows, sort

    @cached_property
    def _ordered(self) -> list[int]:
        return in_order(self.store, self.rows, self.sort)

    def __len__(self) -> int:
        return self.rows.bit_count()

    @overload
    def __getitem__(self, place: int) -> int: ...
    @overload
    def __getitem__(self, place: slice) -> list[int]: ...
    def __getitem__(self, place: int | slice) -> int | list[int]:
        return self._ordered[place]


class JoinedRows(Sequence[int]):
    """The rows of several bands one after another. Reading the first rows sorts only the first band."""

    def __init__(self, bands: Sequence[Sequence[int]]) -> None:
        self.bands = bands

    def __len__(self) -> int:
        return sum(map(len, self.bands))

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(self.bands)

    @overload
    def __getitem__(self, place: int) -> int: ...
    @overload
    def __getitem__(self, place: slice) -> list[int]: ...
    def __getitem__(self, place: int | slice) -> int | list[int]:
        if isinstance(place, slice):
            start, end, step = place.indices(len(self))
            return self._between(start, end)[::step] if step > 0 else list(self)[place]
        start = range(len(self))[place]
        return self._between(start, start + 1)[0]

    def _between(self, start: int, end: int) -> list[int]:
        found: list[int] = []
        before = 0
        for band in self.bands:
            first, last = max(start - before, 0), end - before
            if first < len(band) and last > 0:
                found += band[first:last]
            before += len(band)
        return found


def in_order(store: ColumnStore, rows: Rows, sort: Sort) -> list[int]:
    """Return the rows sorted. Missing values come last in both directions; ties are sorted by speed, then by name."""
    if not rows:
        return []
    ordered = store.cached(sort, lambda: array("i", _all_rows(store, sort)))
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


def grouped(store: ColumnStore, rows: Rows, sort: Sort) -> list[RowGroup]:
    """Divide rows into bands, so that figures that do not compare are never mixed. They are sorted when they are read.

    A page shows a hundred of them, mostly of the first band.
    """
    groups: list[RowGroup] = []
    explained: set[str] = set()
    of_bands = rows_by_band(store)
    for band in BANDS:
        if same := rows & of_bands.get(band.code, 0):
            title = band.title_line(same.bit_count(), is_first=band.statistic not in explained)
            explained.add(band.statistic)
            groups.append(RowGroup(title, SortedRows(store, same, sort)))
    return groups


def rows_by_band(store: ColumnStore) -> dict[str, Rows]:
    """Return the rows of each band by its code; made once per state of the register."""

    def read() -> dict[str, Rows]:
        found: Counter[str] = Counter()  # the sets of different groups are disjoint, so they can be added
        for word, group in groups_of(store).items():
            found[band_code(group)] += store.columns["comparison_group"].of(word)
        return dict(found)

    return store.cached("bands", read)


def pages_count(rows_count: int) -> int:
    """Return the number of pages, at least one."""
    return max(1, -(-rows_count // ROWS_A_PAGE))


def page_of(groups: Iterable[RowGroup], page: int, before: int = 0) -> list[RowGroup]:
    """Return the groups of one page. `before` is the number of rows in the tables above."""
    first, shown = (page - 1) * ROWS_A_PAGE, []
    for group in groups:
        start, end = max(first - before, 0), max(first + ROWS_A_PAGE - before, 0)
        if start < len(group.rows) and end and (cut := group.rows[start:end]):
            shown.append(RowGroup(group.title, cut))
        before += len(group.rows)
    return shown
