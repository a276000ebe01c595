"""Alternatives to a drive for the same limits: better drives, drives with more endurance, and similar drives.

All drives are of one comparison group and within the limits, so that speed and share of slow reads compare. A drive is
better if it is at least as fast with at most the same share, and differs in one of them (Pareto dominance).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from heapq import nsmallest

from results.rules.capacity import is_same_capacity

MOST_OF_EACH = 3
MEDIUM_FROM_DWPD, HIGH_FROM_DWPD = 2, 5


class EnduranceClass(StrEnum):
    """The class of a drive's endurance rating: below 2, from 2, and from 5 drive writes per day, or no rating."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    UNRATED = "unrated"


def endurance_class(endurance_dwpd: Decimal | float | None) -> EnduranceClass:
    """Return the class of a rating.

    >>> [endurance_class(rating).value for rating in (None, Decimal("1.99"), Decimal(2), Decimal("4.99"), Decimal(5))]
    ['unrated', 'low', 'medium', 'medium', 'high']
    """
    if endurance_dwpd is None:
        return EnduranceClass.UNRATED
    if endurance_dwpd < MEDIUM_FROM_DWPD:
        return EnduranceClass.LOW
    return EnduranceClass.MEDIUM if endurance_dwpd < HIGH_FROM_DWPD else EnduranceClass.HIGH


@dataclass(frozen=True)
class Figures:
    """What drives are compared by: speed in tps, share of slow reads, the speed that the rating allows, and capacity.

    `speed` is above 0. `share` and `sustained` have any one unit. `sustained` is None without a rating. `capacity_gb`
    is above 0, or None if it is not known. `key` names the drive.
    """

    key: str
    speed: Fraction | int
    share: Fraction | int
    sustained: Fraction | int | None
    endurance: EnduranceClass = EnduranceClass.UNRATED
    capacity_gb: int | None = None


@dataclass(frozen=True)
class Alternatives:
    """At most three drives of each kind, the first ones to show first; no drive is in two of the lists.

    `better_count` and `enduring_count` are the numbers of all drives of these kinds.
    """

    better: tuple[Figures, ...]
    enduring: tuple[Figures, ...]
    similar: tuple[Figures, ...]
    better_count: int
    enduring_count: int


def is_better(other: Figures, this: Figures) -> bool:
    """Return whether a drive is at least as fast with at most the same share, and not equal in both.

    >>> this = Figures("a", 100, 5, None)
    >>> [is_better(Figures("b", speed, share, None), this) for speed, share in ((100, 5), (101, 5), (100, 4), (101, 6))]
    [False, True, True, False]
    """
    is_as_good = other.speed >= this.speed and other.share <= this.share
    return is_as_good and (other.speed, other.share) != (this.speed, this.share)


def is_more_enduring(other: Figures, this: Figures) -> bool:
    """Return whether a drive's rating allows a higher speed. Without both ratings this is not known."""
    return other.sustained is not None and this.sustained is not None and other.sustained > this.sustained


def distance(other: Figures, this: Figures) -> Fraction:
    """Return the ratio of the higher to the lower speed, times that of the larger to the smaller capacity.

    It is 1 for equal drives. If a capacity is not known, only the speeds count.

    >>> this = Figures("a", 100, 5, None, capacity_gb=800)
    >>> distance(Figures("b", 50, 5, None), this), distance(Figures("c", 50, 5, None, capacity_gb=3200), this)
    (Fraction(2, 1), Fraction(8, 1))
    """
    slower, faster = sorted((other.speed, this.speed))
    smaller, larger = 1, 1
    if other.capacity_gb and this.capacity_gb:
        smaller, larger = sorted((other.capacity_gb, this.capacity_gb))
    return Fraction(faster * larger, slower * smaller)


def alternatives_to(this: Figures, everywhere: Iterable[Figures], same_category: Iterable[Figures]) -> Alternatives:
    """Return the alternatives to a drive.

    `everywhere` has the comparable drives of all categories of drives, from which better ones come; `same_category`
    those of the drive's own category, from which similar ones come. Similar drives have the same endurance class; the
    nearest in speed and capacity come first. Better drives of the same capacity come before those of another one. The
    drive itself is in neither list.
    """
    better, enduring = [], []
    for each in everywhere:
        if is_better(each, this):
            better.append(each)
        elif is_more_enduring(each, this):
            enduring.append(each)

    def of_same_capacity_first(each: Figures) -> tuple[bool | Fraction | int | str, ...]:
        return not is_same_capacity(each.capacity_gb, this.capacity_gb), *_fastest_first(each)

    best = nsmallest(MOST_OF_EACH, better, key=of_same_capacity_first)
    lasting = nsmallest(MOST_OF_EACH, enduring, key=lambda each: (-(each.sustained or 0), *_fastest_first(each)))
    listed = {each.key for each in best + lasting}
    of_same_class = (each for each in same_category if each.endurance == this.endurance and each.key not in listed)
    similar = nsmallest(MOST_OF_EACH, of_same_class, key=lambda each: (distance(each, this), *_fastest_first(each)))
    return Alternatives(tuple(best), tuple(lasting), tuple(similar), len(better), len(enduring))


def _fastest_first(figures: Figures) -> tuple[Fraction | int, Fraction | int, str]:
    """Return the sort key: by speed from the fastest, then by share from the lowest, then by name."""
    return -figures.speed, figures.share, figures.key
