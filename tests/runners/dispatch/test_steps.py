from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from results.models import Evidence, Reading, Submission
from runners.dispatch.orders import Order, order
from runners.dispatch.poll_scheduler import poll_reachable
from runners.dispatch.steps import advance
from runners.errors import DeviceUnknownError, ProgramMissingError
from runners.models import Device, Dispatch, Step
from runners.models.states import FINAL, State
from tests.runners.fake_host import REAL_LOG, WorkerKilledError
from tests.runners.lab import add_outage, poll, poll_all, poll_state

pytestmark = pytest.mark.django_db


def test_an_ordered_dispatch_is_started_once(dispatch, connect, fake):
    assert poll_state(dispatch, connect) == State.RUNNING
    assert poll_state(dispatch, connect) == State.RUNNING
    assert (fake.starts_count, dispatch.pid, dispatch.generation) == (1, 4001, 1)
    assert "read-reqs-per-sec: 2000\n" in fake.files[dispatch.public_id]["config"].decode()


def test_a_start_takes_five_requests_to_the_host(dispatch, fake):
    """Each is a round trip, through an agent in particular."""
    requests = []

    class Recorded:
        def __getattr__(self, name):
            if name != "timer":
                requests.append(name)
            return getattr(fake, name)

    assert poll_state(dispatch, lambda _: Recorded()) == State.RUNNING
    assert requests[: requests.index("start") + 1] == ["identify", "status", "identify", "put", "start"]


def test_each_advance_makes_one_step(dispatch, connect):
    states = [dispatch.state]
    while advance(dispatch, connect):
        states.append(dispatch.state)
    assert states == [State.QUEUED, State.CLAIMED, State.PREPARING, State.RUNNING]
    assert list(dispatch.steps.values_list("to_state", flat=True)) == states[1:]


def test_a_running_dispatch_shows_the_figures_of_its_log(running, connect):
    poll_state(running, connect)
    assert (running.last_label_s, running.log_bytes) == (60, len(REAL_LOG))
    assert running.progress["reads_count"] == 480006
    assert running.heartbeat_at is not None


def test_a_poll_of_a_running_program_makes_three_statements(running, connect, django_assert_num_queries):
    Dispatch.objects.update(reason="an internal error occurred", heartbeat_at=timezone.now())
    with django_assert_num_queries(3):  # lock and row, update, unlock
        assert poll_reachable(running.pk, connect, has_open_outage=False)
    running.refresh_from_db()
    assert (running.last_label_s, running.reason) == (60, "")


def test_the_log_of_a_finished_run_is_submitted_through_the_intake(running, connect, fake):
    fake.end(running.public_id, 0)
    assert poll_state(running, connect) == State.DONE
    assert (running.submission.origin, running.submission.slice_length_s) == ("dispatch", 10)
    assert running.submission.log.size_bytes == len(REAL_LOG)
    assert running.ended_at is not None


@pytest.mark.parametrize(
    ("exit_status", "end", "word"),
    [
        (0, State.DONE, "the program finished"),
        (4, State.DONE, "could not keep up"),
        (3, State.FAILED, "I/O error"),
        (5, State.FAILED, "interrupted"),
        (64, State.FAILED, "configuration"),
        (139, State.FAILED, "exit status 139"),
        (None, State.FAILED, "ended unobserved"),
    ],
)
def test_the_exit_of_a_program_decides_the_end_and_its_log_is_stored(running, connect, fake, exit_status, end, word):
    fake.end(running.public_id, exit_status)
    assert poll_state(running, connect) == end
    assert word in running.reason
    assert running.submission.log.size_bytes == len(REAL_LOG)


def test_a_program_that_wrote_no_log_failed(dispatch, connect, fake):
    poll_state(dispatch, connect)
    fake.end(dispatch.public_id, 3)
    assert poll_state(dispatch, connect) == State.FAILED
    assert "no log" in dispatch.reason
    assert not Evidence.objects.exists()


