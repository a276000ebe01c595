"""The frontier of a comparison group: the drives that no other drive of the group beats.

A drive beats another one if it is at least as fast with at most its share of slow reads, and better in one of the two.
Only results that can be ranked together may be passed in: one comparison group, within the limits.
"""

import math
from collections.abc import Sequence


def frontier(speeds: Sequence[float], shares: Sequence[float]) -> list[int]:
    """Return the positions of the drives on the frontier, the slowest first.

    Speed and share rise together along the frontier. Two drives with equal speed and share do not beat each other.

    >>> frontier([500, 400, 300], [2.0, 3.0, 1.0])
    [2, 0]
    >>> frontier([500, 500, 500], [2.0, 2.0, 2.1])
    [1, 0]
    >>> frontier([], [])
    []
    """
    fastest_first = sorted(range(len(speeds)), key=lambda place: (-speeds[place], shares[place]))
    return frontier_of_ordered(fastest_first, speeds, shares)[::-1]


def frontier_of_ordered(fastest_first: Sequence[int], speeds: Sequence[float], shares: Sequence[float]) -> list[int]:
    """Return the positions on the frontier, the fastest first, of drives that are sorted by speed and then by share.

    >>> frontier_of_ordered([0, 1, 2], [500, 400, 300], [2.0, 3.0, 1.0])
    [0, 2]
    """
    found: list[int] = []
    least, its_speed = math.inf, math.inf
    for place in fastest_first:
        share = shares[place]
        if share < least:
            found.append(place)
            least, its_speed = share, speeds[place]
        elif share == least and speeds[place] == its_speed:
            found.append(place)
    return found
