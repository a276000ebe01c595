"""Improvement tables as the vendors' briefs have them: thread by thread, at the peaks, and on average."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from results.rules.ycsb import sweeps
from results.rules.ycsb.sweeps import Point
from webapp.register.ycsb.numbers import percent, rate

Sweep = Mapping[int, Fraction]


@dataclass(frozen=True)
class ImprovementRow:
    """One thread count: throughput of both drives and the gain, as text; "" is not measured."""

    threads: str
    base: str
    value: str
    gain: str
    is_base_peak: bool
    is_peak: bool


@dataclass(frozen=True)
class ImprovementTable:
    """One workload of two drives."""

    title: str
    note: str
    drive: str
    base: str
    rows: Sequence[ImprovementRow]
    base_peak: str
    peak: str
    peak_gain: str
    mean_gain: str
    remarks: Sequence[str] = ()

    @property
    def sentence(self) -> str:
        """Say the gain at the peaks; nothing where there is none to tell."""
        if not self.peak_gain:
            return ""
        return f"On workload {self.title} the {self.drive} peaks {self.peak_gain.lstrip('+-')} % {self.peak_direction}"

    @property
    def peak_direction(self) -> str:
        """Higher or lower."""
        return "lower" if self.peak_gain.startswith("-") else "higher"


@dataclass(frozen=True)
class Sides:
    """The two drives that a table compares."""

    drive: str
    base: str


def improvement_table(
    titles: tuple[str, str], sides: Sides, sweep: Sweep, base: Sweep, remarks: Sequence[str] = ()
) -> ImprovementTable:
    """Return the table of one workload; `titles` are its letter and what it is made of."""
    peak, base_peak = sweeps.peak(_points(sweep)), sweeps.peak(_points(base))
    gains = {each.threads: each.gain for each in sweeps.improvements(sweep, base)}
    return ImprovementTable(
        *titles,
        sides.drive,
        sides.base,
        rows=[
            ImprovementRow(
                f"{threads:,d}",
                rate(base.get(threads)),
                rate(sweep.get(threads)),
                percent(gains.get(threads)),
                is_base_peak=base_peak is not None and threads == base_peak.threads,
                is_peak=peak is not None and threads == peak.threads,
            )
            for threads in sorted(sweep.keys() | base.keys())
        ],
        base_peak=rate(base_peak.ops_per_s if base_peak else None),
        peak=rate(peak.ops_per_s if peak else None),
        peak_gain=percent(sweeps.peak_improvement(_points(sweep), _points(base))),
        mean_gain=percent(sweeps.mean_improvement(sweep, base)),
        remarks=remarks,
    )


def _points(sweep: Sweep) -> list[Point]:
    return [Point(threads, ops_per_s) for threads, ops_per_s in sweep.items()]
