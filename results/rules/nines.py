"""Slow reads at scale: how many reads are slower than a percentile of so many nines."""

import math
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Scale:
    """Drives per server, servers per rack and racks; `reads_per_s` is the rate of one drive."""

    reads_per_s: Fraction
    nines: int
    drives: int
    servers: int
    racks: int


@dataclass(frozen=True)
class Step:
    """One step outwards: what it counts, how many of it, and the slow reads a second of all together."""

    thing: str
    number: int
    slow_per_s: Fraction


def slow_share(nines: int) -> Fraction:
    """Return the part of reads that are slower than the percentile of so many nines: two nines are p99.

    Raises ValueError below one.

    >>> slow_share(5)
    Fraction(1, 100000)
    """
    if nines < 1:
        raise ValueError(f"nines: expected 1 or more, got {nines}")
    return Fraction(1, 10**nines)


def slow_reads(scale: Scale) -> tuple[Step, ...]:
    """Return the slow reads a second of one drive, of a server's, a rack's and all racks' drives.

    >>> [int(step.slow_per_s) for step in slow_reads(Scale(Fraction(1_000_000), 5, 10, 20, 20))]
    [10, 100, 2000, 40000]
    """
    things = (("drive", 1), ("server", scale.drives), ("rack", scale.servers), ("room", scale.racks))
    steps, slow = [], scale.reads_per_s * slow_share(scale.nines)
    for thing, number in things:
        slow *= number
        steps.append(Step(thing, number, slow))
    return tuple(steps)


def chance_of_a_slow_read(nines: int, reads_count: int) -> float:
    """Return how likely at least one of so many independent reads is slow: 1 - (1 - 10^-nines)^n, a ratio.

    By logarithms, so that tiny shares do not lose digits. Reads that queue behind one another are not independent: a
    drive that stalls slows many at once, and then fewer requests meet more of them.

    >>> round(chance_of_a_slow_read(2, 100), 3)
    0.634
    """
    if reads_count < 0:
        raise ValueError(f"reads: expected 0 or more, got {reads_count}")
    return -math.expm1(reads_count * math.log1p(-float(slow_share(nines))))
