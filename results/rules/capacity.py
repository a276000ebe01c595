"""Capacities that makers round: 3.84 TB is also sold as 3.8 TB, and 6,401 GB as 6.4 TB."""

from fractions import Fraction
from math import ceil, floor

TOLERANCE_PCT = 3


def capacity_bound(requested: Fraction, *, is_least: bool) -> int:
    """Return the least or the largest whole number that meets a requested capacity within the tolerance.

    >>> capacity_bound(Fraction(6400), is_least=True), capacity_bound(Fraction(6400), is_least=False)
    (6208, 6592)
    """
    if is_least:
        return ceil(requested * (100 - TOLERANCE_PCT) / 100)
    return floor(requested * (100 + TOLERANCE_PCT) / 100)
