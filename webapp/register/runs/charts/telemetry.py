"""What the machine did while a run was made, over its time: read from the side file beside the log.

The file came with the log and is as hostile: lines are bounded, what is no number is unknown, and nothing of its text
is shown. Disks are taken together: their rates add up, of awaits and temperatures the greatest counts.
"""

import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, isnan, nan
from typing import Any, BinaryIO

from results.evidence.store import open_evidence
from results.models import Evidence
from results.rules.reduction import place_of_greatest, place_of_least, spans

SCHEMA = "drivecert.telemetry/1"
COLUMNS_MAX = 288
LARGEST_BYTES = 256 * 1024**2  # read in some 2 s; a day of one disk in intervals of a second has some 130 MB
LINE_BYTES = 64 * 1024
INTERVALS_MAX = 200_000
DISKS_MAX = 64
INTERVAL = b'"interval"'
TOO_LARGE = "The side file is too large to draw from here. Download it."

Told = Mapping[str, Any]


@dataclass(frozen=True)
class Quantity:
    """One thing that the machine tells; `read` takes it out of an interval's telemetry, None where it is not told."""

    code: str
    label: str
    unit: str
    read: Callable[[Told], float | None]


@dataclass(frozen=True)
class Drawn:
    """A quantity over the columns of a run: its least and its greatest value in each."""

    quantity: Quantity
    least: list[float | None]
    greatest: list[float | None]


@dataclass(frozen=True)
class Telemetry:
    """The quantities that a side file tells, by columns of its intervals."""

    columns: list[tuple[float, float]]
    drawn: list[Drawn]
    intervals_count: int


class Intervals:
    """The intervals of a side file as columns of doubles: 72 bytes for each, so that INTERVALS_MAX take 15 MB."""

    def __init__(self, told: "Iterable[tuple[float, Sequence[float | None]]]") -> None:
        self.ends = array("d")
        self._columns = [array("d") for _ in QUANTITIES]
        for end, row in told:
            self.ends.append(end)
            for column, value in zip(self._columns, row, strict=True):
                column.append(nan if value is None else value)  # what a file tells is finite

    def values(self, place: int) -> list[float | None]:
        """Return the values of one of QUANTITIES, None where it is not told."""
        return [None if isnan(value) else value for value in self._columns[place]]

    def told(self) -> list[int]:
        """Return the places of the quantities that any interval tells."""
        return [place for place, column in enumerate(self._columns) if not all(map(isnan, column))]

    def row(self, number: int, places: Iterable[int]) -> Iterator[float | None]:
        """Yield some values of an interval."""
        for place in places:
            value = self._columns[place][number]
            yield None if isnan(value) else value


def telemetry_of(evidence: Evidence) -> Telemetry:
    """Return what a stored side file tells. Raises ValueError where it is too large to be read for an onlooker."""
    return reduced(_read(evidence))


def _read(evidence: Evidence) -> Intervals:
    if evidence.size_bytes > LARGEST_BYTES:
        raise ValueError(TOO_LARGE)
    with open_evidence(evidence) as file:
        return Intervals(_intervals(file))


def every_line(evidence: Evidence) -> tuple[list[str], Iterator[list[str | None]]]:
    """Return header and lines of every interval, for each quantity that any of them tells. Raises as telemetry_of()."""
    intervals = _read(evidence)
    told = intervals.told()
    lines = ([_digits(end), *map(_digits, intervals.row(number, told))] for number, end in enumerate(intervals.ends))
    return ["end_s", *(QUANTITIES[place].code for place in told)], lines


def _digits(value: float | None) -> str | None:
    """Return a number with all digits of the second of a month, and of a rate of millions."""
    return None if value is None else f"{value:.12g}"


def reduced(intervals: Intervals) -> Telemetry:
    """Return intervals in few columns."""
    ends = intervals.ends
    groups = spans(len(ends), COLUMNS_MAX)
    columns = [(ends[group[0] - 1] if group[0] else 0.0, ends[group[-1]]) for group in groups]
    drawn = [_drawn(QUANTITIES[place], intervals.values(place), groups) for place in intervals.told()]
    return Telemetry(columns, drawn, len(ends))


def _drawn(quantity: Quantity, values: Sequence[float | None], groups: Iterable[range]) -> Drawn:
    ends = [(place_of_least(values, group), place_of_greatest(values, group)) for group in groups]
    least = [None if low is None else values[low] for low, _ in ends]
    return Drawn(quantity, least, [None if high is None else values[high] for _, high in ends])


