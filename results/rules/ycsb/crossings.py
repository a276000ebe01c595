"""Latency at a fixed throughput and throughput at a fixed latency, along a sweep in thread order.

With more threads, throughput rises, stalls, and may fall again while latency rises further. A curve of one over the
other then folds back, and meets one throughput twice. So the search follows the curve from the lowest thread count:
the first crossing is the result, and the others are listed with it. Nothing is extrapolated.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from results.rules.ycsb.gains import Number
from results.rules.ycsb.sweeps import Point, in_thread_order


@dataclass(frozen=True)
class Crossing:
    """The point where a curve meets a level: its value and the thread counts around it, equal at a measured point."""

    value: Fraction
    from_threads: int
    to_threads: int

    @property
    def is_measured(self) -> bool:
        """Return whether a run was measured exactly at the crossing, so that its value is not interpolated."""
        return self.from_threads == self.to_threads


@dataclass(frozen=True)
class Crossings:
    """The first crossing from the lowest thread count and those after it; none where the level was not measured.

    `measured_from` and `measured_to` are the least and the greatest level that was; None without any.
    """

    first: Crossing | None
    further: tuple[Crossing, ...]
    measured_from: Fraction | None
    measured_to: Fraction | None


def latency_at(points: Sequence[Point], ops_per_s: Number) -> Crossings:
    """Return where a sweep has a throughput, with its latency in us there, by straight lines between neighbours."""
    return _crossings([(point, point.ops_per_s, point.latency_us) for point in in_thread_order(points)], ops_per_s)


def throughput_at(points: Sequence[Point], latency_us: Number) -> Crossings:
    """Return where a sweep has a latency in us, with its throughput in ops/s there."""
    return _crossings([(point, point.latency_us, point.ops_per_s) for point in in_thread_order(points)], latency_us)


_Step = tuple[Point, Fraction | None, Fraction | None]


def _crossings(steps: Sequence[_Step], wanted: Number) -> Crossings:
    level = Fraction(wanted)
    found = tuple(_walk(steps, level))
    levels = [at for _, at, value in steps if at is not None and value is not None]
    return Crossings(found[0] if found else None, found[1:], min(levels, default=None), max(levels, default=None))


def _walk(steps: Sequence[_Step], level: Fraction) -> Iterator[Crossing]:
    """Yield measured points on the level, and lines that pass it; a run without a latency breaks the curve."""
    before: tuple[int, Fraction, Fraction] | None = None
    for point, at, value in steps:
        if at is None or value is None:
            before = None
            continue
        if before is not None and (before[1] - level) * (at - level) < 0:
            threads, before_at, before_value = before
            part = (level - before_at) / (at - before_at)
            yield Crossing(before_value + part * (value - before_value), threads, point.threads)
        if at == level:
            yield Crossing(value, point.threads, point.threads)
        before = (point.threads, at, value)
