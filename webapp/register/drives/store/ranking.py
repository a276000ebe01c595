"""Ranking of the rows of a column store: speeds, comparison groups, and the rows that charts can plot.

Each list of all rows is made once per state of the register; a query takes sets and slices of them. They are arrays:
four bytes a row for an order, eight for a number. A list of whole numbers has 36.
"""

from array import array
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from math import ceil
from operator import ge, or_

from results.models import Category, Statistic, Visibility
from results.models.categories import SYSTEMS
from results.rules.act.comparison_groups import ComparisonGroup, group_of_code
from results.rules.endurance import needed_dwpd, sustained_tps, written_gb_per_day
from webapp.register.drives.store.encoded_columns import (
    BILLIONTHS,
    NOT_REPORTED,
    ColumnStore,
    NumberedRows,
    Rows,
    number_in,
    rows_of,
    set_of,
)
from webapp.register.landscape.marks import Fill, fill_of
from webapp.register.svg.marks import provider_class, provider_symbol, symbol_of
from webapp.register.tables.columns import share_code

RATING_PARTS = 100  # ratings are stored with two places


def current_rows(store: ColumnStore) -> Rows:
    """Return the rows that are neither withdrawn nor superseded."""
    return store.columns["visibility"].of(Visibility.PUBLIC)


def on_drives(store: ColumnStore) -> Rows:
    """Return all rows except those of virtual devices, which say nothing about a drive."""
    return store.all_rows & ~store.columns["is_on_no_drive"].of("yes")


def ranked_tps(store: ColumnStore, row: int, *, per_device: bool = False) -> float:
    """Return the speed that a row is ranked by, as columns.ranked_tps does for a run; 0 if it is not known.

    With `per_device`, a system counts with the speed of one of its devices, too.
    """
    columns = store.columns
    tps, devices = columns["tps"].value(row) or 0, columns["device_count"].word(row)
    if columns["category"].word(row) in SYSTEMS:
        return (tps / int(devices) if devices else 0) if per_device else tps
    if not devices and columns["statistic"].word(row) != Statistic.STEADY_AS_PUBLISHED:
        return 0
    return tps / int(devices or 1)


def largest_group(store: ColumnStore, rows: Rows, fill: Fill) -> tuple[ComparisonGroup, Rows] | None:
    """Return the ranked group of a kind of time that has most of these rows, and those with a speed; None for none."""
    with_speed = rows & _rows_with_speed(store)
    found = [
        (group, with_speed & store.columns["comparison_group"].of(word))
        for word, group in groups_of(store).items()
        if fill_of(group) == fill
    ]
    largest = max(found, key=lambda each: each[1].bit_count(), default=None)
    return largest if largest and largest[1] else None


def ranked_rows(store: ColumnStore, statistic: str, fill: Fill) -> Rows:
    """Return the ranked rows of a statistic and a kind of time that have a speed, with any number of devices."""
    kind = (statistic, fill)
    of_kind = [word for word, group in groups_of(store).items() if (group.statistic, fill_of(group)) == kind]
    column = store.columns["comparison_group"]
    return _rows_with_speed(store) & reduce(or_, map(column.of, of_kind), 0)


def _rows_with_speed(store: ColumnStore) -> Rows:
    return store.cached("with speed", lambda: set_of(speeds_of(store)))


def groups_of(store: ColumnStore) -> dict[str, ComparisonGroup]:
    """Return every comparison group of a store by its code."""
    words = store.columns["comparison_group"].words
    return store.cached("comparison groups", lambda: {word: group_of_code(word) for word in words})


def speeds_of(store: ColumnStore, *, per_device: bool = False) -> Sequence[float]:
    """Return for each row the speed that it is ranked by; 0 if it is not known."""

    def read() -> Sequence[float]:
        return array("d", (ranked_tps(store, row, per_device=per_device) for row in range(store.count)))

    return store.cached(("ranked speeds", per_device), read)


def fastest_rows(store: ColumnStore) -> Sequence[int]:
    """Return all rows by falling speed; of equally fast ones the first by name comes first."""
    speeds = speeds_of(store)
    return store.cached("fastest rows", lambda: array("i", sorted(range(store.count), key=lambda row: -speeds[row])))


def rows_from(store: ColumnStore, tps: float, *, per_device: bool = False) -> Rows:
    """Return the rows that are at least so fast."""
    numbers = speeds_of(store, per_device=per_device)
    return store.cached(("by speed", per_device), lambda: NumberedRows(numbers)).at_least(tps)


def rated_rows(store: ColumnStore) -> Rows:
    """Return the rows of physical drives with a speed, whose rating allows a known speed."""

    def read() -> Rows:
        has_rating = set_of(code != NOT_REPORTED for code in store.columns["sustained_tps"].codes)
        return has_rating & on_drives(store) & set_of(speeds_of(store))

    return store.cached("rated", read)


def sustained_by_rating(store: ColumnStore, row: int) -> Fraction | None:
    """Return the speed that the rating of a row sustains, exact; None if it is not known.

    The column has three digits of it.
    """
    rated, capacity = (store.columns[code].value(row) for code in ("endurance_dwpd", "capacity_gb"))
    if not store.columns["sustained_tps"].word(row) or rated is None or capacity is None:
        return None
    return sustained_tps(Decimal(str(rated)), round(capacity))


