"""Outages of hosts, as the polls of a dispatch record them."""

import socket
import threading
from datetime import UTC, datetime, timedelta
from unittest.mock import Mock

import pytest
from django.db import transaction
from django.utils import timezone

from runners.errors import FileMissingError, HostFaultError, HostUnavailableError
from runners.hosts.protocol import ResponseTimer, WaitPeriod
from runners.hosts.ssh import SshHost
from runners.lifecycle.transitions import transition
from runners.models import Dispatch, Host, HostOutage
from runners.models.states import State
from runners.monitoring import connectivity
from runners.monitoring.connectivity import recording_connect
from tests.runners.fake_host import FakeHost
from tests.runners.lab import add_outage
from tests.runners.ssh_host import ssh_host
from tests.runners.threads import in_threads, wait_for_session_blocked_by_us
from webapp.lab.shared.outages import current_outage_message, current_outages, outage_lines

pytestmark = pytest.mark.django_db
RUN = "d-one"
TIMEOUT_S = 90
FROZEN = pytest.mark.usefixtures("frozen_clock")


@pytest.fixture(autouse=True)
def no_answers_before(monkeypatch):
    monkeypatch.setattr(connectivity, "_last_answers", {})


@pytest.fixture
def gateway():
    """Yield the port of a gateway that accepts one connection and closes it without an answer."""

    def accept_one():
        connection, _ = listener.accept()
        connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(TIMEOUT_S)
        accepting = threading.Thread(target=accept_one)
        accepting.start()
        yield listener.getsockname()[1]
        accepting.join()


@pytest.fixture
def sweep(in_state):
    """Return a dispatch whose drive is on one host and whose requests come from another."""
    load = Host.objects.create(name="sender", kind="local", machine_id="of-another")
    return in_state(State.RUNNING, load_host=load, heartbeat_at=timezone.now() - timedelta(seconds=4))


@pytest.fixture
def fakes(sweep):
    """Return the fake hosts by name; a test can silence each of them."""
    return {host.name: FakeHost() for host in (sweep.device.host, sweep.load_host)}


@pytest.fixture
def poll_host(fakes):
    """Send one request for a dispatch to a host, as a worker that has just started, and return whether it answered."""

    def send(dispatch, name):
        fresh = Dispatch.objects.get(pk=dispatch.pk)
        host = Host.objects.get(name=name)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(connectivity, "_last_answers", {})
            try:
                recording_connect(fresh, lambda host: fakes[host.name])(host).status(RUN)
            except HostUnavailableError:
                return False
        return True

    return send


def open_outages(dispatch):
    return dict(dispatch.outages.filter(until=None).values_list("host__name", "since"))


def test_an_outage_is_recorded_for_the_host_that_did_not_answer(sweep, fakes, poll_host):
    fakes["sender"].is_silent = True
    assert not poll_host(sweep, "sender")
    assert poll_host(sweep, "local")
    fakes["sender"].is_silent = False
    assert poll_host(sweep, "sender")
    outage = sweep.outages.get()
    assert (outage.host.name, outage.cause, outage.is_answered) == ("sender", "no-answer", True)
    assert outage.until - outage.since >= timedelta(seconds=4)


def test_two_hosts_have_separate_outages(sweep, fakes, poll_host):
    for fake in fakes.values():
        fake.is_silent = True
    assert not poll_host(sweep, "local")
    assert not poll_host(sweep, "sender")
    assert set(open_outages(sweep)) == {"local", "sender"}
    fakes["local"].is_silent = False
    assert poll_host(sweep, "local")
    assert set(open_outages(sweep)) == {"sender"}


def test_one_outage_of_a_host_names_all_dispatches_that_it_affects(sweep, fakes, poll_host, other_drive):
    other = Dispatch.objects.get(pk=sweep.pk)
    other.pk, other.public_id, other.device, other.drive_key = None, "d-other", other_drive, other_drive.drive_key
    other.save()
    fakes["local"].is_silent = True
    for dispatch in (sweep, other, sweep):
        assert not poll_host(dispatch, "local")
    outage = HostOutage.objects.get()
    assert set(outage.dispatches.all()) == {sweep, other}
    fakes["local"].is_silent = False
    assert poll_host(other, "local")
    assert open_outages(sweep) == {}


