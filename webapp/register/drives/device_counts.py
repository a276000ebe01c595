"""Results of one instance type at the same speed of each device, tested with several numbers of devices."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from webapp.register.drives.limit_check import LimitCheck
from webapp.register.drives.store.encoded_columns import NOT_REPORTED, ColumnStore, Rows, rows_of
from webapp.register.drives.store.ranking import current_rows, on_drives

ODD_SHARE = "pct_over_1ms"  # the threshold at which fewer devices are compared with more
SAME = ("vendor", "model", "device_gb", "sole_tenant", "statistic", "act_version", "device_tps")
NEEDED = ("device_gb", "device_tps", "device_count", ODD_SHARE)  # a row without one of these is not compared


def same_instances(store: ColumnStore, rows: Iterable[int]) -> list[list[int]]:
    """Return these rows by instance type, storage, tenancy, statistic, ACT version and speed of each device."""
    groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for row in rows:
        if all(store.columns[code].codes[row] != NOT_REPORTED for code in NEEDED):
            groups[tuple(store.columns[code].codes[row] for code in SAME)].append(row)
    return list(groups.values())


def notes_on_other_counts(store: ColumnStore, check: LimitCheck) -> dict[int, str]:
    """Return for a row whose instance has another outcome with other numbers of devices a note on these.

    static/js/drives/device-counts.js makes the same notes.
    """
    notes: dict[int, str] = {}
    for same in _several_counts(store):
        passing = [row for row in same if check.passes >> row & 1]
        over = [row for row in same if check.over >> row & 1]
        if passing and over:
            notes |= dict.fromkeys(passing, f"{_counts_words(store, over)}: over a limit")
            notes |= dict.fromkeys(over, f"{_counts_words(store, passing)}: within the limits")
    return notes


def over_with_one_device(store: ColumnStore, check: LimitCheck, row: int) -> int | None:
    """Return the result of a row's instance with one device at the same speed per device if it is over a limit."""
    over_with_one = check.over & with_one_device(store)
    same = next((each for each in _several_counts(store) if row in each), [])
    return next((each for each in same if over_with_one >> each & 1), None)


def with_one_device(store: ColumnStore) -> Rows:
    """Return the rows that were tested with one device."""
    return store.columns["device_count"].of("1")


def _several_counts(store: ColumnStore) -> list[list[int]]:
    """Return the current results of the instances that were tested with several numbers of devices."""
    counts = store.columns["device_count"].codes

    def read() -> list[list[int]]:
        groups = same_instances(store, rows_of(current_rows(store) & on_drives(store)))
        return [same for same in groups if len({counts[row] for row in same}) > 1]

    return store.cached("same instances", read)


def _counts_words(store: ColumnStore, rows: Sequence[int]) -> str:
    """Return the numbers of devices of these rows in words: 1 device, or 1 and 2 devices."""
    counts = sorted({int(store.columns["device_count"].word(row)) for row in rows})
    *before, last = map(str, counts)
    return f"{', '.join(before)} and {last} devices" if before else f"{last} {'device' if last == '1' else 'devices'}"
