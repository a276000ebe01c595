"""The endurance gap: the speed that was tested against the speed that the endurance rating allows."""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from results.rules.endurance import needed_dwpd, sustained_tps
from results.rules.percent import whole_percent

NEAR = Fraction(3, 100)  # a ratio this near to a simple fraction is called by its name
SIMPLE_FRACTIONS = (
    (Fraction(3, 4), "three quarters"),
    (Fraction(2, 3), "two thirds"),
    (Fraction(1, 2), "half"),
    (Fraction(1, 3), "a third"),
    (Fraction(1, 4), "a quarter"),
    (Fraction(1, 5), "a fifth"),
    (Fraction(1, 6), "a sixth"),
    (Fraction(1, 7), "a seventh"),
    (Fraction(1, 8), "an eighth"),
    (Fraction(1, 9), "a ninth"),
    (Fraction(1, 10), "a tenth"),
)


@dataclass(frozen=True)
class EnduranceGap:
    """The speed of one drive in a test, what this speed writes, and what the drive is rated for.

    `needed` is in drive writes per day, `sustained` in tps. Both are None where a fact is missing.
    """

    tested: Fraction
    endurance_dwpd: Decimal | None
    capacity_gb: int | None
    needed: Fraction | None
    sustained: Fraction | None

    @property
    def ratio(self) -> Fraction | None:
        """Return the sustained speed divided by the tested one; None without a rating.

        >>> endurance_gap(Fraction(1_728_000), Decimal(3), 6400).ratio < Fraction(1, 7)
        True
        """
        return None if self.sustained is None else self.sustained / self.tested

    @property
    def is_covered(self) -> bool:
        """Return whether the rating allows the tested speed; a speed that it sustains exactly is covered."""
        return self.ratio is not None and self.ratio >= 1

    @property
    def warranty_part(self) -> Fraction | None:
        """Return the part of the warranty period that the rated writes last at the tested speed; None without a rating.

        A rating allows a number of drive writes on each day of the warranty period. A speed that needs n times as many
        uses them up in 1/n of the period. Writes that last longer than the period last for the whole of it.

        >>> endurance_gap(Fraction(1000), Decimal(3), 6400).warranty_part
        Fraction(1, 1)
        """
        return None if self.ratio is None else min(self.ratio, Fraction(1))


def endurance_gap(tps: Fraction | None, endurance_dwpd: Decimal | None, capacity_gb: int | None) -> EnduranceGap | None:
    """Return the gap of one drive; None without a speed.

    >>> endurance_gap(None, Decimal(3), 6400) is None
    True
    """
    if not tps:
        return None
    needed, sustained = needed_dwpd(tps, capacity_gb), sustained_tps(endurance_dwpd, capacity_gb)
    return EnduranceGap(tps, endurance_dwpd, capacity_gb, needed, sustained)


def part_words(ratio: Fraction) -> str:
    """Return a part below 1 in words: a simple fraction within 3 % of it, otherwise a percentage.

    The percentage is rounded half up, but a part below 1 is never called 100 % and never 0 %.

    >>> [part_words(Fraction(number)) for number in ("0.125", "0.129", "0.9999", "0.0051", "0.5")]
    ['an eighth', '13 %', '99 %', '1 %', 'half']
    """
    for fraction, words in SIMPLE_FRACTIONS:
        if abs(ratio / fraction - 1) <= NEAR:
            return words
    percent = whole_percent(ratio)
    return f"{percent} %" if percent else "less than 1 %"


def times(ratio: Fraction) -> Decimal:
    """Return how many times a figure is another one, with two significant digits, half to even.

    Near 1 it has as many digits as show on which side of 1 it is.

    >>> [f"{times(Fraction(number)):f}" for number in ("1.02", "0.9996", "1", "7.994", "1.25", "1234", "0.463")]
    ['1.02', '0.9996', '1', '8', '1.2', '1200', '0.46']
    """
    places = 1 - math.floor(math.log10(ratio))
    while (rounded := round(ratio, places)) == 1 != ratio:
        places += 1
    return Decimal(rounded.numerator) / rounded.denominator
