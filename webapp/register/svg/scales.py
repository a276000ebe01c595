"""Scales of drawings: the place of a value on an axis as a fraction from 0 to 1, and the values of the ticks.

Pages multiply a place by 100 % and share images by their plot box, so that both show the same picture. The functions
know nothing of pixels. static/js/landscape/ repeats them for live changes (tests compare both).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

STEPS = (1, 2, 5)  # of a decade
ROUNDING = 1e-9  # relative error of floating-point numbers that must not move an end by a step


class Scale(Protocol):
    """A scale from `low` to `high`."""

    low: float
    high: float

    def place(self, value: float) -> float:
        """Return the place of a value: 0 at the low end, 1 at the high end, outside of both beyond."""
        ...

    def ticks(self) -> Sequence[float]:
        """Return the values of the ticks, ascending and within the scale."""
        ...


@dataclass(frozen=True)
class LinearScale:
    """A scale on which equal differences have equal lengths; about `ticks_count` ticks."""

    low: float
    high: float
    ticks_count: int = 5

    def place(self, value: float) -> float:
        """Return the place of a value.

        >>> [LinearScale(0, 5).place(value) for value in (0, 1, 5, 6)]
        [0.0, 0.2, 1.0, 1.2]
        """
        return (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        """Return multiples of the smallest step (1, 2 or 5 x 10^n) that needs at most `ticks_count` intervals.

        >>> LinearScale(0, 5.6).ticks(), LinearScale(0, 0.112).ticks()
        ([0.0, 2.0, 4.0], [0.0, 0.05, 0.1])
        """
        step = step_at_least((self.high - self.low) / self.ticks_count)
        first, last = math.ceil(self.low / step - ROUNDING), math.floor(self.high / step + ROUNDING)
        return [float(f"{number * step:.12g}") for number in range(first, last + 1)]


@dataclass(frozen=True)
class LogScale:
    """A scale on which equal ratios have equal lengths. Both ends are above 0."""

    low: float
    high: float

    def place(self, value: float) -> float:
        """Return the place of a value above 0.

        >>> [round(LogScale(10, 1000).place(value), 3) for value in (10, 100, 1000, 1)]
        [0.0, 0.5, 1.0, -0.5]
        """
        return math.log(value / self.low) / self._length

    @cached_property
    def _length(self) -> float:
        return math.log(self.high / self.low)

    def ticks(self) -> list[float]:
        """Return the steps 1, 2 and 5 of each decade; over more than three decades only the decades.

        >>> LogScale(90_000, 2_100_000).ticks()
        [100000.0, 200000.0, 500000.0, 1000000.0, 2000000.0]
        >>> LogScale(1, 10_000).ticks()
        [1.0, 10.0, 100.0, 1000.0, 10000.0]
        """
        steps = STEPS if self.high / self.low <= 1000 * (1 + ROUNDING) else STEPS[:1]
        return [value for value in _steps(self.low, self.high, steps) if self.low <= value <= self.high]


def enclosing_log_scale(low: float, high: float) -> LogScale:
    """Return the log scale that encloses two values and ends at steps (1, 2 or 5 x 10^n), so that it rarely moves.

    >>> enclosing_log_scale(110_000, 1_728_000), enclosing_log_scale(500_000, 500_000)
    (LogScale(low=100000.0, high=2000000.0), LogScale(low=200000.0, high=1000000.0))
    """
    first, last = step_below(low), step_at_least(high)
    if first == last:
        first, last = step_below(first / STEPS[1]), step_at_least(last * STEPS[1])
    return LogScale(first, last)


def step_at_least(value: float) -> float:
    """Return the smallest step (1, 2 or 5 x 10^n) that is not below a value above 0.

    >>> [step_at_least(value) for value in (0.3, 1, 2.1, 5.5)]
    [0.5, 1.0, 5.0, 10.0]
    """
    return next(step for step in _steps(value / 10, value * 10, STEPS) if step >= value * (1 - ROUNDING))


def step_below(value: float) -> float:
    """Return the largest step (1, 2 or 5 x 10^n) that is not above a value above 0.

    >>> [step_below(value) for value in (0.3, 1, 4.9, 5)]
    [0.2, 1.0, 2.0, 5.0]
    """
    return [step for step in _steps(value / 10, value * 10, STEPS) if step <= value * (1 + ROUNDING)][-1]


def _steps(low: float, high: float, steps: Sequence[int]) -> Iterator[float]:
    """Yield the steps of the decades from that of `low` to that of `high`."""
    for decade in range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 2):
        for step in steps:
            yield float(f"{step}e{decade}")
