"""The share that comparisons use: exact enough that no limit of nine places is met by rounding alone."""

from decimal import Decimal

PLACES = 9  # of the column; migration 0013 computes the same of the rows before it
SCALE = 10**PLACES


def exact_share_pct(over_count: int, ops_count: int) -> Decimal:
    """Return over x 100 / all, percent, rounded up at the ninth place.

    It is at most a limit of up to nine places exactly where over x 100 <= limit x all: rounding up never passes a
    multiple of 10^-9 that the quotient itself does not pass.

    >>> exact_share_pct(1, 3), exact_share_pct(1, 20)
    (Decimal('33.333333334'), Decimal('5.000000000'))
    """
    return Decimal(-(-over_count * 100 * SCALE // ops_count)).scaleb(-PLACES)
