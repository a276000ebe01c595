"""Whole percentages of parts."""

import math
from fractions import Fraction


def whole_percent(part: Fraction) -> int:
    """Return a part from 0 to 1 as a whole percentage, rounded half up; at most 99 for anything but the whole.

    >>> [whole_percent(Fraction(part)) for part in ("0.576", "0.125", "0.0049", "0.9999", "1")]
    [58, 13, 0, 99, 100]
    """
    percent = math.floor(part * 100 + Fraction(1, 2))
    return percent if part == 1 else min(percent, 99)
