"""Figures below the table of cloud instances: stated places, repeated runs, and speed by number of devices."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from results.models import Category, Statistic
from results.rules.act.loads import linearity
from results.rules.endurance import three_digits
from results.rules.repeats import summarise
from webapp.register.drives.limit_check import name_of
from webapp.register.drives.query import ALWAYS_SHOWN, SEPARATOR
from webapp.register.drives.store.encoded_columns import NOT_REPORTED, ColumnStore
from webapp.register.tables.categories import SPECS
from webapp.register.tables.sentences import HOW
from webapp.templatetags import units

STATED = (
    ("region", "region"),
    ("zone", "zone"),
    ("started_at", "start time"),
    ("backing_device", "device model observed"),
    ("firmware", "firmware observed"),
)
PLACED_MAX = 50  # runs listed with their place and device; the table above has all


@dataclass(frozen=True)
class StatedFact:
    """How many results state one fact."""

    name: str
    text: str


@dataclass(frozen=True)
class PlacedRun:
    """A run that states its place or device; `facts` are in the order of STATED, empty if not reported."""

    name: str
    public_id: str
    facts: list[str]


@dataclass(frozen=True)
class RepeatsLine:
    """Several runs of one instance with one storage: how many, their median, least and greatest, and the spread."""

    name: str
    how: str
    count: str
    median: str
    least: str
    greatest: str
    spread: str


@dataclass(frozen=True)
class DevicesLine:
    """An instance type with one number of devices."""

    devices: int
    tenancy: str
    tps: str
    per_device: str
    of_linear: str
    reference: str


@dataclass(frozen=True)
class InstanceDevices:
    """An instance type by the number of its devices."""

    name: str
    lines: list[DevicesLine]


@dataclass(frozen=True)
class CloudView:
    """The figures below the table of cloud instances."""

    results_count: int
    stated: list[StatedFact]
    placed: list[PlacedRun]
    placed_count: int
    placed_columns: str
    repeats: list[RepeatsLine]
    repeats_sentence: str
    by_devices: list[InstanceDevices]


def cloud_view(store: ColumnStore, rows: Sequence[int], passing: Sequence[int]) -> CloudView:
    """Return the figures below the table, given its current rows and those of them that pass the profile."""
    repeats, placed = _repeats(store, rows), _placed(store, rows)
    return CloudView(
        results_count=len(rows),
        stated=_stated(store, rows),
        placed=[_placed_run(store, row) for row in placed[:PLACED_MAX]],
        placed_count=len(placed),
        placed_columns=SEPARATOR.join(_columns_with_places()),
        repeats=repeats,
        repeats_sentence="" if repeats else _single_runs(len(rows)),
        by_devices=_by_devices(store, passing),
    )


def _stated(store: ColumnStore, rows: Sequence[int]) -> list[StatedFact]:
    counts = [(name, sum(store.columns[code].codes[row] >= 0 for row in rows)) for code, name in STATED]
    return [
        StatedFact(name, f"reported by {number} of {len(rows)}" if number else "reported by none")
        for name, number in counts
    ]


def _placed(store: ColumnStore, rows: Sequence[int]) -> list[int]:
    """Return the rows that state a place or a device."""
    return [row for row in rows if any(store.columns[code].codes[row] >= 0 for code, _ in STATED)]


def _placed_run(store: ColumnStore, row: int) -> PlacedRun:
    return PlacedRun(name_of(store, row), store.runs[row], [store.columns[code].word(row) for code, _ in STATED])


def _columns_with_places() -> list[str]:
    """Return the codes of the table's default columns and of those on place and device, in the table's order."""
    spec, places = SPECS[Category.CLOUD], {code for code, _ in STATED}
    shown = (column for column in spec.columns if column in spec.usual or column.code in places)
    return [column.code for column in shown if column.code != ALWAYS_SHOWN]


def _single_runs(count: int) -> str:
    return (
        f"Each of the {count} results is a single run, so there is no median and no spread. "
        "It is not known how much another run of the same instance would differ."
    )


def _repeats(store: ColumnStore, rows: Sequence[int]) -> list[RepeatsLine]:
    """Return the instances that were run more than once with the same storage, tenancy, place and statistic.

    A published speed is a result. The speed of a log was requested, so only runs of the same speed count as repeats.
    """
    tps = store.columns["tps"]
    groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for row in rows:
        if tps.codes[row] >= 0:
            codes = ("vendor", "model", "storage", "sole_tenant", "statistic", "region", "zone")
            requested = NOT_REPORTED if _is_measured(store, row) else tps.codes[row]
            groups[(*(store.columns[code].codes[row] for code in codes), requested)].append(row)
    return [_repeats_line(store, same) for same in groups.values() if len(same) > 1]


def _is_measured(store: ColumnStore, row: int) -> bool:
    """Return whether the speed is a result; otherwise it was requested."""
    return store.columns["statistic"].word(row) == Statistic.STEADY_AS_PUBLISHED


def _repeats_line(store: ColumnStore, rows: Sequence[int]) -> RepeatsLine:
    speeds = [Decimal(str(store.columns["tps"].value(row))) for row in rows]
    found = summarise(speeds)
    if found is None or found.spread_ratio is None:
        raise ValueError("repeats: expected speeds above 0")
    spread = f"{units.decimal(three_digits(100 * found.spread_ratio))} %"
    return RepeatsLine(
        name=name_of(store, rows[0]),
        how=HOW.get(store.columns["statistic"].word(rows[0]), ""),  # type: ignore[call-overload]
        count=units.count(found.count),
        median=units.decimal(three_digits(found.median)),
        least=units.decimal(three_digits(found.least)),
        greatest=units.decimal(three_digits(found.greatest)),
        spread=spread if _is_measured(store, rows[0]) else "requested",
    )


def _reference_note(tenancy: str, first: str) -> str:
    """Return the tenancy of the result that this one is compared with, if it is another one."""
    return "" if tenancy == first else f"compared with {first}"


def _by_devices(store: ColumnStore, rows: Sequence[int]) -> list[InstanceDevices]:
    """Return the instance types with results of several numbers of devices, the fastest of each number and tenancy."""
    count, size, tps = (store.columns[code] for code in ("device_count", "device_gb", "tps"))
    groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for row in _fastest_of_each(store, rows):
        if min(count.codes[row], size.codes[row], tps.codes[row]) >= 0 and tps.value(row):
            codes = ("vendor", "model", "device_gb", "statistic")
            groups[tuple(store.columns[code].codes[row] for code in codes)].append(row)
    several = [same for same in groups.values() if len({count.codes[row] for row in same}) > 1]
    return [_instance(store, same) for same in several]


def _fastest_of_each(store: ColumnStore, rows: Sequence[int]) -> list[int]:
    """Return the fastest row of each instance, storage and tenancy."""
    codes = ("vendor", "model", "device_gb", "statistic", "device_count", "sole_tenant")
    fastest: dict[tuple[int, ...], int] = {}
    for row in sorted(rows, key=lambda each: -(store.columns["tps"].value(each) or 0)):
        fastest.setdefault(tuple(store.columns[code].codes[row] for code in codes), row)
    return sorted(fastest.values())


def _instance(store: ColumnStore, rows: Sequence[int]) -> InstanceDevices:
    columns = store.columns
    points = linearity(
        (int(columns["device_count"].word(row)), Decimal(str(columns["tps"].value(row)))) for row in rows
    )
    ordered = sorted(rows, key=lambda row: (int(columns["device_count"].word(row)), -(columns["tps"].value(row) or 0)))
    tenancy = {"yes": "sole tenant", "no": "shared", "": "not reported"}
    lines = [
        DevicesLine(
            devices=point.devices_count,
            tenancy=tenancy[columns["sole_tenant"].word(row)],
            tps=columns["tps"].word(row),
            per_device=units.decimal(three_digits(point.per_device)),
            of_linear=f"{units.decimal(three_digits(100 * point.of_linear))} %",
            reference=_reference_note(*(tenancy[columns["sole_tenant"].word(each)] for each in (row, ordered[0]))),
        )
        for row, point in zip(ordered, points, strict=True)
    ]
    size = columns["device_gb"].word(rows[0])
    return InstanceDevices(
        f"{columns['vendor'].word(rows[0])} {columns['model'].word(rows[0])}, {size} GB devices", lines
    )
