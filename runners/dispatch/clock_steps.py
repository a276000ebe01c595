"""Steps of this machine's clock: times that were stored before one say nothing about how long something has lasted."""

import time
from collections.abc import Callable

# A clock that is corrected slowly, or that a busy machine reads late, differs by less.
STEP_S = 20.0


class ClockSteps:
    """The last step of the clock of this machine, noticed by comparing it with the steady clock."""

    def __init__(self, wall: Callable[[], float] = time.time, steady: Callable[[], float] = time.monotonic) -> None:
        self._wall, self._steady = wall, steady
        self._offset_s = wall() - steady()
        self._seen_at_s: float | None = None  # by the steady clock

    def look(self) -> bool:
        """Compare the clocks, and return whether there was a step since the last call."""
        offset_s = self._wall() - self._steady()
        is_step = abs(offset_s - self._offset_s) >= STEP_S
        if is_step:
            self._seen_at_s = self._steady()
        self._offset_s = offset_s
        return is_step

    def seen_within(self, seconds: float) -> bool:
        """Return whether a step was noticed in the last seconds."""
        self.look()
        return self._seen_at_s is not None and self._steady() - self._seen_at_s < seconds


CLOCK_STEPS = ClockSteps()
