"""Capacities that makers round: 3.84 TB is also sold as 3.8 TB, and 6,401 GB as 6.4 TB."""

from fractions import Fraction
from math import ceil, floor

TOLERANCE_PCT = 3


def is_same_capacity(stated_gb: float | None, wanted_gb: float | None) -> bool:
    """Return whether two capacities are known and equal, as makers round them.

    >>> [is_same_capacity(stated, 3200) for stated in (3200, 3104, 3103, 3840, 2400, None)]
    [True, True, False, False, False, False]
    """
    if not stated_gb or not wanted_gb:
        return False
    return abs(stated_gb - wanted_gb) * 100 <= TOLERANCE_PCT * wanted_gb


def capacity_bound(requested: Fraction, *, is_least: bool) -> int:
    """Return the least or the largest whole number that meets a requested capacity within the tolerance.

    >>> capacity_bound(Fraction(6400), is_least=True), capacity_bound(Fraction(6400), is_least=False)
    (6208, 6592)
    """
    if is_least:
        return ceil(requested * (100 - TOLERANCE_PCT) / 100)
    return floor(requested * (100 + TOLERANCE_PCT) / 100)
