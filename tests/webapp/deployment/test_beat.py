"""Periodic tasks on a machine whose clock is stepped."""

from datetime import timedelta

import pytest
from celery import Celery

from tests.runners.lifecycle.test_clock_steps import Clocks
from webapp.deployment.beat import SteadyScheduler

PERIOD_S = 60


class RecordingScheduler(SteadyScheduler):
    """A scheduler that records the tasks that it starts, instead of sending them."""

    def apply_entry(self, entry, producer=None):
        self.__dict__.setdefault("started", []).append(entry.name)

    @property
    def producer(self):
        return None


@pytest.fixture
def clocks():
    return Clocks()


@pytest.fixture
def scheduler(clocks):
    app = Celery("test", broker="memory://", set_as_current=False)
    app.conf.beat_schedule = {"poll": {"task": "poll", "schedule": PERIOD_S}}
    scheduler = RecordingScheduler(app, clock_steps=clocks.steps())
    scheduler.tick()
    return scheduler


def run_ahead(scheduler, seconds):
    """Let the last run of the task be in the future, as if the clock had been ahead then."""
    entry = scheduler.schedule["poll"]
    entry.last_run_at = entry.default_now() + timedelta(seconds=seconds)
    scheduler._heap = None


def test_a_task_that_ran_while_the_clock_was_ahead_runs_a_period_after_the_clock_was_set_back(scheduler, clocks):
    run_ahead(scheduler, 7200)
    scheduler.tick()
    clocks.wall_s -= 7200
    assert scheduler.tick() <= PERIOD_S
    entry = scheduler.schedule["poll"]
    assert entry.last_run_at <= entry.default_now()
    entry.last_run_at -= timedelta(seconds=PERIOD_S)
    scheduler._heap = None
    scheduler.tick()
    assert scheduler.started[-1] == "poll"


def test_without_a_step_the_last_runs_are_not_changed(scheduler):
    run_ahead(scheduler, 10)
    last = scheduler.schedule["poll"].last_run_at
    scheduler.tick()
    assert scheduler.schedule["poll"].last_run_at == last
