"""Axes of YCSB charts: from 0 with room for labels, ticks as text, and the thread counts that an axis names."""

from collections.abc import Iterable
from fractions import Fraction

from webapp.register.svg.scales import LinearScale, LogScale

Number = int | float | Fraction
WHOLE_FROM = 1000  # ticks from here on are whole numbers
ROOM_OF_LOG = 1.2  # of a logarithmic axis, beyond its first and its last value


def from_zero(values: Iterable[Number], headroom: float = 1.12, ticks_count: int = 5) -> LinearScale:
    """Return an axis that has 0 and all values, with room beyond the greatest; negative values have room below.

    >>> from_zero([10, 20], 1.5), from_zero([]), from_zero([-4], 1.5)
    (LinearScale(low=0.0, high=30.0, ticks_count=5), LinearScale(low=0.0, high=1.0, ticks_count=5), \
LinearScale(low=-6.0, high=0.0, ticks_count=5))
    """
    found = [float(value) for value in values]
    low, high = (headroom * end for end in (min([0.0, *found]), max([0.0, *found])))
    return LinearScale(low, high if high > low else 1.0, ticks_count)


def of_threads(counts: Iterable[Number]) -> LogScale | None:
    """Return a logarithmic axis of thread counts with room on both sides; None without counts above 0."""
    found = [float(count) for count in counts]
    return LogScale(min(found) / ROOM_OF_LOG, max(found) * ROOM_OF_LOG) if found and min(found) > 0 else None


def tick_text(value: float) -> str:
    """Return a tick with thousands separated.

    >>> tick_text(0.5), tick_text(200000.0), tick_text(0)
    ('0.5', '200,000', '0')
    """
    return f"{value:,.0f}" if abs(value) >= WHOLE_FROM else f"{value:g}"


def thread_ticks(counts: Iterable[int]) -> list[int]:
    """Return the thread counts that a logarithmic axis names: the powers of two if there are enough of them.

    >>> thread_ticks([4, 8, 16, 48, 64]), thread_ticks([3, 4, 8])
    ([4, 8, 16, 64], [3, 4, 8])
    """
    ordered = sorted(set(counts))
    powers = [count for count in ordered if count > 0 and count & (count - 1) == 0]
    return powers if len(powers) > 2 else ordered
