"""Cloud results, read conservatively: what runs state of where and on what, repeats, and speed by number of devices."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from results.models import Category, Statistic
from results.rules.endurance import three_digits
from results.rules.linearity import linearity
from results.rules.repeats import summarise
from webapp.register.drives.limit_check import name_of
from webapp.register.drives.query import ALWAYS_SHOWN, SEPARATOR
from webapp.register.drives.store.encoded_columns import NOT_STATED, Shelf
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
PLACED_MAX = 50  # runs that are listed with where and on what; the table above has all


@dataclass(frozen=True)
class StatedFact:
    """Of how many results something is stated."""

    name: str
    text: str


@dataclass(frozen=True)
class PlacedRun:
    """A run that states where or on what it was made; `facts` are in the order of STATED, empty where not stated."""

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
    against: str


@dataclass(frozen=True)
class InstanceDevices:
    """An instance type by the number of its devices."""

    name: str
    lines: list[DevicesLine]


@dataclass(frozen=True)
class CloudView:
    """What stands beside the table of cloud instances."""

    results_count: int
    stated: list[StatedFact]
    placed: list[PlacedRun]
    placed_count: int
    placed_columns: str
    repeats: list[RepeatsLine]
    repeats_sentence: str
    by_devices: list[InstanceDevices]


def cloud_view(shelf: Shelf, rows: Sequence[int], passing: Sequence[int]) -> CloudView:
    """Return what stands beside the table; the rows are those that stand, the passing ones also keep the profile."""
    repeats, placed = _repeats(shelf, rows), _placed(shelf, rows)
    return CloudView(
        results_count=len(rows),
        stated=_stated(shelf, rows),
        placed=[_placed_run(shelf, row) for row in placed[:PLACED_MAX]],
        placed_count=len(placed),
        placed_columns=SEPARATOR.join(_columns_with_places()),
        repeats=repeats,
        repeats_sentence="" if repeats else _single_runs(len(rows)),
        by_devices=_by_devices(shelf, passing),
    )


def _stated(shelf: Shelf, rows: Sequence[int]) -> list[StatedFact]:
    counts = [(name, sum(shelf.columns[code].codes[row] >= 0 for row in rows)) for code, name in STATED]
    return [
        StatedFact(name, f"stated by {number} of {len(rows)}" if number else "not stated by any")
        for name, number in counts
    ]


def _placed(shelf: Shelf, rows: Sequence[int]) -> list[int]:
    """Return the rows that state any of where and on what."""
    return [row for row in rows if any(shelf.columns[code].codes[row] >= 0 for code, _ in STATED)]


def _placed_run(shelf: Shelf, row: int) -> PlacedRun:
    return PlacedRun(name_of(shelf, row), shelf.runs[row], [shelf.columns[code].word(row) for code, _ in STATED])


def _columns_with_places() -> list[str]:
    """Return the codes of the table's usual columns and of those that state where and on what, in their order."""
    spec, places = SPECS[Category.CLOUD], {code for code, _ in STATED}
    shown = (column for column in spec.columns if column in spec.usual or column.code in places)
    return [column.code for column in shown if column.code != ALWAYS_SHOWN]


def _single_runs(count: int) -> str:
    return (
        f"Each of the {count} results is a single run, so none has a median or a spread: how far another run of the "
        "same instance would lie from it is not known."
    )


def _repeats(shelf: Shelf, rows: Sequence[int]) -> list[RepeatsLine]:
    """Return the instances that were run more than once: same type, storage, tenancy, region and zone, one statistic.

    A published speed is what a run came to. A log's is what was asked of it, so only runs of one speed repeat.
    """
    tps = shelf.columns["tps"]
    groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for row in rows:
        if tps.codes[row] >= 0:
            codes = ("vendor", "model", "storage", "sole_tenant", "statistic", "region", "zone")
            asked = NOT_STATED if _is_found(shelf, row) else tps.codes[row]
            groups[(*(shelf.columns[code].codes[row] for code in codes), asked)].append(row)
    return [_repeats_line(shelf, same) for same in groups.values() if len(same) > 1]


