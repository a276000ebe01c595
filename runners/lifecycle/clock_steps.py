"""Steps of this machine's clock: times that were stored before one say nothing about how long something has lasted."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from django.core.cache import cache

# A clock that is corrected slowly, or that a busy machine reads late, differs by less.
STEP_S = 20.0
# Between two of these, slow corrections of a clock change it by less than a step.
REMEMBER_S = 60.0
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Memory(Protocol):
    """What survives the process: the difference of the clocks, and when the last step was noticed, in seconds."""

    def get(self) -> tuple[float, float | None] | None:
        """Return what was set; None if nothing was."""

    def set(self, offset_s: float, seen_at_s: float | None) -> None:
        """Keep both."""


class BootMemory:
    """The memory of a machine until it boots again, in the cache that all processes share.

    All processes of one boot have the same steady clock, so that a process knows of a step before its own start.
    """

    def get(self) -> tuple[float, float | None] | None:
        """Return what a process of this boot has set last; None if none has."""
        found = cache.get(self._key)
        return None if found is None else (found[0], found[1])

    def set(self, offset_s: float, seen_at_s: float | None) -> None:
        """Keep both for the processes of this boot."""
        cache.set(self._key, [offset_s, seen_at_s], None)

    @property
    def _key(self) -> str:
        return f"clock-steps-{BOOT_ID.read_text().strip()}"


class ClockSteps:
    """The last step of the clock of this machine, noticed by comparing it with the steady clock."""

    def __init__(
        self,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
        memory: Memory | None = None,
    ) -> None:
        self._wall, self._steady, self._memory = wall, steady, memory
        self._offset_s = wall() - steady()
        self._seen_at_s: float | None = None  # by the steady clock
        self._remembered_at_s: float | None = None  # by the steady clock

    def look(self) -> bool:
        """Compare the clocks, and return whether there was a step since the last call, or before this process began."""
        if self._memory and self._remembered_at_s is None and (known := self._memory.get()):
            self._offset_s, self._seen_at_s = known
        offset_s, now_s = self._wall() - self._steady(), self._steady()
        is_step = abs(offset_s - self._offset_s) >= STEP_S
        if is_step:
            self._seen_at_s = now_s
        self._offset_s = offset_s
        if self._memory and (is_step or self._remembered_at_s is None or now_s - self._remembered_at_s >= REMEMBER_S):
            self._memory.set(self._offset_s, self._seen_at_s)
            self._remembered_at_s = now_s
        return is_step

    def seen_within(self, seconds: float) -> bool:
        """Return whether a step was noticed in the last seconds."""
        self.look()
        return self._seen_at_s is not None and self._steady() - self._seen_at_s < seconds


CLOCK_STEPS = ClockSteps(memory=BootMemory())
