"""Fewer points than were measured, with no extreme lost: what a chart can show of a day of seconds."""

from collections.abc import Sequence
from typing import TypeVar

Number = TypeVar("Number", int, float)


def spans(count: int, most: int) -> list[range]:
    """Return at most `most` runs of neighbours that together cover 0 to `count` - 1, all but the last equally long.

    Raises ValueError if `most` is below 1.

    >>> spans(5, 2), spans(2, 5)
    ([range(0, 3), range(3, 5)], [range(0, 1), range(1, 2)])
    """
    if most < 1:
        raise ValueError(f"most: expected 1 or more, got {most}")
    length = max(1, -(-count // most))
    return [range(first, min(first + length, count)) for first in range(0, count, length)]


def place_of_greatest(values: Sequence[Number | None], span: range) -> int | None:
    """Return the index of the greatest value in a span, the first of equal ones; None without a known value.

    >>> place_of_greatest([1, 5, None, 5], range(0, 4))
    1
    """
    return max((place for place in span if values[place] is not None), key=lambda place: values[place], default=None)  # type: ignore[arg-type, return-value]


def place_of_least(values: Sequence[Number | None], span: range) -> int | None:
    """Return the index of the least value in a span, the first of equal ones; None without a known value.

    >>> place_of_least([None, 5, 2, 2], range(0, 4))
    2
    """
    return min((place for place in span if values[place] is not None), key=lambda place: values[place], default=None)  # type: ignore[arg-type, return-value]