def _intervals(file: BinaryIO) -> Iterator[tuple[float, list[float | None]]]:
    last = 0.0
    for told in _records(file):
        end = _number(told.get("label_s"))
        if end is not None and end > last:  # a clock that stands or goes back makes no column
            last = end
            telemetry = _mapping(told.get("telemetry"))
            yield end, [quantity.read(telemetry) for quantity in QUANTITIES]


def _records(file: BinaryIO) -> Iterator[Told]:
    found = 0
    while (line := file.readline(LINE_BYTES)) and found < INTERVALS_MAX:
        if INTERVAL not in line[:200]:
            continue
        try:
            told = json.loads(line)
        except (ValueError, RecursionError):
            continue  # cut, or no JSON: what came of that interval is unknown
        if isinstance(told, dict) and told.get("record") == "interval":
            found += 1
            yield told


def _mapping(told: object) -> Told:
    return told if isinstance(told, dict) else {}


def _number(told: object) -> float | None:
    """Return a number or a decimal in text; None for all else, so that what a file makes up is not drawn."""
    if isinstance(told, bool) or not isinstance(told, int | float | str):
        return None
    try:
        number = float(told)
    except (ValueError, OverflowError):
        return None
    return number if isfinite(number) and abs(number) < 1e15 else None


def _disks(told: Told) -> list[Told]:
    disks = told.get("disks")
    return [_mapping(disk) for disk in disks[:DISKS_MAX]] if isinstance(disks, list) else []


def _of_io(told: Told, *names: str) -> list[float]:
    values = [_number(_mapping(disk.get("io")).get(name)) for disk in _disks(told) for name in names]
    return [value for value in values if value is not None]


def _sum(values: Sequence[float]) -> float | None:
    return sum(values) if values else None


def _cpu(name: str) -> Callable[[Told], float | None]:
    return lambda told: _number(_mapping(told.get("cpu")).get(name))


def _temperature(told: Told) -> float | None:
    values = [_number(_mapping(disk.get("temperature")).get("celsius")) for disk in _disks(told)]
    return max((value for value in values if value is not None), default=None)


def _power(boundary: str) -> Callable[[Told], float | None]:
    def read(told: Told) -> float | None:
        sensors = told.get("power")
        own = [_mapping(each) for each in sensors[:DISKS_MAX]] if isinstance(sensors, list) else []
        watts = [_number(each.get("watts")) for each in own if each.get("boundary") == boundary]
        return _sum([value for value in watts if value is not None])

    return read


QUANTITIES = (
    Quantity("cpu_busy", "Processors busy", "%", _cpu("busy_pct")),
    Quantity("cpu_iowait", "Processors waiting for I/O", "%", _cpu("iowait_pct")),
    Quantity(
        "io_per_s", "I/O of the disks", "a second", lambda told: _sum(_of_io(told, "reads_per_s", "writes_per_s"))
    ),
    Quantity(
        "read_await", "Await of reads, worst disk", "us", lambda told: max(_of_io(told, "read_await_us"), default=None)
    ),
    Quantity(
        "write_await",
        "Await of writes, worst disk",
        "us",
        lambda told: max(_of_io(told, "write_await_us"), default=None),
    ),
    Quantity("temperature", "Temperature, warmest disk", "C", _temperature),
    Quantity("power_drive", "Power of the drives", "W", _power("drive")),
    Quantity("power_package", "Power of the processors", "W", _power("package")),
)


def as_document(run_id: str, told: Telemetry) -> dict[str, Any]:
    """Return what the charts draw, as JSON has it."""
    return {
        "schema": SCHEMA,
        "run": run_id,
        "columns": told.columns,
        "intervals_count": told.intervals_count,
        "series": [
            {"name": each.quantity.label, "unit": each.quantity.unit, "least": each.least, "greatest": each.greatest}
            for each in told.drawn
        ],
    }


def csv_lines(told: Telemetry) -> tuple[list[str], list[list[Any]]]:
    """Return header and lines of the columns as a table."""
    names = [f"{side}_{each.quantity.code}" for each in told.drawn for side in ("least", "greatest")]
    values = [column for each in told.drawn for column in (each.least, each.greatest)]
    rows = [[*column, *(each[place] for each in values)] for place, column in enumerate(told.columns)]
    return ["start_s", "end_s", *names], [[_digits(cell) for cell in row] for row in rows]