def _is_found(shelf: Shelf, row: int) -> bool:
    """The speed is a result; else it was asked of the run."""
    return shelf.columns["statistic"].word(row) == Statistic.STEADY_AS_PUBLISHED


def _repeats_line(shelf: Shelf, rows: Sequence[int]) -> RepeatsLine:
    speeds = [Decimal(str(shelf.columns["tps"].value(row))) for row in rows]
    found = summarise(speeds)
    if found is None or found.spread_ratio is None:
        raise ValueError("repeats: expected speeds above 0")
    return RepeatsLine(
        name=name_of(shelf, rows[0]),
        how=HOW.get(shelf.columns["statistic"].word(rows[0]), ""),  # type: ignore[call-overload]
        count=units.count(found.count),
        median=units.decimal(three_digits(found.median)),
        least=units.decimal(three_digits(found.least)),
        greatest=units.decimal(three_digits(found.greatest)),
        spread=f"{units.decimal(three_digits(100 * found.spread_ratio))} %" if _is_found(shelf, rows[0]) else "asked",
    )


def _against(tenancy: str, first: str) -> str:
    """Say what a result is held against where that has another tenancy: it is no growth by devices alone."""
    return "" if tenancy == first else f"against {first}"


def _by_devices(shelf: Shelf, rows: Sequence[int]) -> list[InstanceDevices]:
    """Return the instance types with results of several numbers of devices, the fastest of each number and tenancy."""
    count, size, tps = (shelf.columns[code] for code in ("device_count", "device_gb", "tps"))
    groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for row in _fastest_of_each(shelf, rows):
        if min(count.codes[row], size.codes[row], tps.codes[row]) >= 0 and tps.value(row):
            codes = ("vendor", "model", "device_gb", "statistic")
            groups[tuple(shelf.columns[code].codes[row] for code in codes)].append(row)
    several = [same for same in groups.values() if len({count.codes[row] for row in same}) > 1]
    return [_instance(shelf, same) for same in several]


def _fastest_of_each(shelf: Shelf, rows: Sequence[int]) -> list[int]:
    """Return the fastest row of each instance, storage and tenancy: slower ones are rungs on the way to it."""
    codes = ("vendor", "model", "device_gb", "statistic", "device_count", "sole_tenant")
    fastest: dict[tuple[int, ...], int] = {}
    for row in sorted(rows, key=lambda each: -(shelf.columns["tps"].value(each) or 0)):
        fastest.setdefault(tuple(shelf.columns[code].codes[row] for code in codes), row)
    return sorted(fastest.values())


def _instance(shelf: Shelf, rows: Sequence[int]) -> InstanceDevices:
    columns = shelf.columns
    points = linearity(
        (int(columns["device_count"].word(row)), Decimal(str(columns["tps"].value(row)))) for row in rows
    )
    ordered = sorted(rows, key=lambda row: (int(columns["device_count"].word(row)), -(columns["tps"].value(row) or 0)))
    tenancy = {"yes": "sole tenant", "no": "shared", "": "not stated"}
    lines = [
        DevicesLine(
            devices=point.devices_count,
            tenancy=tenancy[columns["sole_tenant"].word(row)],
            tps=columns["tps"].word(row),
            per_device=units.decimal(three_digits(point.per_device)),
            of_linear=f"{units.decimal(three_digits(100 * point.of_linear))} %",
            against=_against(*(tenancy[columns["sole_tenant"].word(each)] for each in (row, ordered[0]))),
        )
        for row, point in zip(ordered, points, strict=True)
    ]
    size = columns["device_gb"].word(rows[0])
    return InstanceDevices(
        f"{columns['vendor'].word(rows[0])} {columns['model'].word(rows[0])}, {size} GB devices", lines
    )
