"""What the host with the drive told while a thread count ran: means over its time, exact, None where it was not told.

Drivetest sums up the telemetry beside a run (docs/formats.md, `telemetry` of a YCSB RUN). Disks are taken together:
their rates add up, of their awaits the greatest counts.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from statistics import median
from typing import Any

from results.access.redaction import visible_facts
from results.models import Run
from results.rules.act.loads import printed_decimal
from results.rules.ycsb.gains import Better

Told = Mapping[str, Any]
BYTES_PER_MB = 10**6
DRIVE, PACKAGE = "drive", "package"
PER_WATT = "ops_per_drive_w"


@dataclass(frozen=True)
class Quantity:
    """One thing that is told. `better` is None where neither more nor less of it is good by itself.

    `read` takes it out of a run's telemetry; `scale` is what one of its shown unit has of the stored ones.
    """

    code: str
    label: str
    unit: str
    better: Better | None
    read: Callable[[Told], Fraction | None]
    scale: int = 1


def _mean(span: Told | None) -> Fraction | None:
    return Fraction(span["mean"]) if span else None


def _of_host(name: str) -> Callable[[Told], Fraction | None]:
    return lambda told: _mean(told.get(name))


def _all_disks(name: str) -> Callable[[Told], Fraction | None]:
    """Return what adds up the rates of all disks; where one of them tells none the sum is not known."""

    def read(told: Told) -> Fraction | None:
        rates = [_mean(disk.get(name)) for disk in told["disks"]]
        known = [rate for rate in rates if rate is not None]
        return sum(known, Fraction(0)) if known and len(known) == len(rates) else None

    return read


def _worst_disk(name: str) -> Callable[[Told], Fraction | None]:
    def read(told: Told) -> Fraction | None:
        awaits = [_mean(disk.get(name)) for disk in told["disks"]]
        return max((each for each in awaits if each is not None), default=None)

    return read


def _power(boundary: str) -> Callable[[Told], Fraction | None]:
    def read(told: Told) -> Fraction | None:
        return next((_mean(each["watts"]) for each in told["power"] if each["boundary"] == boundary), None)

    return read


QUANTITIES = (
    Quantity("cpu_busy_pct", "Processors busy", "%", None, _of_host("cpu_busy_pct")),
    Quantity("cpu_iowait_pct", "Waiting for I/O", "%", Better.LOWER, _of_host("cpu_iowait_pct")),
    Quantity("drive_read_bytes_per_s", "Drive, read", "MB/s", None, _all_disks("read_bytes_per_s"), BYTES_PER_MB),
    Quantity("drive_write_bytes_per_s", "Drive, written", "MB/s", None, _all_disks("write_bytes_per_s"), BYTES_PER_MB),
    Quantity("drive_read_await_us", "Await of reads", "us", Better.LOWER, _worst_disk("read_await_us")),
    Quantity("drive_write_await_us", "Await of writes", "us", Better.LOWER, _worst_disk("write_await_us")),
    Quantity("drive_w", "Power of the drive", "W", None, _power(DRIVE)),
    Quantity("package_w", "Power of the processors", "W", None, _power(PACKAGE)),
    Quantity(PER_WATT, "Per watt of the drive", "ops/s", Better.HIGHER, lambda told: None),
)
BY_CODE = {quantity.code: quantity for quantity in QUANTITIES}


def machine_of(run: Run) -> dict[str, Fraction]:
    """Return by code what was told while a YCSB run was made; empty where nothing came with it, or it is withheld."""
    told = visible_facts(run, "telemetry")
    if not told:
        return {}
    values = {quantity.code: quantity.read(told) for quantity in QUANTITIES}
    watts, rate = values["drive_w"], run.ycsb.throughput_ops_per_s
    if watts and rate is not None:
        values[PER_WATT] = Fraction(rate) / watts
    return {code: value for code, value in values.items() if value is not None}


def of_repeats(runs: Iterable[Run]) -> dict[str, Fraction]:
    """Return the medians of repeats; what one of them does not tell has no median of them."""
    told = [machine_of(run) for run in runs]
    codes = [code for code in BY_CODE if all(code in each for each in told)]
    return {code: median([each[code] for each in told]) for code in codes}


def told_by(points: Iterable[Mapping[str, Fraction]]) -> Sequence[Quantity]:
    """Return the quantities that any of some points tells."""
    codes = {code for point in points for code in point}
    return [quantity for quantity in QUANTITIES if quantity.code in codes]


def shown(quantity: Quantity, value: Fraction | None) -> str:
    """Return a value in the unit that is shown, with one decimal; empty where it was not told."""
    return "" if value is None else f"{Decimal(round(value / quantity.scale * 10)) / 10:,.1f}"


def exported(run: Run) -> dict[str, str | None]:
    """Return all quantities of a run for a table of data, in the units of their names."""
    told = machine_of(run)
    return {code: printed_decimal(told[code], 3) if code in told else None for code in BY_CODE}
