"""Steps of the clock: how long a host has been silent and a stage has run, and polls that were scheduled before."""

from datetime import timedelta

import pytest
from django.utils import timezone

from runners.dispatch import failures
from runners.dispatch import steps as dispatch_steps
from runners.dispatch.poll_scheduler import take_due_batches
from runners.inventory.health import take_due_hosts
from runners.lifecycle import stages
from runners.lifecycle.clock_steps import REMEMBER_S, STEP_S, BootMemory, ClockSteps
from runners.models import Dispatch, Host, Step
from runners.models.states import State
from tests.runners.lab import poll_state


class Clocks:
    """The clock of a machine and its steady clock, in seconds. A step changes only the first."""

    wall_s, steady_s = 1_000_000.0, 50.0

    def steps(self, memory=None):
        return ClockSteps(lambda: self.wall_s, lambda: self.steady_s, memory)

    def pass_time(self, seconds):
        self.wall_s, self.steady_s = self.wall_s + seconds, self.steady_s + seconds


@pytest.fixture
def clocks():
    return Clocks()


@pytest.fixture
def steps(clocks, monkeypatch):
    """Return what notices steps, for the machine whose clocks the test sets."""
    steps = clocks.steps()
    for module in (failures, stages, dispatch_steps):
        monkeypatch.setattr(module, "CLOCK_STEPS", steps)
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


class FakeMemory:
    """What the processes of one boot share."""

    known = None

    def get(self):
        return self.known

    def set(self, *known):
        self.known = known


def test_a_process_that_starts_after_a_step_knows_of_it(clocks):
    memory = FakeMemory()
    clocks.steps(memory).look()
    clocks.wall_s += 7200
    clocks.pass_time(10)
    again = clocks.steps(memory)
    assert again.seen_within(900)
    clocks.pass_time(500)
    assert clocks.steps(memory).seen_within(900)
    clocks.pass_time(400)
    assert not clocks.steps(memory).seen_within(900)


def test_a_slow_correction_of_the_clock_is_no_step_for_a_later_process(clocks):
    memory = FakeMemory()
    steps = clocks.steps(memory)
    for _ in range(int(3 * STEP_S)):
        clocks.pass_time(REMEMBER_S)
        clocks.wall_s += 1
        assert not steps.seen_within(900)
    assert not clocks.steps(memory).seen_within(900)


def test_the_memory_of_a_boot_is_shared_and_ends_with_it(tmp_path, monkeypatch):
    boot_id = tmp_path / "boot_id"
    monkeypatch.setattr("runners.lifecycle.clock_steps.BOOT_ID", boot_id)
    boot_id.write_text("first")
    assert BootMemory().get() is None
    BootMemory().set(12.5, None)
    assert BootMemory().get() == (12.5, None)
    boot_id.write_text("second")
    assert BootMemory().get() is None


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


@pytest.fixture
def late(running, settings):
    """Return a run that exceeded its limit by the clock."""
    begun = timezone.now() - timedelta(seconds=running.duration_s + settings.RUN_OVERDUE_S + 1)
    Dispatch.objects.update(started_at=begun)
    running.refresh_from_db()
    return running


@pytest.mark.django_db
def test_a_step_ends_no_run_and_its_limit_counts_from_then_on(late, fake, connect, steps, clocks, settings):
    clocks.wall_s += 7200
    assert poll_state(late, connect) == State.RUNNING
    assert fake.programs[late.public_id].is_running
    clocks.pass_time(late.duration_s + settings.RUN_OVERDUE_S - 1)
    assert poll_state(late, connect) == State.RUNNING
    assert fake.programs[late.public_id].is_running
    clocks.pass_time(1)
    poll_state(late, connect)
    assert not fake.programs[late.public_id].is_running


@pytest.fixture(params=["end_requested_at", "cancel_requested_at"])
def unstoppable(request, late, fake, settings):
    """Return a run that the register has tried to stop for as long as it waits, for its limit or a cancel."""
    fake.ignores_stop = True
    Dispatch.objects.update(**{request.param: timezone.now() - timedelta(seconds=settings.HOST_SILENCE_S)})
    late.refresh_from_db()
    return late


@pytest.mark.django_db
def test_a_program_that_does_not_stop_is_lost_only_if_no_step_explains_the_time(
    unstoppable, connect, steps, clocks, settings
):
    clocks.wall_s += 7200
    assert poll_state(unstoppable, connect) == State.RUNNING
    clocks.pass_time(settings.HOST_SILENCE_S)
    assert poll_state(unstoppable, connect) == State.LOST


@pytest.mark.django_db
def test_a_stop_that_was_requested_before_a_step_is_repeated(late, fake, connect, steps, clocks):
    fake.ignores_stop = True
    poll_state(late, connect)
    clocks.wall_s += 7200
    fake.ignores_stop = False
    poll_state(late, connect)
    assert not fake.programs[late.public_id].is_running


@pytest.mark.django_db
def test_a_run_that_was_polled_for_the_first_time_long_after_its_limit_is_stopped_and_not_lost(
    late, fake, connect, steps, settings
):
    fake.ignores_stop = True
    Dispatch.objects.update(started_at=late.started_at - timedelta(seconds=2 * settings.HOST_SILENCE_S))
    late.refresh_from_db()
    assert poll_state(late, connect) == State.RUNNING
