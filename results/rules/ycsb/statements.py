"""Whether a stated number is the one that the figures give: rounded, truncated, rounded up, or another."""

import math
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from fractions import Fraction


class Status(StrEnum):
    """What becomes of a claim when its own publication's figures are used."""

    REPRODUCES = "reproduces"
    TRUNCATED = "truncated"
    ROUNDED_UP = "rounded up"
    AS_READ = "agrees as far as it was read off"
    AT_POINTS = "agrees at the points as read, which decide little"
    NOT_DECIDABLE = "not decidable from the figure"
    CONTRADICTS = "contradicts itself"
    IN_WORDS = "in words, not judged"
    CANNOT_BE_CHECKED = "cannot be checked from published figures"


def places_of(stated: str) -> int | None:
    """Return how many decimals a number was stated with; None where it is no number.

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
    would round to 16. Raises ValueError where `stated` is no number.
    """
    places = places_of(stated)
    if places is None:
        raise ValueError(f"stated value: expected a number, got {stated!r}")
    scaled, said = value * 10**places, Fraction(stated) * 10**places
    for status, reached in (
        (Status.REPRODUCES, round(scaled)),
        (Status.TRUNCATED, math.trunc(scaled)),
        (Status.ROUNDED_UP, math.ceil(scaled)),
    ):
        if said == reached:
            return status
    return Status.CONTRADICTS


def judge_all(stated: str, values: Sequence[Fraction]) -> Status:
    """Return the status of a statement about several values; where they would get different ones it contradicts itself.

    A statement in words can only be refuted: it promises a gain, and where none of the values is one it contradicts
    itself; otherwise it cannot be checked.
    """
    if not values:
        return Status.CANNOT_BE_CHECKED
    if places_of(stated) is None:
        return Status.CANNOT_BE_CHECKED if any(value > 0 for value in values) else Status.CONTRADICTS
    found = {judge(stated, value) for value in values}
    return found.pop() if len(found) == 1 else Status.CONTRADICTS


def read_off_span(value: Fraction) -> tuple[Fraction, Fraction]:
    """Return between what a value lies that was read off a figure: half a unit of its first digit either way.

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
    """Tell whether a span is narrow enough for a number within it to mean something.

    Its greater end is at most twice its lesser one, and both are on the same side of nothing; a single value always is.
    """
    if low == high:
        return True
    least, greatest = sorted((abs(low), abs(high)))
    return low * high > 0 and greatest <= DECIDABLE_TIMES * least


def judge_read_off(stated: str, values: Sequence[Fraction], low: Fraction, high: Fraction) -> Status:
    """Return whether a stated number, as it may have been rounded, lies where figures that were read off allow.

    Neither rounding nor cutting can be told apart there. What lies outside contradicts, however wide the span is; what
    lies within agrees only where the span is decidable, else at most with the `values` of the points as they were read.
    Raises ValueError where `stated` is no number.
    """
    places = places_of(stated)
    if places is None:
        raise ValueError(f"stated value: expected a number, got {stated!r}")
    half = Fraction(1, 2 * 10**places)
    said = Fraction(stated)
    if said + half < low or high < said - half:
        return Status.CONTRADICTS
    if is_decidable(low, high):
        return Status.AS_READ
    return Status.NOT_DECIDABLE if judge_all(stated, values) is Status.CONTRADICTS else Status.AT_POINTS
