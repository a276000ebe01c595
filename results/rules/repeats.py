"""Summary of repeated runs: number, median, spread, and an interval for the mean and for a gain.

The interval is Student's t and not a bootstrap. Runs repeat three to five times, and resampling so few values gives
intervals that are far too narrow. The t interval assumes that runs are normally distributed about their mean. It
shows how little a few runs prove (12.7 standard errors with two), and needs no seed.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean, median, stdev

from results.rules.ycsb.gains import Number

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """A 95 % interval."""

    low: float
    high: float


@dataclass(frozen=True)
class Repeats:
    """Repeated measurements of one quantity, in its unit; `mean_interval` is None for a single run."""

    count: int
    median: Fraction
    least: Fraction
    greatest: Fraction
    mean: Fraction
    mean_interval: Interval | None

    @property
    def spread_ratio(self) -> Fraction | None:
        """Return (greatest - least) / median; None if the median is 0."""
        return (self.greatest - self.least) / self.median if self.median else None


def summarise(values: Sequence[Number]) -> Repeats | None:
    """Return the summary of repeated runs; None without runs."""
    exact = [Fraction(value) for value in values]
    if not exact:
        return None
    return Repeats(
        len(exact), median(exact), min(exact), max(exact), sum(exact, Fraction(0)) / len(exact), _interval(exact)
    )


def gain_interval(values: Sequence[Number], base: Sequence[Number]) -> Interval | None:
    """Return a 95 % interval for mean / mean - 1, a ratio, from repeats of both; None with fewer than two of either.

    On logarithms, where a ratio is a difference, by Welch's unequal variances; the degrees of freedom are rounded down,
    which widens the interval. The centre is the ratio of geometric means.
    Raises ValueError for values that are not above 0.
    Source: B. L. Welch, "The generalization of 'Student's' problem...", Biometrika 34 (1947).
    """
    if min(len(values), len(base)) < 2:
        return None
    (mean, error), (base_mean, base_error) = (_log_mean(each) for each in (values, base))
    both = error + base_error
    freedom = _welch_freedom(error, len(values), base_error, len(base)) if both else 1
    reach = t_quantile(freedom) * math.sqrt(both)
    centre = mean - base_mean
    return Interval(math.exp(centre - reach) - 1, math.exp(centre + reach) - 1)


def t_quantile(freedom: int, confidence: float = CONFIDENCE) -> float:
    """Return how many standard errors a two-sided interval reaches, for whole degrees of freedom of 1 or more.

    Found by halving on the closed form of the distribution.
    Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.

    >>> round(t_quantile(4), 3)
    2.776
    """
    if freedom < 1 or not 0 < confidence < 1:
        raise ValueError(f"t: expected degrees of freedom from 1 and confidence in (0, 1), got {freedom}, {confidence}")
    low, high = 0.0, math.pi / 2  # the angle: t = tan(angle) x sqrt(freedom)
    while (middle := (low + high) / 2) not in {low, high}:
        low, high = (middle, high) if _t_within(middle, freedom) < confidence else (low, middle)
    return math.tan(low) * math.sqrt(freedom)


def _t_within(angle: float, freedom: int) -> float:
    """Return the probability of |t| below tan(angle) x sqrt(freedom)."""
    is_odd = freedom % 2
    term, total = (math.cos(angle), 0.0) if is_odd else (1.0, 0.0)
    for step in range(2 + is_odd, freedom + 1, 2):
        total += term
        term *= math.cos(angle) ** 2 * (step - 1) / step
    total *= math.sin(angle)
    return (angle + total) * 2 / math.pi if is_odd else total


def _interval(values: Sequence[Fraction]) -> Interval | None:
    if len(values) < 2:
        return None
    floats = [float(value) for value in values]
    reach = t_quantile(len(values) - 1) * stdev(floats) / math.sqrt(len(values))
    return Interval(fmean(floats) - reach, fmean(floats) + reach)


def _log_mean(values: Sequence[Number]) -> tuple[float, float]:
    """Return mean of the logarithms and the square of its standard error."""
    if min(values) <= 0:
        raise ValueError(f"gain_interval: expected values above 0, got {min(values)}")
    logs = [math.log(value) for value in values]
    return fmean(logs), stdev(logs) ** 2 / len(logs)


def _welch_freedom(error: float, count: int, base_error: float, base_count: int) -> int:
    parts = error**2 / (count - 1) + base_error**2 / (base_count - 1)
    return max(1, int((error + base_error) ** 2 / parts))
