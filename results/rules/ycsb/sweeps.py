"""Sweeps of YCSB over thread counts: peak, improvements, operations in flight. Exact; printing is for others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from results.rules.ycsb.gains import Better, Number, gain

US_PER_S = 1_000_000

# Proportions of YCSB's core workloads and its load phase (brianfrankcooper/YCSB workloads/workloada to workloadf). F's
# read-modify-writes contain a read and an update each, which are also reported as such and must not be counted again.
CORE_MIX: Mapping[str, Mapping[str, Fraction]] = {
    "A": {"read": Fraction(1, 2), "update": Fraction(1, 2)},
    "B": {"read": Fraction(95, 100), "update": Fraction(5, 100)},
    "C": {"read": Fraction(1)},
    "D": {"read": Fraction(95, 100), "insert": Fraction(5, 100)},
    "E": {"scan": Fraction(95, 100), "insert": Fraction(5, 100)},
    "F": {"read": Fraction(1, 2), "read_modify_write": Fraction(1, 2)},
    "load": {"insert": Fraction(1)},
}


@dataclass(frozen=True)
class Point:
    """One run of a sweep: ops/s and, where known, one latency statistic of one operation in us."""

    threads: int
    ops_per_s: Fraction
    latency_us: Fraction | None = None


@dataclass(frozen=True)
class LittlesLaw:
    """Operations in flight on average, against the threads that can each have one; more than one each is impossible."""

    in_flight: Fraction
    threads: int

    @property
    def is_possible(self) -> bool:
        """Return whether throughput and latency can both be true of one run."""
        return self.in_flight <= self.threads


def in_thread_order(points: Sequence[Point]) -> tuple[Point, ...]:
    """Return the points by rising thread count. Raises ValueError if one occurs twice: summarise repeats first."""
    ordered = tuple(sorted(points, key=lambda point: point.threads))
    counts = [point.threads for point in ordered]
    if len(set(counts)) < len(counts):
        raise ValueError(f"sweep: expected each thread count once, got {counts}; take the median of repeats first")
    return ordered


def peak(points: Sequence[Point]) -> Point | None:
    """Return the point of highest throughput, of equal ones that with fewest threads; None without points."""
    return max(in_thread_order(points), key=lambda point: point.ops_per_s, default=None)


def peak_improvement(points: Sequence[Point], base: Sequence[Point]) -> Fraction | None:
    """Return highest throughput / highest throughput - 1, a ratio, each at its own thread count; None if unknown."""
    best, base_best = peak(points), peak(base)
    return None if best is None or base_best is None else gain(best.ops_per_s, base_best.ops_per_s, Better.HIGHER)


def improvements(
    values: Mapping[int, Number], base: Mapping[int, Number], direction: Better = Better.HIGHER
) -> dict[int, Fraction | None]:
    """Return the gain at every thread count that both sweeps have, a ratio; None if the base is 0."""
    return {
        threads: gain(value, base[threads], direction) for threads, value in sorted(values.items()) if threads in base
    }


def mean_improvement(
    values: Mapping[int, Number], base: Mapping[int, Number], direction: Better = Better.HIGHER
) -> Fraction | None:
    """Return the arithmetic mean of the gains at common thread counts, a ratio; None without one, or if one is None.

    It is the mean of ratios, as Micron's 7400 brief takes it, not the ratio of means.
    """
    gains = improvements(values, base, direction)
    known = [each for each in gains.values() if each is not None]
    return sum(known, Fraction(0)) / len(known) if known and len(known) == len(gains) else None


def mean_latency_us(mix: Mapping[str, Number], latency_us: Mapping[str, Number]) -> Fraction | None:
    """Return the mean over all operations from the means of each kind, weighted by `mix` (counts or proportions).

    None if an operation of the mix has no latency or the mix is empty: a part is never left out.
    """
    weights = {name: Fraction(weight) for name, weight in mix.items() if weight}
    if not weights or not weights.keys() <= latency_us.keys():
        return None
    total = sum((weight * Fraction(latency_us[name]) for name, weight in weights.items()), Fraction(0))
    return total / sum(weights.values(), Fraction(0))


def littles_law(ops_per_s: Number, mean_us: Number, threads: int) -> LittlesLaw:
    """Return throughput x mean service time against the thread count.

    Source: J. D. C. Little, "A Proof for the Queuing Formula: L = lambda W", Operations Research 9 (1961).

    >>> littles_law(990_315, Fraction("136.385"), 128).is_possible
    False
    """
    return LittlesLaw(Fraction(ops_per_s) * Fraction(mean_us) / US_PER_S, threads)
