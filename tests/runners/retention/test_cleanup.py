import tarfile
from datetime import timedelta

import pytest
from django.utils import timezone

from results.evidence.store import EvidenceDamagedError, open_evidence
from results.models import Event, Evidence
from runners.dispatch.orders import Order, cancel, order
from runners.errors import HostUnavailableError, StartRefusedError
from runners.models import Device, Dispatch, Host
from runners.models.postgres import DISPATCH_LOCK
from runners.models.states import State
from runners.retention.cleanup import remove_old_run_dirs
from tests.results.builders import other_session
from tests.runners.fake_host import REAL_LOG, Program, WorkerKilledError
from tests.runners.lab import poll_state

pytestmark = pytest.mark.django_db
KEPT_S = 1000


@pytest.fixture(autouse=True)
def kept_s(settings):
    settings.RUN_DIR_RETENTION_S = KEPT_S


@pytest.fixture
def done(running, connect, fake):
    fake.end(running.public_id, 0)
    assert poll_state(running, connect) == State.DONE
    return age(running)


@pytest.fixture
def followed(done, new_dispatch, connect):
    """Return a run with a later run on the same drive."""
    poll_state(new_dispatch(), connect)
    return done


def age(dispatch, seconds=KEPT_S + 1):
    Dispatch.objects.filter(pk=dispatch.pk).update(ended_at=timezone.now() - timedelta(seconds=seconds))
    return dispatch


def remove(dispatch, connect):
    """Return whether a turn removes the run directory."""
    remove_old_run_dirs(dispatch.device.host, connect)
    dispatch.refresh_from_db()
    return dispatch.run_dirs_removed_at is not None


def test_an_old_run_directory_is_removed_and_its_evidence_stays(followed, connect, fake):
    assert remove(followed, connect)
    assert followed.public_id not in fake.files
    assert followed.submission.log.size_bytes > 0


def test_the_newest_run_of_a_drive_is_removed_and_a_late_start_of_it_begins_nothing(done, connect, fake):
    assert remove(done, connect)
    assert done.public_id not in fake.files
    with pytest.raises(StartRefusedError):
        fake.start(done.public_id, done.drive_key, done.generation, [])
    assert fake.starts_count == 1


def test_a_run_directory_stays_while_its_drive_is_locked(done, connect, fake):
    fake.programs["another"] = Program(9, done.drive_key, done.generation)
    assert not remove(done, connect)
    assert done.public_id in fake.files


@pytest.mark.parametrize("seconds", [0, KEPT_S - 10])
def test_a_recent_run_directory_stays(followed, connect, seconds):
    assert not remove(age(followed, seconds), connect)


def test_nothing_is_removed_with_a_period_of_0(followed, connect, settings):
    settings.RUN_DIR_RETENTION_S = 0
    assert not remove(followed, connect)


def left_of(dispatch):
    """Return the archived files of a dispatch that ended without a run, by name."""
    evidence = Evidence.objects.get(filename=f"{dispatch.public_id}-left.tar")
    assert not evidence.readings.exists()
    with open_evidence(evidence) as stream, tarfile.open(fileobj=stream) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar}


def test_leftover_files_of_a_cancelled_run_are_archived_before_they_are_removed(running, connect, staff, fake):
    cancel(running, staff)
    assert poll_state(running, connect) == State.CANCELLED
    assert remove(age(running), connect)
    assert running.public_id not in fake.files
    assert left_of(running)[f"{running.public_id}/log"] == REAL_LOG
    assert running.submission is None


def test_leftover_files_of_a_lost_run_are_archived_once_its_end_is_known(running, connect, fake):
    Dispatch.objects.filter(pk=running.pk).update(state=State.LOST)
    assert not remove(running, connect)
    fake.end(running.public_id, None)
    assert remove(age(running), connect)
    assert f"{running.public_id}/log" in left_of(running)


def test_a_lost_run_that_a_person_has_freed_stays_while_its_program_runs(running, connect, fake):
    Dispatch.objects.filter(pk=running.pk).update(state=State.LOST)
    assert not remove(age(running), connect)
    assert running.public_id in fake.files
    assert not Evidence.objects.exists()  # its log still grows