def test_a_host_that_reports_its_own_fault_has_an_outage_with_that_cause(sweep, fakes):
    full = HostFaultError("lab-1: no space left on device")
    host = recording_connect(sweep, lambda host: fakes[host.name])(sweep.load_host)
    fakes["sender"].put = Mock(side_effect=full)
    with pytest.raises(HostFaultError):
        host.put(RUN, {})
    assert sweep.outages.get().cause == HostOutage.Cause.HOST_ERROR


def test_an_error_of_the_host_is_an_answer(sweep, fakes, poll_host):
    fakes["sender"].is_silent = True
    poll_host(sweep, "sender")
    fakes["sender"].is_silent = False
    connect = recording_connect(Dispatch.objects.get(pk=sweep.pk), lambda host: fakes[host.name])
    with pytest.raises(FileMissingError):
        connect(sweep.load_host).read(RUN, "log", 0, 1)
    assert open_outages(sweep) == {}


def test_an_outage_begins_with_the_last_answer_of_the_host_for_any_dispatch(sweep, fakes):
    sender = recording_connect(sweep, lambda host: fakes[host.name])(sweep.load_host)
    sender.status(RUN)
    fakes["sender"].is_silent = True
    with pytest.raises(HostUnavailableError):
        sender.status(RUN)
    assert open_outages(sweep)["sender"] > sweep.heartbeat_at + timedelta(seconds=3)


def test_an_outage_begins_no_later_than_the_request_that_failed(sweep, fakes, poll_host):
    later = timezone.now() + timedelta(hours=1)  # a clock that was set back since
    Dispatch.objects.filter(pk=sweep.pk).update(heartbeat_at=later)
    fakes["sender"].is_silent = True
    poll_host(sweep, "sender")
    assert open_outages(sweep)["sender"] <= timezone.now()


def test_a_connection_that_a_gateway_accepts_is_no_answer_of_the_host(in_state, gateway):
    """A gateway may accept connections for a host that is cut off. The outage began with its last answer."""
    answered_at = timezone.now() - timedelta(seconds=21)
    dispatch = in_state(State.RUNNING, heartbeat_at=answered_at)
    lab = ssh_host(address="127.0.0.1", port=gateway)
    with pytest.raises(HostUnavailableError):
        recording_connect(dispatch, SshHost)(lab).status(RUN)
    assert open_outages(dispatch) == {"lab-1": answered_at}


@pytest.mark.parametrize(
    ("state", "is_recorded"), [(State.CLAIMED, False), (State.PREPARING, True), (State.LOST, False)]
)
def test_an_outage_is_recorded_only_while_a_dispatch_may_be_on_its_host(in_state, fakes, poll_host, state, is_recorded):
    fakes["local"].is_silent = True
    dispatch = in_state(state)
    poll_host(dispatch, "local")
    assert bool(open_outages(dispatch)) is is_recorded


@FROZEN
def test_the_page_names_the_host_that_does_not_answer(sweep):
    add_outage(sweep, timezone.now() - timedelta(seconds=30))
    outage = add_outage(sweep, timezone.now() - timedelta(seconds=12), host=sweep.load_host, cause="host-error")
    assert current_outage_message(sweep) == "no answer from local for 30 s, only errors from sender for 12 s"
    HostOutage.objects.exclude(pk=outage.pk).delete()
    assert current_outages(Dispatch.objects.get()) == [("only errors from sender", 12)]


@FROZEN
def test_the_page_names_both_hosts_if_only_the_heartbeat_is_late(sweep):
    sweep.heartbeat_at, sweep.next_poll_at = (timezone.now() - timedelta(seconds=seconds) for seconds in (40, 38))
    assert current_outage_message(sweep) == "no answer recorded from local or sender for 40 s"


