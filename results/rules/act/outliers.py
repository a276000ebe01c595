"""Outliers: figures far from those of comparable drives, by median and MAD on a logarithmic scale.

A hint for reviewers, never a verdict. Speeds and shares differ by factors, so distances are counted as ratios.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

FEWEST_OTHERS = 8  # the spread of fewer figures says little
NORMAL_MAD = 0.6744897501960817  # the MAD of a normal distribution with a standard deviation of 1
FARTHEST_USUAL = 3.5  # Iglewicz and Hoaglin, "How to detect and handle outliers" (1993)


@dataclass(frozen=True)
class OutlierTest:
    """A figure among others: their median, the factor to it, and the robust distance in standard deviations."""

    median: float
    factor: float
    score: float
    others: int

    @property
    def is_outlier(self) -> bool:
        """Return whether the figure is farther from the median than is usual."""
        return abs(self.score) > FARTHEST_USUAL


def outlier_test(figure: float, others: Sequence[float]) -> OutlierTest | None:
    """Return how far a figure is from comparable ones; None without enough of them, or if most of them are equal.

    Figures of 0 have no logarithm and are left out.
    """
    logs = [math.log(other) for other in others if other > 0]
    if figure <= 0 or len(logs) < FEWEST_OTHERS:
        return None
    middle = median_of(logs)
    mad = median_of([abs(log - middle) for log in logs])
    if mad == 0:
        return None
    distance = math.log(figure) - middle
    return OutlierTest(math.exp(middle), math.exp(distance), NORMAL_MAD * distance / mad, len(logs))


def median_of(figures: Sequence[float]) -> float:
    """Return the middle figure; of an even number, the mean of the two in the middle."""
    ordered = sorted(figures)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
