"""What the machines told under a load, as tables: thread count by thread count, and two drives at their peaks."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from results.rules.ycsb.gains import Better, gain
from webapp.register.ycsb.gains import DIRECTIONS, MetricRow, percent, rate, time_us
from webapp.register.ycsb.loads import STATISTIC_WORDS, Load, LoadDrive, Measured
from webapp.register.ycsb.machine import QUANTITIES, Quantity, shown, told_by


@dataclass(frozen=True)
class MachineRow:
    """What was told at one thread count of one drive, as text; "" was not told."""

    drive: str
    threads: str
    values: Sequence[str]


@dataclass(frozen=True)
class MachineTable:
    """All thread counts at which anything was told."""

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
    """Return what was told while each thread count ran; no row where no run came with telemetry."""
    told = [(drive, point) for drive in load.drives for point in drive.points if point.machine]
    quantities = told_by(point.machine for _, point in told)
    rows = [
        MachineRow(
            drive.name,
            f"{point.threads:,d}",
            [shown(quantity, point.machine.get(quantity.code)) for quantity in quantities],
        )
        for drive, point in told
    ]
    return MachineTable(quantities, rows)


def peak_summary(drive: LoadDrive, base: LoadDrive, operation: str) -> PeakSummary:
    """Return both drives at their peaks, each gain in the direction in which its metric is better."""
    ours, theirs = _peak(drive), _peak(base)
    names = drive.name, base.name
    note = f"each at its peak: {ours.threads:,d} and {theirs.threads:,d} threads"
    both = [metric for metric in _metrics(operation) if metric.is_told(ours, theirs)]
    return PeakSummary(*names, note, [metric.row(ours, theirs) for metric in both])


def _peak(drive: LoadDrive) -> Measured:
    """Return the first point with the highest throughput: a drive under a load has points."""
    return max(drive.points, key=lambda point: (point.ops_per_s, -point.threads))


@dataclass(frozen=True)
class _Metric:
    """One metric of a point: `latency` is a key of its latencies, else `quantity` of its machine, else throughput."""

    name: str
    unit: str
    better: Better | None
    latency: tuple[str, str] | None = None
    quantity: Quantity | None = None

    def of(self, point: Measured) -> Fraction | None:
        if self.latency is not None:
            return point.latencies_us.get(self.latency)
        return point.ops_per_s if self.quantity is None else point.machine.get(self.quantity.code)

    def is_told(self, *points: Measured) -> bool:
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