@FROZEN
@pytest.mark.parametrize("end", [State.FAILED, State.LOST])
def test_an_outage_ends_with_the_last_dispatch_that_depended_on_the_host(sweep, end):
    add_outage(sweep, timezone.now() - timedelta(seconds=31))
    transition(sweep, State.RUNNING, end, "it failed")
    (line,) = outage_lines(sweep)
    assert line.detail.startswith("no answer from local for 31 s, since ")
    assert line.detail.endswith("; it had not answered when the dispatch ended")
    assert open_outages(sweep) == {}


@pytest.fixture
def second(sweep, other_drive):
    """Return a second dispatch on the same hosts, on another drive."""
    second = Dispatch.objects.get(pk=sweep.pk)
    second.pk, second.public_id, second.device, second.drive_key = None, "d-other", other_drive, other_drive.drive_key
    second.save()
    return second


def test_an_outage_continues_while_another_dispatch_depends_on_the_host(sweep, second):
    add_outage(sweep, timezone.now()).dispatches.add(second)
    transition(sweep, State.RUNNING, State.FAILED, "it failed")
    assert set(open_outages(sweep)) == {"local"}
    transition(second, State.RUNNING, State.FAILED, "it failed")
    assert open_outages(sweep) == {}


@pytest.mark.django_db(transaction=True)
def test_an_outage_also_ends_if_the_last_two_dispatches_that_depend_on_the_host_end_at_once(sweep, second):
    def end(dispatch):
        transition(dispatch, State.RUNNING, State.FAILED, "it failed")

    add_outage(sweep, timezone.now()).dispatches.add(second)
    ending = threading.Thread(target=in_threads, args=[end, [second]])
    with transaction.atomic():
        end(sweep)
        ending.start()
        wait_for_session_blocked_by_us()
    ending.join()
    assert open_outages(sweep) == {}


NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


class SlowHost(FakeHost):
    """A host whose response timer measured a wait in each answer, as over SSH."""

    def __init__(self, wait_s, worked_ms):
        super().__init__()
        self.timer = ResponseTimer()
        self.wait_s, self.worked_ms = wait_s, worked_ms

    def status(self, run):
        self.timer.longest = WaitPeriod(NOON, self.wait_s)
        self.timer.add_work(self.worked_ms)
        return super().status(run)


@pytest.mark.parametrize("state", [State.RUNNING, State.COLLECTING])
@pytest.mark.parametrize(
    ("wait_s", "worked_ms", "shown"),
    [
        (0.99, 0, None),
        (1.0, 0, "1.0 s, since 12:00:00 UTC"),
        (12, 0, "12 s, since 12:00:00 UTC"),
        (19, 0, "19 s, since 12:00:00 UTC"),
        (10.9, 10_000, None),  # a run between two states: its host reports the time
        (13, 10_000, "3.0 s, since 12:00:10 UTC"),
        (10.9, None, None),  # a program that does not report its time may have worked for 10 s
        (11.0, None, "11 s, since 12:00:00 UTC"),
    ],
)
def test_a_late_answer_is_an_outage_also_while_a_log_is_collected(in_state, state, wait_s, worked_ms, shown):
    dispatch = in_state(state)
    slow = SlowHost(wait_s, worked_ms)
    recording_connect(dispatch, lambda host: slow)(dispatch.device.host).status(RUN)
    lines = [line.detail for line in outage_lines(dispatch)]
    assert lines == ([f"no answer from local for {shown}; it answers again"] if shown else [])


def test_a_late_answer_ends_an_outage_that_another_worker_opened_meanwhile(in_state):
    dispatch = in_state(State.RUNNING)
    add_outage(dispatch, timezone.now())
    dispatch.has_open_outage = False  # as the scheduler found it before
    recording_connect(dispatch, lambda host: SlowHost(12, 0))(dispatch.device.host).status(RUN)
    (outage,) = HostOutage.objects.all()
    assert (outage.cause, outage.until is None) == (HostOutage.Cause.NO_ANSWER, False)
