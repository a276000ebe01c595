"""Stated numbers compared with recomputed ones: rounded, truncated, rounded up or different; chart readings."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from fractions import Fraction
from itertools import product


class Status(StrEnum):
    """The result of a claim's recomputation from the figures of its own publication."""

    REPRODUCES = "reproduces"
    TRUNCATED = "truncated"
    ROUNDED_UP = "rounded up"
    AS_READ = "agrees as far as it was read off"
    AT_POINTS = "agrees at the points as read, which decide little"
    NOT_DECIDABLE = "not decidable from the figure"
    CONTRADICTS = "contradicts itself"
    IN_WORDS = "in words, not judged"
    CANNOT_BE_CHECKED = "cannot be checked from published figures"


class Outcome(StrEnum):
    """What a status means for a reader: groups of statuses, and claims that agree only with an impossible result."""

    CONTRADICTED = "contradicted"
    CONFIRMED = "confirmed"
    IMPOSSIBLE_INPUT = "impossible-input"
    FROM_CHART = "from-chart"
    UNCHECKED = "unchecked"


_OUTCOMES = {
    Status.REPRODUCES: Outcome.CONFIRMED,
    Status.TRUNCATED: Outcome.CONFIRMED,
    Status.ROUNDED_UP: Outcome.CONFIRMED,
    Status.AS_READ: Outcome.FROM_CHART,
    Status.AT_POINTS: Outcome.FROM_CHART,
    Status.NOT_DECIDABLE: Outcome.FROM_CHART,
    Status.CONTRADICTS: Outcome.CONTRADICTED,
    Status.IN_WORDS: Outcome.UNCHECKED,
    Status.CANNOT_BE_CHECKED: Outcome.UNCHECKED,
}


def outcome_of(status: Status, *, uses_impossible: bool = False) -> Outcome:
    """Return the group of a status. A claim that uses an impossible result is never confirmed.

    >>> str(outcome_of(Status.TRUNCATED)), str(outcome_of(Status.IN_WORDS))
    ('confirmed', 'unchecked')
    >>> str(outcome_of(Status.TRUNCATED, uses_impossible=True))
    'impossible-input'
    """
    outcome = _OUTCOMES[status]
    return Outcome.IMPOSSIBLE_INPUT if uses_impossible and outcome is Outcome.CONFIRMED else outcome


def places_of(stated: str) -> int | None:
    """Return the number of decimals of a stated number; None if the text is not a number.

    >>> places_of("0.65"), places_of("44"), places_of("small")
    (2, 0, None)
    """
    try:
        exponent = Decimal(stated).as_tuple().exponent
    except InvalidOperation:
        return None
    return max(0, -exponent) if isinstance(exponent, int) else None


def printed(value: Fraction, places: int) -> str:
    """Return a recomputed value with so many decimals, half to even; exactly nothing is "0".

    >>> printed(Fraction("43.9013"), 1), printed(Fraction(5), 1), printed(Fraction(0), 1)
    ('43.9', '5.0', '0')
    """
    if value == 0:
        return "0"
    return f"{Decimal(round(value * 10**places)).scaleb(-places):f}"


def judge(stated: str, value: Fraction) -> Status:
    """Return whether a stated number is the value rounded to its digits, or cut to them, or rounded up, or neither.

    Rounding is half to even. The value is taken exactly: 16.525 rounds to 17, though its own rounding, 16.5,
    would round to 16. Raises ValueError if `stated` is no number.
    """
    places = places_of(stated)
    if places is None:
        raise ValueError(f"stated value: expected a number, got {stated!r}")
    scaled, claimed = value * 10**places, Fraction(stated) * 10**places
    for status, reached in (
        (Status.REPRODUCES, round(scaled)),
        (Status.TRUNCATED, math.trunc(scaled)),
        (Status.ROUNDED_UP, math.ceil(scaled)),
    ):
        if claimed == reached:
            return status
    return Status.CONTRADICTS


def judge_all(stated: str, values: Sequence[Fraction]) -> Status:
    """Return the status of a statement about several values. If they give different ones, it contradicts itself.

    A statement in words promises a gain. It contradicts itself if no value is a gain; otherwise it cannot be checked.
    """
    if not values:
        return Status.CANNOT_BE_CHECKED
    if places_of(stated) is None:
        return Status.CANNOT_BE_CHECKED if any(value > 0 for value in values) else Status.CONTRADICTS
    found = {judge(stated, value) for value in values}
    return found.pop() if len(found) == 1 else Status.CONTRADICTS


def read_off_span(value: Fraction) -> tuple[Fraction, Fraction]:
    """Return the least and greatest value of a chart reading: half a unit of its first digit either way.

    >>> [str(end) for end in read_off_span(Fraction(290))], [str(end) for end in read_off_span(Fraction(23))]
    (['240', '340'], ['18', '28'])
    """
    if value == 0:
        return value, value
    unit = Fraction(10) ** (len(str(int(abs(value)))) - 1)
    while abs(value) < unit:
        unit /= 10
    return value - unit / 2, value + unit / 2


# The greatest value that points read off allow, over the least: beyond it nearly any number would agree.
DECIDABLE_TIMES = 2


def is_decidable(low: Fraction, high: Fraction) -> bool:
    """Return whether a span is narrow enough for a number within it to mean something.

    Its greater end is at most twice its lesser one, and both are on the same side of nothing; a single value always is.
    """
    if low == high:
        return True
    least, greatest = sorted((abs(low), abs(high)))
    return low * high > 0 and greatest <= DECIDABLE_TIMES * least


def judge_read_off(stated: str, values: Sequence[Fraction], low: Fraction, high: Fraction) -> Status:
    """Return the status of a stated number, which may be rounded, against the range that chart readings allow.

    Chart readings cannot distinguish rounding from truncation. A number outside the range contradicts, even if the
    range is wide. A number inside agrees if the range is decidable; otherwise it can only agree with the `values` as
    read. Raises ValueError if `stated` is not a number.
    """
    places = places_of(stated)
    if places is None:
        raise ValueError(f"stated value: expected a number, got {stated!r}")
    half = Fraction(1, 2 * 10**places)
    claimed = Fraction(stated)
    if claimed + half < low or high < claimed - half:
        return Status.CONTRADICTS
    if is_decidable(low, high):
        return Status.AS_READ
    return Status.NOT_DECIDABLE if judge_all(stated, values) is Status.CONTRADICTS else Status.AT_POINTS


Formula = Callable[[Fraction, Fraction], Fraction | None]


@dataclass(frozen=True)
class Taken:
    """A number that a formula takes, and whether it was read off a figure instead of printed."""

    value: Fraction
    is_read_off: bool = False

    @property
    def ends(self) -> tuple[Fraction, ...]:
        """Return the ends of the number's range; a printed number has one end, itself."""
        return read_off_span(self.value) if self.is_read_off else (self.value,)


def ends_of(formula: Formula, a: Taken, b: Taken) -> tuple[Fraction | None, ...]:
    """Return what a formula gives at the ends of both numbers, the least and the greatest of it among them.

    The formula must rise or fall with each of the two. Nothing where both are printed; None if it divides by 0.

    >>> [str(end) for end in ends_of(lambda a, b: b / a, Taken(Fraction(10), True), Taken(Fraction(23)))]
    ['23/5', '23/15']
    """
    if not (a.is_read_off or b.is_read_off):
        return ()
    return tuple(formula(*pair) for pair in product(a.ends, b.ends))
