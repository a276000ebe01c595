"""Percentiles: the rule of the 7450 brief, the samples that a percentile needs, and slow reads at scale ("nines")."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

SURE_TAIL_COUNT = 10  # with fewer samples beyond it, a percentile gets a mark: one more outlier would change it


def tail_count(ops_count: int, percentile_pct: Decimal) -> int:
    """Return how many of the largest samples a percentile leaves, rounded down.

    Raises ValueError outside 0 <= percentile < 100.

    >>> tail_count(1_000_000, Decimal("99.99"))
    100
    """
    if not 0 <= percentile_pct < 100:
        raise ValueError(f"percentile: expected 0 to below 100, got {percentile_pct}")
    return int(ops_count * (100 - Fraction(percentile_pct)) / 100)


def percentile(samples: Iterable[int], percentile_pct: Decimal) -> int | None:
    """Return the smallest of the largest n x (1 - p) samples; None if that is less than one sample.

    Source: Micron 7450 RocksDB brief ("p99.99 of 1,000,000 samples: the smallest of the 100 largest"). It is one rank
    above the nearest-rank definition, which takes the largest of the others.
    Where we give None, YCSB prints the maximum.
    """
    ordered = sorted(samples)
    count = tail_count(len(ordered), percentile_pct)
    return ordered[-count] if count else None


def percentile_of_counts(counts: Sequence[tuple[int, int]], percentile_pct: Decimal) -> int | None:
    """Return the same from (value, number of samples) pairs in any order, as an HDR histogram holds them."""
    left = tail_count(sum(count for _, count in counts), percentile_pct)
    if left == 0:
        return None
    for value, count in sorted(counts, reverse=True):
        left -= count
        if left <= 0:
            return value
    return None


def has_enough_samples(ops_count: int, percentile_pct: Decimal) -> bool:
    """Return whether at least ten samples lie beyond a percentile: 100,000 operations for p99.99."""
    return tail_count(ops_count, percentile_pct) >= SURE_TAIL_COUNT


@dataclass(frozen=True)
class Scale:
    """Drives per server, servers per rack and racks; `reads_per_s` is the rate of one drive."""

    reads_per_s: Fraction
    nines: int
    drives: int
    servers: int
    racks: int


@dataclass(frozen=True)
class Step:
    """One step outwards: what it counts, how many of it, and the slow reads a second of all together."""

    thing: str
    number: int
    slow_per_s: Fraction


def slow_share(nines: int) -> Fraction:
    """Return the part of reads that are slower than the percentile of so many nines: two nines are p99.

    Raises ValueError below one.

    >>> slow_share(5)
    Fraction(1, 100000)
    """
    if nines < 1:
        raise ValueError(f"nines: expected 1 or more, got {nines}")
    return Fraction(1, 10**nines)


def slow_reads(scale: Scale) -> tuple[Step, ...]:
    """Return the slow reads a second of one drive, of a server's, a rack's and all racks' drives.

    >>> [int(step.slow_per_s) for step in slow_reads(Scale(Fraction(1_000_000), 5, 10, 20, 20))]
    [10, 100, 2000, 40000]
    """
    things = (("drive", 1), ("server", scale.drives), ("rack", scale.servers), ("room", scale.racks))
    steps, slow = [], scale.reads_per_s * slow_share(scale.nines)
    for thing, number in things:
        slow *= number
        steps.append(Step(thing, number, slow))
    return tuple(steps)


def chance_of_a_slow_read(nines: int, reads_count: int) -> float:
    """Return how likely at least one of so many independent reads is slow: 1 - (1 - 10^-nines)^n, a ratio.

    By logarithms, so that tiny shares do not lose digits. Reads that queue behind one another are not independent: a
    drive that stalls slows many at once, and then fewer requests meet more of them.

    >>> round(chance_of_a_slow_read(2, 100), 3)
    0.634
    """
    if reads_count < 0:
        raise ValueError(f"reads: expected 0 or more, got {reads_count}")
    return -math.expm1(reads_count * math.log1p(-float(slow_share(nines))))
