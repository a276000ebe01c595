"""Numbers that were read off a figure: between what they lie, and between what lies that is computed from them."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from results.rules.ycsb.statements import read_off_span

Formula = Callable[[Fraction, Fraction], Fraction | None]


@dataclass(frozen=True)
class Taken:
    """A number that a formula takes, and whether it was read off a figure instead of printed."""

    value: Fraction
    is_read_off: bool = False

    @property
    def ends(self) -> tuple[Fraction, ...]:
        """Between what it lies; a printed one is itself."""
        return read_off_span(self.value) if self.is_read_off else (self.value,)


def ends_of(formula: Formula, a: Taken, b: Taken) -> tuple[Fraction | None, ...]:
    """Return what a formula gives at the ends of both numbers, the least and the greatest of it among them.

    The formula must rise or fall with each of the two. Nothing where both are printed; None where it divides by 0.

    >>> [str(end) for end in ends_of(lambda a, b: b / a, Taken(Fraction(10), True), Taken(Fraction(23)))]
    ['23/5', '23/15']
    """
    if not (a.is_read_off or b.is_read_off):
        return ()
    return tuple(formula(*pair) for pair in product(a.ends, b.ends))
