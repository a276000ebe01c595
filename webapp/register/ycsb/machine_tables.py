"""Tables of a load: host telemetry by thread count, and the metrics of two drives at their peaks."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from results.rules.ycsb.gains import Better, gain
from webapp.register.ycsb.gains import DIRECTIONS, MetricRow, percent, rate, time_us
from webapp.register.ycsb.loads import STATISTIC_WORDS, Load, LoadDrive, Measured
from webapp.register.ycsb.machine import QUANTITIES, Quantity, reported_by, shown


def machine_table(load: Load) -> dict[str, Any]:
    """Return the telemetry at each thread count, "" if not reported; no rows if no run has telemetry."""
    measured = [(drive, point) for drive in load.drives for point in drive.points if point.machine]
    quantities = reported_by(point.machine for _, point in measured)
    rows = [
        {
            "drive": drive.name,
            "threads": point.threads,
            "cells": [shown(quantity, point.machine.get(quantity.code)) for quantity in quantities],
        }
        for drive, point in measured
    ]
    return {"quantities": quantities, "rows": rows}


def peak_summary(drive: LoadDrive, base: LoadDrive, operation: str) -> dict[str, Any]:
    """Return both drives at their peaks, with each gain in the better direction of its metric."""
    ours, theirs = _peak(drive), _peak(base)
    return {
        "drive": drive.name,
        "base": base.name,
        "note": f"each at its peak: {ours.threads:,d} and {theirs.threads:,d} threads",
        "rows": [row for metric in _metrics(operation) if (row := metric.row(ours, theirs))],
    }


def _peak(drive: LoadDrive) -> Measured:
    """Return the first point with the highest throughput. A drive under a load has at least one point."""
    return max(drive.points, key=lambda point: (point.ops_per_s, -point.threads))


@dataclass(frozen=True)
class _Metric:
    """One metric of a point: a latency, otherwise a quantity of the telemetry, otherwise the throughput."""

    name: str
    unit: str
    better: Better | None
    latency: tuple[str, str] | None = None
    quantity: Quantity | None = None

    def of(self, point: Measured) -> Fraction | None:
        if self.latency is not None:
            return point.latencies_us.get(self.latency)
        return point.ops_per_s if self.quantity is None else point.machine.get(self.quantity.code)

    def row(self, ours: Measured, theirs: Measured) -> MetricRow | None:
        """Return the metric of both; None if one does not report it."""
        value, base = self.of(ours), self.of(theirs)
        if value is None or base is None:
            return None
        gained = percent(gain(value, base, self.better))
        direction = DIRECTIONS[self.better]
        return MetricRow(self.name, self.unit, direction, self._shown(value), self._shown(base), gained)

    def _shown(self, value: Fraction) -> str:
        if self.quantity is not None:
            return shown(self.quantity, value)
        return rate(value) if self.latency is None else time_us(value)


def _metrics(operation: str) -> list[_Metric]:
    latencies = [
        _Metric(f"{operation}, {word}", "us", Better.LOWER, latency=(operation, code))
        for code, word in STATISTIC_WORDS.items()
    ]
    machine = [_Metric(each.label, each.unit, each.better, quantity=each) for each in QUANTITIES]
    return [_Metric("throughput", "ops/s", Better.HIGHER), *latencies, *machine]
