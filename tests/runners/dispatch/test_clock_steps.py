"""Steps of the clock: how long a host has been silent, and polls that were scheduled before a step."""

from datetime import timedelta

import pytest
from django.utils import timezone

from runners.dispatch import failures
from runners.dispatch.clock_steps import STEP_S, ClockSteps
from runners.dispatch.poll_scheduler import take_due_batches
from runners.inventory.health import take_due_hosts
from runners.models import Dispatch, Host, Step
from runners.models.states import State
from tests.runners.lab import poll_state


class Clocks:
    """The clock of a machine and its steady clock, in seconds. A step changes only the first."""

    wall_s, steady_s = 1_000_000.0, 50.0

    def steps(self):
        return ClockSteps(lambda: self.wall_s, lambda: self.steady_s)

    def pass_time(self, seconds):
        self.wall_s, self.steady_s = self.wall_s + seconds, self.steady_s + seconds


@pytest.fixture
def clocks():
    return Clocks()


@pytest.fixture
def steps(clocks, monkeypatch):
    """Return what notices steps, for the machine whose clocks the test sets."""
    steps = clocks.steps()
    monkeypatch.setattr(failures, "CLOCK_STEPS", steps)
    return steps


@pytest.mark.parametrize(("step_s", "is_seen"), [(STEP_S, True), (-STEP_S, True), (STEP_S - 1, False), (7200, True)])
def test_a_step_is_seen_for_a_while_and_passing_time_is_none(clocks, step_s, is_seen):
    steps = clocks.steps()
    clocks.pass_time(86_400)
    assert not steps.seen_within(900)
    clocks.wall_s += step_s
    assert steps.seen_within(900) is is_seen
    clocks.pass_time(899)
    assert steps.seen_within(900) is is_seen
    clocks.pass_time(1)
    assert not steps.seen_within(900)


@pytest.mark.django_db
def test_a_silent_host_is_given_up_only_if_no_step_explains_the_time(running, fake, connect, steps, clocks, settings):
    fake.is_silent = True
    Dispatch.objects.update(silent_since=timezone.now() - timedelta(seconds=settings.HOST_SILENCE_S))
    clocks.wall_s += 7200
    assert poll_state(running, connect) == State.RUNNING
    clocks.pass_time(settings.HOST_SILENCE_S)
    assert poll_state(running, connect) == State.LOST


@pytest.mark.django_db
def test_a_clock_that_was_set_back_lets_a_silence_begin_again(running, fake, connect, steps):
    fake.is_silent = True
    Dispatch.objects.update(silent_since=timezone.now() + timedelta(hours=2))
    poll_state(running, connect)
    running.refresh_from_db()
    assert running.silent_since <= timezone.now()


@pytest.mark.django_db
def test_a_step_is_no_outage_of_the_register(running, connect, steps, clocks):
    Dispatch.objects.update(heartbeat_at=timezone.now() - timedelta(hours=2))
    clocks.wall_s += 7200
    poll_state(running, connect)
    assert not running.steps.filter(kind=Step.Kind.REGISTER_OUTAGE).exists()


@pytest.mark.django_db
def test_a_poll_and_a_check_that_were_scheduled_before_the_clock_was_set_back_are_due(dispatch, settings):
    far, near = (timezone.now() + timedelta(seconds=seconds) for seconds in (7200, settings.SILENT_PERIOD_S))
    due = []
    for scheduled_at in (near, far):
        Dispatch.objects.update(next_poll_at=scheduled_at)
        due.append([pk for batch in take_due_batches(False, 9, 1, frozenset()) for pk in batch.dispatch_ids])
    assert due == [[], [dispatch.pk]]
    host = Host.objects.create(name="lab-far", kind=Host.Kind.AGENT)
    near, far = (timezone.now() + timedelta(seconds=factor * settings.HOST_CHECK_PERIOD_S) for factor in (1, 3))
    for scheduled_at, expected in ((near, []), (far, [host])):
        Host.objects.filter(pk=host.pk).update(next_check_at=scheduled_at)
        assert take_due_hosts(9) == expected