@pytest.mark.parametrize("call", ["identify", "put", "start", "status", "fetch", "hand in"])
def test_a_worker_killed_after_any_call_leaves_one_run_and_one_evidence(dispatch, connect, fake, call):
    fake.dies_after = call
    for _ in range(3):
        try:
            poll(dispatch.pk, connect)
        except WorkerKilledError:
            continue
        if dispatch.public_id in fake.programs:
            fake.write_log(dispatch.public_id)
            fake.end(dispatch.public_id, 0)
    assert poll_state(dispatch, connect) == State.DONE
    assert (fake.starts_count, fake.most_loads, dispatch.pid) == (1, 1, 4001)
    assert (Submission.objects.count(), Evidence.objects.count(), Reading.objects.count()) == (1, 1, 1)


def test_a_repetition_of_a_start_that_was_not_saved_reports_the_same_process(dispatch, connect, fake):
    fake.dies_after = "start"
    with pytest.raises(WorkerKilledError):
        poll(dispatch.pk, connect)
    dispatch.refresh_from_db()
    assert (dispatch.state, dispatch.pid) == (State.PREPARING, None)
    assert poll_state(dispatch, connect) == State.RUNNING
    assert (dispatch.pid, fake.starts_count) == (4001, 1)


def test_an_earlier_start_that_takes_effect_after_the_status_is_the_only_load(in_state, connect, fake):
    dispatch = in_state(State.PREPARING)
    identify = fake.identify

    def take_effect_then_identify(path):
        fake.start(dispatch.public_id, dispatch.drive_key, dispatch.generation, [])
        return identify(path)

    fake.identify = take_effect_then_identify
    assert poll_state(dispatch, connect) == State.RUNNING
    assert (fake.starts_count, fake.most_loads, dispatch.pid) == (1, 1, 4001)


def test_a_repeated_start_does_not_check_the_drive_of_its_own_program(dispatch, connect, fake):
    fake.dies_after = "start"
    with pytest.raises(WorkerKilledError):
        poll(dispatch.pk, connect)
    fake.add_drive(refusals=["/dev/fake0: opened by pid 4001"])
    assert poll_state(dispatch, connect) == State.RUNNING


@pytest.mark.parametrize("end", sorted(FINAL))
def test_after_the_end_nothing_changes(in_state, connect, fake, end):
    dispatch = in_state(end, cancel_requested_at=timezone.now(), ended_at=timezone.now())
    assert not advance(dispatch, connect)
    assert poll_state(dispatch, connect) == end
    assert not Step.objects.exists()
    assert (fake.starts_count, fake.stops_count) == (0, 0)


def test_a_host_that_cannot_start_fails_the_dispatch(dispatch, connect, fake):
    fake.cannot_start = True
    assert poll_state(dispatch, connect) == State.FAILED
    assert dispatch.reason == "cannot fork"


@pytest.mark.parametrize(
    ("error", "end"), [(DeviceUnknownError("gone"), State.REFUSED), (ProgramMissingError("none"), State.FAILED)]
)
def test_an_error_that_a_retry_cannot_fix_ends_the_dispatch(dispatch, fake, error, end):
    class Failing:
        def identify(self, path):
            raise error

        def find(self, drive_key, size_bytes):
            return ["/dev/fake8", "/dev/fake9"]

    assert poll_state(dispatch, lambda host: Failing()) == end
    assert dispatch.reason == str(error)


def test_an_error_does_not_end_a_dispatch_whose_program_may_still_run(in_state):
    class Failing:
        def status(self, run):
            raise ProgramMissingError("none")

    dispatch = in_state(State.RUNNING)
    assert poll_state(dispatch, lambda host: Failing()) == State.RUNNING
    assert dispatch.silent_since is not None


