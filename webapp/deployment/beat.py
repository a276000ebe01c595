"""Celery's scheduler of periodic tasks, on a machine whose clock may be stepped."""

from typing import Any

from celery.beat import Scheduler

from runners.lifecycle.clock_steps import ClockSteps


class SteadyScheduler(Scheduler):
    """A scheduler that goes on after the clock was set back.

    Celery waits until a task's last run is a period ago. If it ran while the clock was ahead, that is in the future.
    """

    def __init__(self, *args: Any, clock_steps: ClockSteps | None = None, **options: Any) -> None:
        self.clock_steps = clock_steps or ClockSteps()
        super().__init__(*args, **options)

    def tick(self, *args: Any, **options: Any) -> float:
        """Start the next due task, and return the seconds until the one after it."""
        if self.clock_steps.look():
            for entry in self.schedule.values():
                now = entry.default_now()
                entry.last_run_at = min(entry.last_run_at or now, now)
            self._heap = None  # Celery fills it again, by the last runs
        return float(super().tick(*args, **options))
