"""Telemetry of the host over a run's time, read from the stored side file.

The file is untrusted, like the log: the length of lines is bounded, values that are not numbers count as missing, and
no text of the file is shown. Disks are combined: rates are added; awaits and temperatures show the worst disk.
"""

import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from math import isfinite, isnan, nan
from typing import Any, BinaryIO

import zstandard

from results import locks
from results.access.intervals import BusyError, reading_slot
from results.access.withholding import has_withheld_file
from results.evidence.store import (
    EvidenceDamagedError,
    Stored,
    StoreUnavailableError,
    address_of,
    open_address,
    open_evidence,
)
from results.models import Evidence, Run
from results.rules.reduction import place_of_greatest, place_of_least, spans
from webapp.register.runs.charts import interval_files

SCHEMA = "drivecert.telemetry/1"
COLUMNS_MAX = 288
LARGEST_BYTES = 512 * 1024**2  # takes about 4 s to parse; a day of one disk at 1 s intervals has 320 MiB
LINE_BYTES = 64 * 1024
INTERVALS_MAX = 200_000
DISKS_MAX = 64
INTERVAL = b'"interval"'
ACHIEVED = "achieved_reads_per_s"  # of an interval; next to its telemetry, not in it
PARSED_BYTES = 16 * 1024**2  # parsed again by each process, 0.25 s; the intervals of larger files are stored
FILES_MAX = 8  # by a process, at most 3.4 MB each


class NoCharts(StrEnum):
    """Reasons why a page has no charts of a side file."""

    NO_FILE = "no-file"
    TOO_LARGE = "too-large"
    UNREADABLE = "unreadable"
    BUSY = "busy"
    NO_INTERVAL = "no-interval"


Record = Mapping[str, Any]
Reader = Callable[[Record], float | None]


@dataclass(frozen=True)
class Quantity:
    """A measured quantity; `read` returns its value from the telemetry of an interval, None if it is missing."""

    code: str
    label: str
    unit: str
    read: Reader


Column = list[float | None]


@dataclass(frozen=True)
class Telemetry:
    """The quantities of a side file, by columns of its intervals, each with its minimum and maximum in the columns."""

    columns: list[tuple[float, float]]
    drawn: list[tuple[Quantity, Column, Column]]
    intervals_count: int


@dataclass(frozen=True)
class PageIntervals:
    """The intervals of a side file as a page shows them: the reduced telemetry, and every known rate of reads."""

    telemetry: Telemetry
    rate_ends: Sequence[float]
    rates: Sequence[float]


class Intervals:
    """The intervals of a side file as columns of doubles: 80 bytes each, so that INTERVALS_MAX take 16 MB."""

    def __init__(self, rows: "Iterable[tuple[float, Sequence[float | None]]]") -> None:
        self.ends = array("d")
        self._columns = [array("d") for _ in QUANTITIES]
        for end, row in rows:
            self.ends.append(end)
            for column, value in zip(self._columns, row, strict=True):
                column.append(nan if value is None else value)  # _number() accepts finite values only

    def values(self, place: int) -> Iterator[float | None]:
        """Yield the values of one of QUANTITIES; None if it is missing."""
        return (None if isnan(value) else value for value in self._columns[place])

    def reported(self) -> list[int]:
        """Return the positions of the quantities that any interval reports."""
        return [place for place, column in enumerate(self._columns) if not all(map(isnan, column))]

    def packed(self) -> bytes:
        """Return the columns as compressed bytes."""
        return zstandard.compress(b"".join(column.tobytes() for column in (self.ends, *self._columns)))

    @classmethod
    def unpacked(cls, packed: bytes) -> "Intervals":
        """Return the intervals that packed() turned into bytes. Raises ValueError for other bytes."""
        try:
            content = zstandard.decompress(packed)
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error
        length, rest = divmod(len(content), len(QUANTITIES) + 1)
        if rest:
            raise ValueError(f"expected {len(QUANTITIES) + 1} columns of equal length, got {len(content)} bytes")
        intervals = cls(())
        for place, column in enumerate((intervals.ends, *intervals._columns)):
            column.frombytes(content[place * length : (place + 1) * length])
        return intervals


def is_too_large(evidence: Evidence) -> bool:
    """Return whether a side file is too large to be parsed for charts."""
    return evidence.size_bytes > LARGEST_BYTES


def read_intervals(evidence: Evidence) -> Intervals:
    """Return the intervals of a stored side file. Those of a large file are stored when it is parsed.

    Raises BusyError if a large file must wait, and EvidenceDamagedError or OSError if its bytes are missing.
    """
    open_evidence(evidence).close()  # raises if the bytes are missing
    return _read(address_of(evidence))


