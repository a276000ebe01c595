"""The percentile rule of the 7450 brief, and how many samples a percentile needs."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction

SURE_TAIL_COUNT = 10  # samples beyond a percentile below which it is told with a mark: one outlier more moves it


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
    """Return the smallest of the largest n x (1 - p) samples; None where that is less than one sample.

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
    """Tell whether at least ten samples lie beyond a percentile: 100,000 operations for p99.99."""
    return tail_count(ops_count, percentile_pct) >= SURE_TAIL_COUNT
