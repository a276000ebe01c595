"""The order of rows: sorted within their comparison group, in pages of a hundred."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress

from webapp.register.drives.store.encoded_columns import ColumnStore, EncodedColumn, Rows, flags_of
from webapp.register.drives.store.ranking import groups_of
from webapp.register.tables.groups import BANDS, band_code
from webapp.register.tables.parameters import FASTEST_FIRST, Sort

ROWS_A_PAGE = 100


@dataclass(frozen=True)
class RowGroup:
    """Rows listed together, under a title and its note."""

    title: tuple[str, str]
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


def grouped(store: ColumnStore, rows: Rows, sort: Sort) -> list[RowGroup]:
    """Sort rows and divide them into bands, so that figures that do not compare are never mixed."""
    groups: list[RowGroup] = []
    explained: set[str] = set()
    of_row = _bands_of_rows(store)
    in_band: list[list[int]] = [[] for _ in BANDS]
    for row in in_order(store, rows, sort):
        in_band[of_row[row]].append(row)
    for band, same in zip(BANDS, in_band, strict=True):
        if same:
            title = band.title_line(len(same), is_first=band.statistic not in explained)
            explained.add(band.statistic)
            groups.append(RowGroup(title, tuple(same)))
    return groups


def _bands_of_rows(store: ColumnStore) -> tuple[int, ...]:
    """Return for each row the place of its band; made once per state of the register."""

    def read() -> tuple[int, ...]:
        places = {band.code: place for place, band in enumerate(BANDS)}
        encoded, groups = store.columns["comparison_group"], groups_of(store)
        of_word = [places[band_code(groups[word])] for word in encoded.words]
        return tuple(of_word[code] for code in encoded.codes)

    return store.cached("bands of rows", read)


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
        if cut := group.rows[start:end]:
            shown.append(RowGroup(group.title, cut))
        before += len(group.rows)
    return shown