def reduced_intervals(evidence: Evidence) -> PageIntervals:
    """Return what pages show of a stored side file. Raises as read_intervals()."""
    open_evidence(evidence).close()
    return _reduced(address_of(evidence))


@lru_cache(maxsize=FILES_MAX)
def _reduced(stored: Stored) -> PageIntervals:
    """Return what pages show of stored bytes. The bytes never change, so a process keeps it for a few files.

    If the intervals cannot be stored, it also limits how often a process parses the same file.
    """
    return for_page(_read(stored))


def _read(stored: Stored) -> Intervals:
    return _saved(stored) if stored.size_bytes > PARSED_BYTES else _parsed(stored)


def _parsed(stored: Stored) -> Intervals:
    with open_address(stored) as file:
        return Intervals(_intervals(file))


def _saved(stored: Stored) -> Intervals:
    """Return the intervals of a large file, and store them at the first time.

    Only one process parses a file, and only a few processes parse at a time. Raises BusyError in the others.
    """
    sha256 = stored.sha256
    intervals = _loaded(sha256)
    if intervals is not None:
        return intervals
    with locks.try_lock(locks.SIDE_FILE, int(sha256[:8], 16)) as is_ours:
        if not is_ours:
            raise BusyError
        intervals = _loaded(sha256)  # another process may have stored them before this one took the lock
        if intervals is None:
            with reading_slot():
                intervals = _parsed(stored)
            interval_files.save(sha256, _codes(), intervals.packed())
    return intervals


def _loaded(sha256: str) -> Intervals | None:
    """Return the stored intervals of a large file; None if they are missing or damaged."""
    packed = interval_files.load(sha256, _codes())
    if packed is None:
        return None
    try:
        return Intervals.unpacked(packed)
    except ValueError:
        return None


def _codes() -> list[str]:
    return [quantity.code for quantity in QUANTITIES]


def page_intervals(run: Run) -> PageIntervals | NoCharts:
    """Return the intervals of a run's side file for its page, or the reason why it has none.

    A page with a withheld file has no section for the side file. Raises StoreUnavailableError: the page works later.
    """
    evidence = run.submission.side_file if run.submission else None
    if evidence is None or has_withheld_file(run):
        return NoCharts.NO_FILE
    if is_too_large(evidence):
        return NoCharts.TOO_LARGE
    try:
        return reduced_intervals(evidence)
    except BusyError:
        return NoCharts.BUSY
    except StoreUnavailableError:
        raise
    except (EvidenceDamagedError, OSError):
        return NoCharts.UNREADABLE  # the download of the file reports it


def every_line(evidence: Evidence) -> tuple[list[str], Iterator[list[str | None]]]:
    """Return the header and lines of all intervals, for each reported quantity. Raises as read_intervals()."""
    intervals = read_intervals(evidence)
    places = intervals.reported()
    rows = zip(intervals.ends, *map(intervals.values, places), strict=True)
    return ["end_s", *(QUANTITIES[place].code for place in places)], (list(map(_digits, row)) for row in rows)


def _digits(value: float | None) -> str | None:
    """Return a number with 12 digits: enough for the seconds of a month with decimals, and for rates of millions."""
    return None if value is None else f"{value:.12g}"


def for_page(intervals: Intervals) -> PageIntervals:
    """Return what pages show of intervals."""
    pairs = zip(intervals.ends, intervals.values(READS), strict=True)
    known = [(end, rate) for end, rate in pairs if rate is not None]
    return PageIntervals(
        reduced(intervals), array("d", (end for end, _ in known)), array("d", (rate for _, rate in known))
    )


def reduced(intervals: Intervals) -> Telemetry:
    """Return intervals reduced to at most COLUMNS_MAX columns."""
    ends = intervals.ends
    groups = spans(len(ends), COLUMNS_MAX)
    columns = [(ends[group[0] - 1] if group[0] else 0.0, ends[group[-1]]) for group in groups]
    drawn = [_drawn(QUANTITIES[place], list(intervals.values(place)), groups) for place in intervals.reported()]
    return Telemetry(columns, drawn, len(ends))


def _drawn(
    quantity: Quantity, values: Sequence[float | None], groups: Iterable[range]
) -> tuple[Quantity, Column, Column]:
    ends = [(place_of_least(values, group), place_of_greatest(values, group)) for group in groups]
    least = [None if low is None else values[low] for low, _ in ends]
    return quantity, least, [None if high is None else values[high] for _, high in ends]


