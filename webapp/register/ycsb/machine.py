"""Telemetry of the host with the drive for a YCSB run: exact means over the run, None if they are not reported.

Drivetest summarizes the telemetry of a run (docs/reference/formats.md, `telemetry` of a YCSB RUN). Disks are combined:
rates are added, and awaits are those of the worst disk.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from statistics import median
from typing import Any

from results.access.withholding import visible_facts
from results.models import Run
from results.rules.act.loads import printed_decimal
from results.rules.ycsb.gains import Better

BYTES_PER_MB = 10**6


@dataclass(frozen=True)
class Quantity:
    """One quantity of the telemetry. `better` is None if neither more nor less of it is better.

    `scale` is the number of stored units in one shown unit.
    """

    code: str
    label: str
    unit: str
    better: Better | None
    scale: int = 1


QUANTITIES = (
    Quantity("cpu_busy_pct", "Processors busy", "%", None),
    Quantity("cpu_iowait_pct", "Waiting for I/O", "%", Better.LOWER),
    Quantity("drive_read_bytes_per_s", "Drive reads", "MB/s", None, BYTES_PER_MB),
    Quantity("drive_write_bytes_per_s", "Drive writes", "MB/s", None, BYTES_PER_MB),
    Quantity("drive_read_await_us", "Read await", "us", Better.LOWER),
    Quantity("drive_write_await_us", "Write await", "us", Better.LOWER),
    Quantity("drive_w", "Drive power", "W", None),
    Quantity("package_w", "Processor power", "W", None),
    Quantity("ops_per_drive_w", "Per watt of the drive", "ops/s", Better.HIGHER),
)
BY_CODE = {quantity.code: quantity for quantity in QUANTITIES}


def machine_of(run: Run) -> dict[str, Fraction]:
    """Return the telemetry of a YCSB run by code; empty if it has none, or it is withheld."""
    telemetry = visible_facts(run, "telemetry")
    if not telemetry:
        return {}
    watts = {each["boundary"]: _mean(each["watts"]) for each in telemetry["power"]}
    values = {code: _mean(telemetry.get(code)) for code in ("cpu_busy_pct", "cpu_iowait_pct")}
    values |= {"drive_w": watts.get("drive"), "package_w": watts.get("package")}
    for way in ("read", "write"):
        rates = [_mean(disk.get(f"{way}_bytes_per_s")) for disk in telemetry["disks"]]
        known = [rate for rate in rates if rate is not None]
        # The sum of a rate over all disks is not known if one of them lacks the rate.
        values[f"drive_{way}_bytes_per_s"] = sum(known, Fraction(0)) if known and len(known) == len(rates) else None
        awaits = [_mean(disk.get(f"{way}_await_us")) for disk in telemetry["disks"]]
        values[f"drive_{way}_await_us"] = max((each for each in awaits if each is not None), default=None)
    if values["drive_w"] and run.ycsb.throughput_ops_per_s is not None:
        values["ops_per_drive_w"] = Fraction(run.ycsb.throughput_ops_per_s) / values["drive_w"]
    return {code: value for code, value in values.items() if value is not None}


def _mean(span: Mapping[str, Any] | None) -> Fraction | None:
    return Fraction(span["mean"]) if span else None


def of_repeats(runs: Iterable[Run]) -> dict[str, Fraction]:
    """Return the medians of repeats; a quantity that one of them lacks has no median."""
    repeats = [machine_of(run) for run in runs]
    codes = [code for code in BY_CODE if all(code in each for each in repeats)]
    return {code: median([each[code] for each in repeats]) for code in codes}


def reported_by(points: Iterable[Mapping[str, Fraction]]) -> Sequence[Quantity]:
    """Return the quantities that any of the points reports."""
    codes = {code for point in points for code in point}
    return [quantity for quantity in QUANTITIES if quantity.code in codes]


def shown(quantity: Quantity, value: Fraction | None) -> str:
    """Return a value in the shown unit with one decimal; empty if it is missing."""
    return "" if value is None else f"{Decimal(round(value / quantity.scale * 10)) / 10:,.1f}"


def exported(run: Run) -> dict[str, str | None]:
    """Return all quantities of a run for exports, in the units of their names."""
    values = machine_of(run)
    return {code: printed_decimal(values[code], 3) if code in values else None for code in BY_CODE}