def test_leftover_files_are_archived_once_if_the_worker_is_killed_at_any_point(running, connect, staff, fake):
    cancel(running, staff)
    poll_state(running, connect)
    age(running)
    fake.dies_after = "remove"
    with pytest.raises(WorkerKilledError):
        remove_old_run_dirs(running.device.host, connect)
    assert remove(running, connect)
    assert Event.objects.filter(kind="evidence-kept", subject_id=running.public_id).count() == 1


def test_a_cancelled_run_that_left_nothing_leaves_no_evidence(running, connect, staff, fake):
    cancel(running, staff)
    poll_state(running, connect)
    fake.files[running.public_id] = {}
    assert remove(age(running), connect)
    assert not Evidence.objects.exists()


def test_leftover_files_that_are_too_large_stay(running, connect, staff, fake, settings):
    settings.UPLOAD_MAX_BYTES = 10
    cancel(running, staff)
    poll_state(running, connect)
    assert not remove(age(running), connect)
    assert running.public_id in fake.files


def test_a_log_too_large_for_the_intake_stays_until_the_limit_is_raised(running, connect, fake, settings):
    may_be_kept, settings.UPLOAD_MAX_BYTES = settings.UPLOAD_MAX_BYTES, 10
    fake.end(running.public_id, 0)
    assert poll_state(running, connect) == State.FAILED
    assert not remove(age(running), connect)
    settings.UPLOAD_MAX_BYTES = may_be_kept
    assert remove(running, connect)
    assert left_of(running)[f"{running.public_id}/log"] == REAL_LOG


def test_a_run_that_wrote_no_log_is_removed(dispatch, connect, fake, new_dispatch):
    poll_state(dispatch, connect)
    fake.end(dispatch.public_id, 3)
    assert poll_state(dispatch, connect) == State.FAILED
    poll_state(new_dispatch(), connect)
    assert remove(age(dispatch), connect)


def test_a_lost_run_without_a_confirmed_end_stays(followed, connect):
    Dispatch.objects.filter(pk=followed.pk).update(state=State.LOST, ended_at=None)
    assert not remove(followed, connect)


def test_a_removal_that_the_host_refuses_is_repeated(followed, connect, fake):
    fake.programs[followed.public_id].is_running = True
    assert not remove(followed, connect)
    fake.end(followed.public_id, 0)
    assert remove(followed, connect)


def test_a_worker_killed_after_the_removal_leaves_it_to_the_next(followed, connect, fake):
    fake.dies_after = "remove"
    with pytest.raises(WorkerKilledError):
        remove_old_run_dirs(followed.device.host, connect)
    assert remove(followed, connect)


def test_a_host_that_does_not_answer_gets_no_more_requests_in_this_turn(
    followed, connect, fake, monkeypatch, new_dispatch
):
    requests = []

    def fall_silent(*arguments):
        requests.append(arguments)
        raise HostUnavailableError("no answer")

    monkeypatch.setattr(fake, "remove", fall_silent)
    Dispatch.objects.filter(state=State.RUNNING).update(state=State.FAILED, collected_at=timezone.now())
    for dispatch in Dispatch.objects.exclude(pk=followed.pk):
        age(dispatch)
    poll_state(new_dispatch(), connect)
    assert not remove(followed, connect)
    assert len(requests) == 1


def test_every_stage_of_a_sweep_is_removed(device, a_lab, staff, connect, fake, new_dispatch):
    options = {"preset": "micron-7450-rocksdb", "record_count": 10, "operation_count": 20, "threads": [1]}
    sweep = order(device, a_lab, Order(recipe="ycsb", options=options), staff)
    while poll_state(sweep, connect) == State.RUNNING:
        (run,) = [name for name, program in fake.programs.items() if program.is_running]
        fake.files[run] |= {"log": b"[OVERALL], RunTime(ms), 10\n", "stderr": b"", "side.jsonl": b""}
        fake.end(run, 0)
    assert sweep.state == State.DONE
    poll_state(new_dispatch(), connect)
    assert remove(age(sweep), connect)
    assert not [run for run in fake.files if run.startswith(sweep.public_id)]