def _intervals(file: BinaryIO) -> Iterator[tuple[float, list[float | None]]]:
    last = 0.0
    for record in _records(file):
        end = _number(record.get("label_s"))
        if end is not None and end > last:  # a clock that stops or goes back adds no column
            last = end
            telemetry = {**_mapping(record.get("telemetry")), ACHIEVED: record.get(ACHIEVED)}
            yield end, [quantity.read(telemetry) for quantity in QUANTITIES]


def _records(file: BinaryIO) -> Iterator[Record]:
    found = 0
    while (line := file.readline(LINE_BYTES)) and found < INTERVALS_MAX:
        if INTERVAL not in line[:200]:
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue  # truncated, or not JSON: the interval is missing
        if isinstance(record, dict) and record.get("record") == "interval":
            found += 1
            yield record


def _mapping(value: object) -> Record:
    return value if isinstance(value, dict) else {}


def _number(value: object) -> float | None:
    """Return a number, also from text; None for anything else, so that invalid values are not drawn."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if isfinite(number) and abs(number) < 1e15 else None


def _items(telemetry: Record, name: str) -> list[Record]:
    """Return the disks or sensors of an interval."""
    items = telemetry.get(name)
    return [_mapping(each) for each in items[:DISKS_MAX]] if isinstance(items, list) else []


def _stated(values: Iterable[object]) -> list[float]:
    """Return the values that are numbers."""
    return [number for value in values if (number := _number(value)) is not None]


def _sum(values: Sequence[float]) -> float | None:
    return sum(values) if values else None


def _io_per_s(telemetry: Record) -> float | None:
    rates = [_mapping(disk.get("io")) for disk in _items(telemetry, "disks")]
    return _sum(_stated(rate.get(name) for rate in rates for name in ("reads_per_s", "writes_per_s")))


def _cpu(name: str) -> Reader:
    return lambda telemetry: _number(_mapping(telemetry.get("cpu")).get(name))


def _worst_disk(group: str, name: str) -> Reader:
    def read(telemetry: Record) -> float | None:
        disks = _items(telemetry, "disks")
        return max(_stated(_mapping(disk.get(group)).get(name) for disk in disks), default=None)

    return read


def _power(boundary: str) -> Reader:
    def read(telemetry: Record) -> float | None:
        sensors = _items(telemetry, "power")
        return _sum(_stated(each.get("watts") for each in sensors if each.get("boundary") == boundary))

    return read


QUANTITIES = (
    Quantity("cpu_busy", "Processors busy", "%", _cpu("busy_pct")),
    Quantity("cpu_iowait", "Processors waiting for I/O", "%", _cpu("iowait_pct")),
    Quantity("io_per_s", "Disk I/O", "per second", _io_per_s),
    Quantity("read_await", "Read await, worst disk", "us", _worst_disk("io", "read_await_us")),
    Quantity("write_await", "Write await, worst disk", "us", _worst_disk("io", "write_await_us")),
    Quantity("temperature", "Temperature, warmest disk", "C", _worst_disk("temperature", "celsius")),
    Quantity("power_drive", "Drive power", "W", _power("drive")),
    Quantity("power_package", "Processor power", "W", _power("package")),
    Quantity("reads", "Achieved reads", "reads/s", lambda telemetry: _number(telemetry.get(ACHIEVED))),
)
READS = next(place for place, quantity in enumerate(QUANTITIES) if quantity.code == "reads")


def as_document(run_id: str, telemetry: Telemetry) -> dict[str, Any]:
    """Return the data of the charts as JSON."""
    return {
        "schema": SCHEMA,
        "run": run_id,
        "columns": telemetry.columns,
        "intervals_count": telemetry.intervals_count,
        "series": [
            {"name": quantity.label, "unit": quantity.unit, "least": least, "greatest": greatest}
            for quantity, least, greatest in telemetry.drawn
        ],
    }


def csv_lines(telemetry: Telemetry) -> tuple[list[str], list[list[Any]]]:
    """Return the header and lines of the columns as a table."""
    names = [f"{side}_{quantity.code}" for quantity, *_ in telemetry.drawn for side in ("least", "greatest")]
    values = [column for _, *ends in telemetry.drawn for column in ends]
    rows = [[*column, *(each[place] for each in values)] for place, column in enumerate(telemetry.columns)]
    return ["start_s", "end_s", *names], [[_digits(cell) for cell in row] for row in rows]
