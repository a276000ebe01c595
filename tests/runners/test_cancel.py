import pytest

from results.models import Evidence
from runners.dispatch.orders import cancel
from runners.dispatch.steps import _save_start
from runners.models.states import State
from tests.runners.fake_host import REAL_LOG, WorkerKilledError
from tests.runners.lab import poll, poll_all, poll_state

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("state", [State.QUEUED, State.CLAIMED, State.PREPARING])
def test_a_cancel_before_the_start_starts_nothing(in_state, connect, fake, staff, state):
    dispatch = in_state(state)
    assert cancel(dispatch, staff)
    assert poll_state(dispatch, connect) == State.CANCELLED
    assert fake.starts_count == 0


def test_a_start_that_comes_after_its_cancel_starts_nothing(in_state, connect, fake, staff):
    dispatch = in_state(State.PREPARING)
    cancel(dispatch, staff)
    poll_state(dispatch, connect)
    assert fake.start(dispatch.public_id, dispatch.drive_key, 1, []).state == "ended"
    assert fake.starts_count == 0


def test_a_worker_killed_between_seal_and_cancel_leaves_a_cancelled_dispatch(in_state, connect, fake, staff):
    dispatch = in_state(State.PREPARING)
    cancel(dispatch, staff)
    fake.dies_after = "stop"
    with pytest.raises(WorkerKilledError):
        poll(dispatch.pk, connect)
    assert poll_state(dispatch, connect) == State.CANCELLED
    assert fake.starts_count == 0


def test_a_cancel_of_a_start_that_was_not_saved_ends_the_program(dispatch, connect, fake, staff):
    fake.dies_after = "start"
    with pytest.raises(WorkerKilledError):
        poll(dispatch.pk, connect)
    cancel(dispatch, staff)
    assert poll_state(dispatch, connect) == State.CANCELLED
    assert not fake.programs[dispatch.public_id].is_running


def test_a_dispatch_is_cancelled_only_when_the_host_confirms_that_nothing_runs(running, connect, fake, staff):
    fake.ignores_stop = True
    cancel(running, staff)
    assert poll_state(running, connect) == State.RUNNING
    fake.ignores_stop = False
    assert poll_state(running, connect) == State.CANCELLED
    assert running.reason == f"{staff.get_username()} cancelled the run; the program has ended on the host"
    assert not Evidence.objects.exists()
    assert fake.files[running.public_id]["log"] == REAL_LOG


@pytest.mark.parametrize("exit_status", [0, 4])
def test_a_run_that_had_finished_when_the_cancel_came_is_collected(running, connect, fake, staff, exit_status):
    cancel(running, staff)
    fake.end(running.public_id, exit_status)
    assert poll_state(running, connect) == State.DONE
    assert running.submission is not None


def test_a_second_cancel_changes_nothing(running, staff):
    assert cancel(running, staff)
    assert not cancel(running, staff)


def test_a_collection_that_keeps_failing_can_be_cancelled(running, connect, fake, settings, staff, tmp_path):
    (tmp_path / "in-the-way").write_text("a file where a directory should be")
    settings.EVIDENCE_DIR = tmp_path / "in-the-way"
    fake.end(running.public_id, 0)
    poll_state(running, connect)
    cancel(running, staff)
    assert poll_state(running, connect) == State.CANCELLED
    assert "still on the host" in running.reason


def test_a_worker_cut_off_from_the_database_ends_what_it_started_for_a_cancelled_dispatch(in_state, connect, fake):
    dispatch = in_state(State.CANCELLED)
    started = fake.start(dispatch.public_id, dispatch.drive_key, 1, [])
    assert not _save_start(dispatch, fake, started)
    assert not fake.programs[dispatch.public_id].is_running


@pytest.fixture
def lost_running(in_state, fake):
    lost = in_state(State.LOST)
    fake.start(lost.public_id, lost.drive_key, 1, [])
    return lost


def test_a_lost_dispatch_without_a_cancel_is_not_polled(lost_running, connect, fake):
    poll_all(connect)
    assert poll_state(lost_running, connect) == State.LOST
    assert fake.programs[lost_running.public_id].is_running
    assert lost_running.ended_at is None


def test_a_cancelled_lost_dispatch_has_its_program_ended_without_another_order(lost_running, connect, fake, staff):
    cancel(lost_running, staff)
    assert poll_state(lost_running, connect) == State.LOST
    assert not fake.programs[lost_running.public_id].is_running
    assert lost_running.ended_at is not None


@pytest.mark.parametrize("trouble", ["ignores_stop", "is_silent"])
def test_the_program_of_a_lost_dispatch_is_stopped_until_it_has_ended(lost_running, connect, fake, staff, trouble):
    cancel(lost_running, staff)
    setattr(fake, trouble, True)
    poll_state(lost_running, connect)
    assert lost_running.ended_at is None
    setattr(fake, trouble, False)
    poll_all(connect)
    lost_running.refresh_from_db()
    assert (lost_running.state, lost_running.ended_at is None) == (State.LOST, False)


@pytest.mark.parametrize("state", [State.QUEUED, State.RUNNING, State.LOST])
def test_the_history_shows_a_cancel_request_at_once(in_state, staff, state):
    dispatch = in_state(state)
    cancel(dispatch, staff, "wrong drive")
    cancel(dispatch, staff)
    (step,) = dispatch.steps.all()
    assert (step.from_state, step.to_state, step.actor) == (state, state, staff.get_username())
    assert step.reason == f"{staff.get_username()} requested the cancellation: wrong drive"


def test_the_reason_of_a_cancelled_dispatch_names_who_requested_it_and_why(in_state, connect, staff):
    dispatch = in_state(State.QUEUED)
    cancel(dispatch, staff, "wrong drive")
    assert poll_state(dispatch, connect) == State.CANCELLED
    assert dispatch.reason == f"{staff.get_username()} cancelled the run: wrong drive; the run was still queued"
    assert dispatch.steps.last().reason == "the run was still queued"


def test_the_confirmation_of_the_worker_is_a_separate_entry(running, connect, staff):
    cancel(running, staff)
    poll_state(running, connect)
    requested, confirmed = list(running.steps.all())[-2:]
    assert (requested.actor, requested.to_state) == (staff.get_username(), State.RUNNING)
    assert (confirmed.actor, confirmed.to_state) == ("worker", State.CANCELLED)
