import pytest

from results.evidence_store import TooLargeError
from results.models import Evidence, Submission
from runners.errors import HostSilentError
from runners.fetch_now import FetchRefusedError, fetch_now, may_be_fetched
from runners.locks import DISPATCH
from runners.models import Dispatch, Host
from runners.orders import cancel, declare_ended
from runners.states import State
from tests.results.builders import other_session
from tests.runners.fake_host import REAL_LOG
from tests.runners.lab import see
from tests.runners.test_run_dirs import left_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def cancelled(running, connect, staff):
    cancel(running, staff)
    assert see(running, connect) == State.CANCELLED
    return running


def test_what_a_cancelled_run_left_is_kept_once_and_is_no_submission(cancelled, connect):
    assert may_be_fetched(cancelled)
    assert fetch_now(cancelled, connect)
    assert left_of(cancelled)[f"{cancelled}/log"] == REAL_LOG
    assert not Submission.objects.exists()
    assert not may_be_fetched(cancelled)
    with pytest.raises(FetchRefusedError, match="nothing of"):
        fetch_now(cancelled, connect)


def test_what_a_lost_run_left_is_fetched_once_it_is_known_that_nothing_runs(running, connect, fake, staff):
    Dispatch.objects.update(state=State.LOST)
    assert not may_be_fetched(running)
    declare_ended(running, staff, "it was switched off")
    with pytest.raises(FetchRefusedError, match="its program still runs on local"):
        fetch_now(running, connect)
    fake.end(running.public_id, 5)
    assert fetch_now(running, connect)


@pytest.mark.parametrize("state", [State.PREPARING, State.RUNNING])
def test_nothing_is_fetched_from_a_host_that_is_measured(cancelled, new_dispatch, connect, state):
    Dispatch.objects.filter(pk=new_dispatch().pk).update(state=state)
    with pytest.raises(FetchRefusedError, match="a run is measured on local"):
        fetch_now(cancelled, connect)


def test_one_that_another_worker_is_at_is_left_to_it(cancelled, connect):
    with other_session() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s, %s)", [DISPATCH, cancelled.pk])
        with pytest.raises(FetchRefusedError, match="a worker is at"):
            fetch_now(cancelled, connect)


def test_what_is_too_large_is_not_asked_for_again_before_more_may_be_kept(cancelled, connect, settings):
    most, settings.UPLOAD_MAX_BYTES = settings.UPLOAD_MAX_BYTES, 10
    with pytest.raises(TooLargeError):
        fetch_now(cancelled, connect)
    assert not may_be_fetched(cancelled)
    settings.UPLOAD_MAX_BYTES = most
    assert may_be_fetched(cancelled)


def test_a_host_that_has_nothing_of_it_says_so_and_a_silent_one_is_asked_again(cancelled, connect, fake):
    fake.is_silent = True
    with pytest.raises(HostSilentError):
        fetch_now(cancelled, connect)
    fake.is_silent = False
    fake.lose(cancelled.public_id)
    assert not fetch_now(cancelled, connect)
    assert not Evidence.objects.exists()


def test_a_retired_host_is_not_asked(cancelled, connect):
    Host.objects.update(retired_at=cancelled.ended_at)
    cancelled.refresh_from_db()
    assert not may_be_fetched(Dispatch.objects.get())
