"""Tables of a load: host telemetry by thread count, and the metrics of two drives at their peaks."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from results.rules.ycsb.gains import Better, gain
from webapp.register.ycsb.gains import DIRECTIONS, MetricRow, percent, rate, time_us
from webapp.register.ycsb.loads import STATISTIC_WORDS, Load, LoadDrive, Measured
from webapp.register.ycsb.machine import QUANTITIES, Quantity, reported_by, shown


@dataclass(frozen=True)
class MachineRow:
    """The telemetry at one thread count of one drive, as text; "" if not reported."""

    drive: str
    threads: str
    values: Sequence[str]


@dataclass(frozen=True)
class MachineTable:
    """All thread counts with telemetry."""

    quantities: Sequence[Quantity]
    rows: Sequence[MachineRow]


@dataclass(frozen=True)
class PeakSummary:
    """The metrics of two drives, each at its own peak."""

    drive: str
    base: str
    note: str
    rows: Sequence[MetricRow]


def machine_table(load: Load) -> MachineTable:
    """Return the telemetry at each thread count; no rows if no run has telemetry."""
    measured = [(drive, point) for drive in load.drives for point in drive.points if point.machine]
    quantities = reported_by(point.machine for _, point in measured)
    rows = [
        MachineRow(
            drive.name,
            f"{point.threads:,d}",
            [shown(quantity, point.machine.get(quantity.code)) for quantity in quantities],
        )
        for drive, point in measured
    ]
    return MachineTable(quantities, rows)


def peak_summary(drive: LoadDrive, base: LoadDrive, operation: str) -> PeakSummary:
    """Return both drives at their peaks, with each gain in the better direction of its metric."""
    ours, theirs = _peak(drive), _peak(base)
    names = drive.name, base.name
    note = f"each at its peak: {ours.threads:,d} and {theirs.threads:,d} threads"
    both = [metric for metric in _metrics(operation) if metric.is_reported(ours, theirs)]
    return PeakSummary(*names, note, [metric.row(ours, theirs) for metric in both])


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

    def is_reported(self, *points: Measured) -> bool:
        return all(self.of(point) is not None for point in points)

    def row(self, ours: Measured, theirs: Measured) -> MetricRow:
        value, base = self.of(ours) or Fraction(0), self.of(theirs) or Fraction(0)
        gained = percent(gain(value, base, self.better))
        return MetricRow(
            self.name, self.unit, DIRECTIONS[self.better], self._shown(value), self._shown(base), gained, ""
        )

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