def needed_at_load(store: ColumnStore, row: int, tps: int) -> Fraction | None:
    """Return the drive writes per day that a load takes of a row's drive, exact; None if a fact is missing."""
    capacity = store.columns["capacity_gb"].value(row)
    if not store.columns["needed_dwpd"].word(row) or capacity is None:
        return None
    return needed_dwpd(Fraction(tps), round(capacity))


def rows_rated_for(store: ColumnStore, tps: int) -> Rows:
    """Return the rows whose rating allows a load, exactly."""
    bound = ceil(written_gb_per_day(tps) * RATING_PARTS)
    return store.cached("by rated writes", lambda: NumberedRows(_rated_writes(store))).at_least(bound)


def _rated_writes(store: ColumnStore) -> Sequence[int]:
    """Return what the rating of each row allows to write, in hundredths of GB a day; 0 if it is not known."""
    rated, capacity, sustained = (store.columns[code] for code in ("endurance_dwpd", "capacity_gb", "sustained_tps"))

    def of_row(row: int) -> int:
        if sustained.codes[row] == NOT_REPORTED:
            return 0
        return round((rated.value(row) or 0) * RATING_PARTS) * round(capacity.value(row) or 0)

    return store.cached("rated writes", lambda: array("q", map(of_row, range(store.count))))


def sustaining_rows(store: ColumnStore) -> Rows:
    """Return the rows whose rating allows the tested speed."""

    def read() -> Rows:
        encoded = store.columns["sustained_tps"]
        sustained = [number_in(word) or 0.0 for word in encoded.words] + [0.0]  # the last one at NOT_REPORTED
        return set_of(map(ge, map(sustained.__getitem__, encoded.codes), speeds_of(store)))

    return store.cached("sustaining", read)


def plottable_rows(store: ColumnStore, threshold_us: int, *, per_device: bool = False) -> Rows:
    """Return the current rows of physical drives that have a speed and a share over a threshold."""

    def read() -> Rows:
        has_share = set_of(code != NOT_REPORTED for code in store.columns[share_code(threshold_us)].codes)
        return current_rows(store) & on_drives(store) & has_share & set_of(speeds_of(store, per_device=per_device))

    return store.cached(("plottable", threshold_us, per_device), read)


def shares_of(store: ColumnStore, threshold_us: int) -> Sequence[float]:
    """Return the share of each row over a threshold, percent; 0 for a row without one, which is not plotted."""

    def read() -> Sequence[float]:
        shares = [*shares_of_words(store, threshold_us), 0.0]  # the last one at NOT_REPORTED
        return array("d", map(shares.__getitem__, store.columns[share_code(threshold_us)].codes))

    return store.cached(("shares", threshold_us), read)


def shares_of_words(store: ColumnStore, threshold_us: int) -> Sequence[float]:
    """Return the share of each word of a column of shares, percent, ascending."""
    values = store.columns[share_code(threshold_us)].values
    return store.cached(("shares of words", threshold_us), lambda: array("d", (share / BILLIONTHS for share in values)))


def fastest_first(store: ColumnStore, threshold_us: int, *, per_device: bool = False) -> Sequence[int]:
    """Return the rows that could be plotted by falling speed, then by rising share."""

    def read() -> Sequence[int]:
        speeds, shares = speeds_of(store, per_device=per_device), shares_of(store, threshold_us)
        rows = rows_of(plottable_rows(store, threshold_us, per_device=per_device))
        return array("i", sorted(rows, key=lambda row: (-speeds[row], shares[row])))

    return store.cached(("plottable, fastest first", threshold_us, per_device), read)


def capacity_of(store: ColumnStore, row: int) -> float | None:
    """Return the capacity of a drive, or of all devices of an instance, GB; None if it is not reported."""
    capacity = store.columns["capacity_gb"].value(row)
    if capacity is not None:
        return capacity
    devices, size = (number_in(store.columns[code].word(row)) for code in ("device_count", "device_gb"))
    return devices * size if devices and size else None


def providers_of(store: ColumnStore) -> dict[str, int]:
    """Return the place of each provider of cloud instances by name: it chooses the shape and colour of marks."""

    def read() -> dict[str, int]:
        instances, vendor = store.columns["category"].of(Category.CLOUD), store.columns["vendor"]
        return {name: place for place, name in enumerate(sorted(n for n in vendor.words if instances & vendor.of(n)))}

    return store.cached("providers", read)


def row_glyph(store: ColumnStore, row: int, *, shows_provider: bool = False) -> tuple[str, str]:
    """Return the symbol of a row's mark and its classes, as they are repeated before the name of the drive.

    With `shows_provider`, they are those of the provider of a cloud instance.
    """
    fill = fill_of(groups_of(store)[store.columns["comparison_group"].word(row)])
    if shows_provider:
        provider = providers_of(store)[store.columns["vendor"].word(row)]
        return provider_symbol(provider, capacity_of(store, row)), f"{fill} {provider_class(provider)}"
    return symbol_of(store.columns["endurance_dwpd"].value(row), capacity_of(store, row)), fill
