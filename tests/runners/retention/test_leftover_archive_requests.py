from datetime import timedelta

import pytest
from django.utils import timezone

from results.models import Event, Evidence, Submission
from runners.dispatch.orders import cancel, declare_ended
from runners.errors import HostUnavailableError
from runners.models import Device, Dispatch, Host
from runners.models.postgres import DISPATCH_LOCK
from runners.models.states import State
from runners.retention import cleanup
from runners.retention.cleanup import remove_old_run_dirs
from runners.retention.leftover_archive import (
    FETCH_REQUESTED,
    FOUND_NOTHING,
    FetchRefusedError,
    archive_event,
    is_fetch_pending,
    last_fetch_event,
    may_be_fetched,
    request_fetch,
)
from tests.results.builders import other_session
from tests.runners.fake_host import REAL_LOG
from tests.runners.lab import poll_state
from tests.runners.retention.test_cleanup import KEPT_S, age, left_of
from tests.runners.ssh_host import ssh_host

pytestmark = pytest.mark.django_db


@pytest.fixture
def cancelled(running, connect, staff):
    cancel(running, staff)
    assert poll_state(running, connect) == State.CANCELLED
    return running


@pytest.fixture
def requested(cancelled, staff):
    request_fetch(cancelled, staff)
    return cancelled


def fetched(dispatch, connect):
    """Return whether a turn of its host archives its leftover files."""
    remove_old_run_dirs(dispatch.device.host, connect)
    return archive_event(dispatch) is not None


def test_requested_files_of_a_cancelled_run_are_archived_in_the_next_turn_and_are_no_submission(
    cancelled, connect, staff
):
    assert not fetched(cancelled, connect)
    request_fetch(cancelled, staff)
    assert last_fetch_event(cancelled).actor == staff
    assert fetched(cancelled, connect)
    assert left_of(cancelled)[f"{cancelled}/log"] == REAL_LOG
    assert not Submission.objects.exists()
    assert last_fetch_event(cancelled).kind == FETCH_REQUESTED


def test_a_fetch_is_requested_once(requested, connect, staff):
    assert not may_be_fetched(requested)
    with pytest.raises(FetchRefusedError, match="no leftover files"):
        request_fetch(requested, staff)


def test_requested_files_of_a_lost_run_are_fetched_once_nothing_runs(running, connect, fake, staff):
    Dispatch.objects.update(state=State.LOST)
    assert not may_be_fetched(running)
    declare_ended(running, staff, "it was switched off")
    request_fetch(running, staff)
    assert not fetched(running, connect)
    fake.end(running.public_id, 5)
    assert fetched(running, connect)


@pytest.mark.parametrize("state", [State.CLAIMED, State.PREPARING, State.RUNNING])
def test_a_fetch_waits_while_a_run_may_be_measured_on_its_host(requested, new_dispatch, connect, state):
    other = Dispatch.objects.filter(pk=new_dispatch().pk)
    other.update(state=state)
    assert not fetched(requested, connect)
    other.update(state=State.QUEUED)
    assert fetched(requested, connect)


def test_a_dispatch_that_another_worker_archives_is_left_to_it(requested, connect):
    with other_session() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s, %s)", [DISPATCH_LOCK, requested.pk])
        assert not fetched(requested, connect)
    assert fetched(requested, connect)


def test_requested_files_that_are_too_large_are_fetched_after_the_limit_is_raised(requested, connect, settings):
    most, settings.UPLOAD_MAX_BYTES = settings.UPLOAD_MAX_BYTES, 10
    assert not fetched(requested, connect)
    settings.UPLOAD_MAX_BYTES = most
    assert fetched(requested, connect)


def test_a_fetch_from_a_silent_host_is_repeated_and_one_without_files_ends(requested, connect, fake):
    fake.is_silent = True
    assert not fetched(requested, connect)
    assert last_fetch_event(requested).kind == FETCH_REQUESTED
    fake.is_silent = False
    fake.lose(requested.public_id)
    assert not fetched(requested, connect)
    assert last_fetch_event(requested).kind == FOUND_NOTHING
    assert requested.public_id not in fake.files
    remove_old_run_dirs(requested.device.host, connect)
    assert Event.objects.filter(kind=FOUND_NOTHING).count() == 1
    assert not Evidence.objects.exists()


def test_files_that_were_not_found_may_be_requested_again(requested, connect, fake, staff):
    files = fake.files[requested.public_id]
    fake.lose(requested.public_id)
    assert not fetched(requested, connect)
    assert not is_fetch_pending(requested)
    fake.files[requested.public_id] = files
    assert not fetched(requested, connect)
    request_fetch(requested, staff)
    assert is_fetch_pending(requested)


def test_a_fetch_that_waits_for_a_silent_host_delays_no_other_removal(
    requested, new_dispatch, connect, fake, settings, monkeypatch
):
    old = new_dispatch()
    poll_state(old, connect)
    fake.write_log(old.public_id)
    fake.end(old.public_id, 0)
    assert poll_state(old, connect) == State.DONE
    settings.RUN_DIR_RETENTION_S = KEPT_S
    age(old)

    def silent(dispatch, connect_host):
        raise HostUnavailableError(f"{dispatch}: its second host does not answer")

    monkeypatch.setattr(cleanup, "fetch_leftovers", silent)
    remove_old_run_dirs(requested.device.host, connect)
    old.refresh_from_db()
    assert old.run_dirs_removed_at is not None


def test_a_retired_host_gets_no_request(cancelled, staff):
    Host.objects.update(retired_at=cancelled.ended_at)
    assert not may_be_fetched(Dispatch.objects.get())
    Host.objects.update(retired_at=None)
    request_fetch(Dispatch.objects.get(), staff)
    assert is_fetch_pending(Dispatch.objects.get())
    Host.objects.update(retired_at=cancelled.ended_at)
    assert not is_fetch_pending(Dispatch.objects.get())


def test_a_fetch_from_a_host_over_ssh_makes_its_check_due_at_once(cancelled, staff):
    host = ssh_host(next_check_at=timezone.now() + timedelta(hours=1))
    Device.objects.update(host=host)
    request_fetch(Dispatch.objects.get(), staff)
    host.refresh_from_db()
    assert host.next_check_at <= timezone.now()
