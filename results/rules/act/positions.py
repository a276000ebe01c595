"""Positions: the place of one drive's figure among the same figures of comparable drives.

A position counts drives. Equal figures share a place. A percentage needs at least ten drives: "faster than 50 % of two"
would sound like a measurement.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from results.rules.percent import whole_percent

Figure = int | Fraction
FEWEST_FOR_PERCENT = 10  # drives, the drive in question included


class Standing(StrEnum):
    """The kind of a position, which decides how a page words it."""

    ONLY = "only"
    EQUAL = "equal"
    FIRST = "first"
    SHARED_FIRST = "shared-first"
    LAST = "last"
    SHARED_LAST = "shared-last"
    AHEAD = "ahead"
    PLACE = "place"


@dataclass(frozen=True)
class Position:
    """How many other drives have a better, an equal and a worse figure."""

    better: int
    equal: int
    worse: int

    @property
    def others(self) -> int:
        """Return the number of other drives."""
        return self.better + self.equal + self.worse

    @property
    def total(self) -> int:
        """Return the number of all drives, the drive in question included."""
        return self.others + 1

    @property
    def place(self) -> int:
        """Return the place, counted from 1; drives with equal figures share the first of their places."""
        return self.better + 1

    @property
    def beaten_share(self) -> Fraction | None:
        """Return the part of the other drives that this one beats, from 0 to 1; None without other drives.

        >>> Position(better=2, equal=0, worse=27).beaten_share
        Fraction(27, 29)
        """
        return Fraction(self.worse, self.others) if self.others else None

    @property
    def beaten_pct(self) -> int | None:
        """Return the same as a whole percentage, rounded half up; at most 99 unless all other drives are beaten.

        None for fewer than ten drives, and where rounding would leave nothing of the drives that are beaten.

        >>> Position(better=2, equal=0, worse=27).beaten_pct, Position(better=2, equal=0, worse=6).beaten_pct
        (93, None)
        """
        if self.total < FEWEST_FOR_PERCENT:
            return None
        if not self.worse:
            return 0
        return whole_percent(Fraction(self.worse, self.others)) or None

    @property
    def standing(self) -> Standing:
        """Return the kind of the position. A drive with better and worse ones is ahead of a part, or has a place."""
        if not self.others:
            return Standing.ONLY
        if self.equal == self.others:
            return Standing.EQUAL
        if not self.better:
            return Standing.SHARED_FIRST if self.equal else Standing.FIRST
        if not self.worse:
            return Standing.SHARED_LAST if self.equal else Standing.LAST
        return Standing.PLACE if self.total < FEWEST_FOR_PERCENT else Standing.AHEAD


def position_of(figure: Figure, others: Iterable[Figure], *, more_is_better: bool) -> Position:
    """Return the position of a figure among those of the other drives.

    >>> position_of(3, [1, 3, 5, 7], more_is_better=True)
    Position(better=2, equal=1, worse=1)
    >>> position_of(3, [1, 3, 5, 7], more_is_better=False)
    Position(better=1, equal=1, worse=2)
    """
    above = equal = below = 0
    for other in others:
        if other == figure:
            equal += 1
        elif other > figure:
            above += 1
        else:
            below += 1
    return Position(above, equal, below) if more_is_better else Position(below, equal, above)