@pytest.mark.parametrize("state", [State.CLAIMED, State.PREPARING, State.RUNNING, State.COLLECTING])
@pytest.mark.parametrize(("silent_s", "is_lost"), [(0, False), (899, False), (901, True)])
@pytest.mark.usefixtures("frozen_clock")
def test_a_host_that_is_silent_for_too_long_loses_the_dispatch(in_state, connect, fake, state, silent_s, is_lost):
    dispatch = in_state(state, silent_since=timezone.now() - timedelta(seconds=silent_s) if silent_s else None)
    fake.is_silent = True
    assert poll_state(dispatch, connect) == (State.LOST if is_lost else state)
    retried = "a request to the host failed, and the register repeats it: fake: "
    assert dispatch.reason.startswith("the host has given no usable answer since " if is_lost else retried)


def test_a_lost_dispatch_names_the_last_answer_and_not_the_poll_that_failed(in_state, connect, fake):
    failed_at = timezone.now() - timedelta(seconds=901)
    last_answer = failed_at - timedelta(seconds=20)
    dispatch = in_state(State.RUNNING, silent_since=failed_at)
    add_outage(dispatch, last_answer)
    fake.is_silent = True
    assert poll_state(dispatch, connect) == State.LOST
    assert f"the host has given no usable answer since {last_answer:%Y-%m-%d %H:%M:%S} UTC: " in dispatch.reason


def test_an_answer_ends_the_outage_of_a_host(running, connect, fake):
    fake.is_silent = True
    poll_state(running, connect)
    assert running.silent_since is not None
    fake.is_silent = False
    poll_state(running, connect)
    assert (running.silent_since, running.reason) == (None, "")


def test_a_run_directory_that_vanished_loses_the_dispatch(running, connect, fake):
    fake.lose(running.public_id)
    assert poll_state(running, connect) == State.LOST
    assert "no longer has the run directory" in running.reason


def test_a_log_that_vanished_before_it_was_collected_loses_the_dispatch(in_state, connect, fake):
    assert poll_state(in_state(State.COLLECTING, exit_status=0), connect) == State.LOST


@pytest.mark.parametrize("file", ["stderr", "log"])
def test_zeros_in_the_files_of_a_program_do_not_delay_its_end(running, connect, fake, file):
    fake.files[running.public_id][file] = b"before\0after\n"
    fake.end(running.public_id, 3)
    assert poll_state(running, connect) == State.FAILED
    assert "internal error" not in running.reason


def test_a_log_too_large_for_the_register_ends_the_dispatch_and_stays_on_the_host(running, connect, fake, settings):
    settings.UPLOAD_MAX_BYTES = len(REAL_LOG) - 1
    fake.end(running.public_id, 0)
    assert poll_state(running, connect) == State.FAILED
    assert "is still on the host" in running.reason


def test_a_failure_of_the_evidence_store_is_retried(running, connect, fake, settings, tmp_path):
    (tmp_path / "in-the-way").write_text("a file where a directory should be")
    settings.EVIDENCE_DIR = tmp_path / "in-the-way"
    fake.end(running.public_id, 0)
    assert poll_state(running, connect) == State.COLLECTING
    assert "internal error" in running.reason
    settings.EVIDENCE_DIR = tmp_path / "evidence"
    assert poll_state(running, connect) == State.DONE
    assert running.reason == "the program finished"


def test_an_internal_error_in_one_dispatch_does_not_stop_the_others(dispatch, other_drive, a_lab, staff, connect, fake):
    other = order(other_drive, a_lab, Order(Decimal(1), 60, 10), staff)
    fake.drives[dispatch.device.path] = None  # causes an internal error: AttributeError
    poll_all(connect)
    other.refresh_from_db()
    dispatch.refresh_from_db()
    assert (dispatch.state, other.state) == (State.CLAIMED, State.RUNNING)
    assert "AttributeError" in dispatch.reason


@pytest.mark.parametrize(("kind", "is_virtual"), [("virtual", True), ("nvme", False)])
def test_the_intake_gets_whether_the_device_may_certify(running, connect, fake, kind, is_virtual):
    Device.objects.update(identity_kind=kind)
    fake.end(running.public_id, 0)
    poll_state(running, connect)
    assert running.submission.is_virtual is is_virtual