@pytest.fixture
def cancelled_and_done(running, connect, staff, fake, new_dispatch):
    """Return two dispatches: the files of one are to be archived, those of the other are stored."""
    cancel(running, staff)
    assert poll_state(running, connect) == State.CANCELLED
    second = new_dispatch()
    poll_state(second, connect)
    fake.write_log(second.public_id)
    fake.end(second.public_id, 0)
    assert poll_state(second, connect) == State.DONE
    return age(running), age(second)


@pytest.mark.parametrize("error", [OSError("no space"), EvidenceDamagedError("not what was stored")])
def test_a_dispatch_that_cannot_be_archived_is_named_and_stops_no_other(
    cancelled_and_done, connect, monkeypatch, caplog, error
):
    def fail(*arguments):
        raise error

    monkeypatch.setattr("runners.retention.cleanup.archive_leftovers", fail)
    cancelled, done = cancelled_and_done
    assert remove(done, connect)
    assert f"{cancelled.public_id}: its run directories stay on local: {error}" in caplog.text


def test_a_dispatch_that_another_worker_archives_is_left_to_it(running, connect, staff, fake):
    cancel(running, staff)
    poll_state(running, connect)
    with other_session() as worker:
        worker.execute("SELECT pg_advisory_lock(%s, %s)", [DISPATCH_LOCK, running.pk])
        assert not remove(age(running), connect)
        assert running.public_id in fake.files
        assert not Evidence.objects.exists()
        worker.execute("SELECT pg_advisory_unlock(%s, %s)", [DISPATCH_LOCK, running.pk])
    assert remove(running, connect)


def test_a_directory_that_another_worker_has_removed_is_not_requested_again(
    cancelled_and_done, connect, fake, monkeypatch
):
    requests = []

    def remove_as_another_does(*arguments):
        requests.append(arguments)
        Dispatch.objects.update(run_dirs_removed_at=timezone.now())
        return ""

    monkeypatch.setattr(fake, "remove", remove_as_another_does)
    remove_old_run_dirs(cancelled_and_done[0].device.host, connect)
    assert len(requests) == 1


def test_a_turn_archives_the_leftover_files_of_one_dispatch(connect, staff, new_dispatch):
    for _ in range(2):
        dispatch = new_dispatch()
        poll_state(dispatch, connect)
        cancel(dispatch, staff)
        assert poll_state(dispatch, connect) == State.CANCELLED
        age(dispatch)
    for removed_count in (1, 2):
        remove(dispatch, connect)
        assert Dispatch.objects.filter(run_dirs_removed_at__isnull=False).count() == removed_count


def test_nothing_is_fetched_from_a_host_under_a_load(cancelled_and_done, new_dispatch, connect, fake):
    cancelled, done = cancelled_and_done
    under_load = new_dispatch()
    assert poll_state(under_load, connect) == State.RUNNING
    assert remove(done, connect)
    assert not remove(cancelled, connect)
    fake.end(under_load.public_id, 3)
    poll_state(under_load, connect)
    assert remove(cancelled, connect)


def test_nothing_is_fetched_from_a_host_that_sends_a_load(cancelled_and_done, new_dispatch, connect):
    cancelled, _ = cancelled_and_done
    elsewhere = {"host": Host.objects.create(name="elsewhere", kind="local"), "identity": {}, "size_bytes": 1}
    drive = Device.objects.create(label="b", identity_kind="virtual", drive_key="b", path="/b", **elsewhere)
    sending = {"device": drive, "load_host": cancelled.device.host, "state": State.RUNNING}
    Dispatch.objects.filter(pk=new_dispatch().pk).update(**sending)
    assert not remove(cancelled, connect)
    Dispatch.objects.filter(load_host__isnull=False).update(state=State.FAILED)
    assert remove(cancelled, connect)
