"""Which run of a new reading is which run of an earlier one: public ids are permanent, so each must find its own."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """Where a run stands in its log: member of an archive, first and last line (0 where unknown), ordinal."""

    member: str
    first_line: int
    last_line: int
    ordinal: int


def match_places(earlier: Sequence[Place], found: Sequence[Place]) -> dict[int, int]:
    """Return index of an earlier place -> index of its place in the new reading, each at most once.

    The lines decide, the largest overlap first: a new reader may tell more runs or fewer in a file, and count them
    otherwise. Where lines are not known, the same ordinal does.
    """
    matched: dict[int, int] = {}
    taken: set[int] = set()
    for index, other in _by_overlap(earlier, found):
        if index not in matched and other not in taken:
            matched[index] = other
            taken.add(other)
    return matched


def _by_overlap(earlier: Sequence[Place], found: Sequence[Place]) -> Iterable[tuple[int, int]]:
    pairs = [
        (overlap, index, other)
        for index, place in enumerate(earlier)
        for other, candidate in enumerate(found)
        if (overlap := _overlap(place, candidate)) > 0
    ]
    return [(index, other) for _, index, other in sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2]))]


def _overlap(one: Place, other: Place) -> float:
    """Return how many lines two places share; half a line where lines are unknown and the ordinal is the same."""
    if one.member != other.member:
        return 0
    if not (one.last_line and other.last_line):
        return 0.5 if one.ordinal == other.ordinal else 0
    return max(0, min(one.last_line, other.last_line) - max(one.first_line, other.first_line) + 1)
