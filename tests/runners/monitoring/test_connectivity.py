"""Which machine gave no answer, and for how long: what a look hears of each machine of its dispatch."""

import socket
import threading
from datetime import UTC, datetime, timedelta
from unittest.mock import Mock

import pytest
from django.db import transaction
from django.utils import timezone

from runners.errors import FileMissingError, HostFaultError, HostUnavailableError
from runners.hosts.response_timer import ResponseTimer, WaitPeriod
from runners.hosts.ssh import SshHost
from runners.lifecycle.transitions import transition
from runners.models import Dispatch, Host, HostOutage
from runners.models.states import State
from runners.monitoring import connectivity
from runners.monitoring.connectivity import recording_connect
from tests.runners.fake_host import FakeHost
from tests.runners.lab import add_outage
from tests.runners.ssh_host import ssh_host
from tests.runners.threads import in_threads, wait_until_somebody_waits_for_us
from webapp.lab.shared.outages import current_outage_message, current_outages, outage_lines

pytestmark = pytest.mark.django_db
RUN = "d-one"
PATIENCE_S = 90
STANDING = pytest.mark.usefixtures("standing_clock")


@pytest.fixture(autouse=True)
def nothing_heard_before(monkeypatch):
    monkeypatch.setattr(connectivity, "_last_answers", {})


@pytest.fixture
def gateway():
    """The port of something that takes one connection and ends it without a word."""

    def take_one():
        connection, _ = listening.accept()
        connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(PATIENCE_S)
        taking = threading.Thread(target=take_one)
        taking.start()
        yield listening.getsockname()[1]
        taking.join()


@pytest.fixture
def on_two(in_state):
    """A dispatch whose drive is on one machine, and whose requests come from another."""
    load = Host.objects.create(name="sender", kind="local", machine_id="of-another")
    return in_state(State.RUNNING, load_host=load, heartbeat_at=timezone.now() - timedelta(seconds=4))


@pytest.fixture
def machines(on_two):
    """The machines by their names; each can be made silent."""
    return {host.name: FakeHost() for host in (on_two.device.host, on_two.load_host)}


@pytest.fixture
def ask(machines):
    """Ask one machine about a dispatch, as a look of a worker that was just started does."""

    def put(dispatch, name):
        fresh = Dispatch.objects.get(pk=dispatch.pk)
        host = Host.objects.get(name=name)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(connectivity, "_last_answers", {})
            try:
                recording_connect(fresh, lambda host: machines[host.name])(host).status(RUN)
            except HostUnavailableError:
                return False
        return True

    return put


def open_outages(dispatch):
    return dict(dispatch.outages.filter(until=None).values_list("host__name", "since"))


def test_the_machine_that_was_silent_is_charged_with_its_gap(on_two, machines, ask):
    machines["sender"].is_silent = True
    assert not ask(on_two, "sender")
    assert ask(on_two, "local")
    machines["sender"].is_silent = False
    assert ask(on_two, "sender")
    outage = on_two.outages.get()
    assert (outage.host.name, outage.cause, outage.is_answered) == ("sender", "no-answer", True)
    assert outage.until - outage.since >= timedelta(seconds=4)


def test_two_machines_have_gaps_of_their_own(on_two, machines, ask):
    for fake in machines.values():
        fake.is_silent = True
    assert not ask(on_two, "local")
    assert not ask(on_two, "sender")
    assert set(open_outages(on_two)) == {"local", "sender"}
    machines["local"].is_silent = False
    assert ask(on_two, "local")
    assert set(open_outages(on_two)) == {"sender"}


def test_one_outage_of_a_host_names_all_dispatches_that_it_affects(on_two, machines, ask, other_drive):
    other = Dispatch.objects.get(pk=on_two.pk)
    other.pk, other.public_id, other.device, other.drive_key = None, "d-other", other_drive, other_drive.drive_key
    other.save()
    machines["local"].is_silent = True
    for dispatch in (on_two, other, on_two):
        assert not ask(dispatch, "local")
    outage = HostOutage.objects.get()
    assert set(outage.dispatches.all()) == {on_two, other}
    machines["local"].is_silent = False
    assert ask(other, "local")
    assert open_outages(on_two) == {}


def test_a_host_that_answers_with_its_own_fault_is_not_silent(on_two, machines):
    full = HostFaultError("lab-1: no space left on device")
    host = recording_connect(on_two, lambda host: machines[host.name])(on_two.load_host)
    machines["sender"].put = Mock(side_effect=full)
    with pytest.raises(HostFaultError):
        host.put(RUN, {})
    assert on_two.outages.get().cause == HostOutage.Cause.HOST_ERROR


def test_a_machine_that_answers_with_an_error_has_answered(on_two, machines, ask):
    machines["sender"].is_silent = True
    ask(on_two, "sender")
    machines["sender"].is_silent = False
    heard = recording_connect(Dispatch.objects.get(pk=on_two.pk), lambda host: machines[host.name])
    with pytest.raises(FileMissingError):
        heard(on_two.load_host).read(RUN, "log", 0, 1)
    assert open_outages(on_two) == {}


def test_a_gap_begins_with_the_last_answer_of_the_machine_about_whatever_dispatch(on_two, machines):
    looked = recording_connect(on_two, lambda host: machines[host.name])(on_two.load_host)
    looked.status(RUN)
    machines["sender"].is_silent = True
    with pytest.raises(HostUnavailableError):
        looked.status(RUN)
    assert open_outages(on_two)["sender"] > on_two.heartbeat_at + timedelta(seconds=3)


def test_no_gap_begins_after_the_question_that_was_not_answered(on_two, machines, ask):
    later = timezone.now() + timedelta(hours=1)  # a clock that was set back since
    Dispatch.objects.filter(pk=on_two.pk).update(heartbeat_at=later)
    machines["sender"].is_silent = True
    ask(on_two, "sender")
    assert open_outages(on_two)["sender"] <= timezone.now()


def test_what_takes_a_connection_in_place_of_the_machine_is_no_answer_of_it(in_state, gateway):
    """A gateway takes connections for a host that is cut off: the silence began before, with the last answer."""
    answered_at = timezone.now() - timedelta(seconds=21)
    dispatch = in_state(State.RUNNING, heartbeat_at=answered_at)
    lab = ssh_host(address="127.0.0.1", port=gateway)
    with pytest.raises(HostUnavailableError):
        recording_connect(dispatch, SshHost)(lab).status(RUN)
    assert open_outages(dispatch) == {"lab-1": answered_at}


@pytest.mark.parametrize(("state", "is_kept"), [(State.CLAIMED, False), (State.PREPARING, True), (State.LOST, False)])
def test_only_where_something_may_be_on_a_host_its_silence_is_kept(in_state, machines, ask, state, is_kept):
    machines["local"].is_silent = True
    dispatch = in_state(state)
    ask(dispatch, "local")
    assert bool(open_outages(dispatch)) is is_kept


@STANDING
def test_the_page_names_the_machine_that_is_silent(on_two):
    add_outage(on_two, timezone.now() - timedelta(seconds=30))
    outage = add_outage(on_two, timezone.now() - timedelta(seconds=12), host=on_two.load_host, cause="host-error")
    assert current_outage_message(on_two) == "no answer from local for 30 s, only errors from sender for 12 s"
    HostOutage.objects.exclude(pk=outage.pk).delete()
    assert current_outages(Dispatch.objects.get()) == [("only errors from sender", 12)]


@STANDING
def test_while_only_the_heartbeat_tells_it_both_machines_are_named(on_two):
    on_two.heartbeat_at = timezone.now() - timedelta(seconds=40)
    assert current_outage_message(on_two) == "no answer from local or sender for 40 s"


@STANDING
@pytest.mark.parametrize("end", [State.FAILED, State.LOST])
def test_an_outage_ends_with_the_last_dispatch_that_depended_on_the_host(on_two, end):
    add_outage(on_two, timezone.now() - timedelta(seconds=31))
    transition(on_two, State.RUNNING, end, "it failed")
    (line,) = outage_lines(on_two)
    assert line.detail.startswith("no answer from local for 31 s, since ")
    assert line.detail.endswith("; it had not answered when the dispatch ended")
    assert open_outages(on_two) == {}


@pytest.fixture
def second(on_two, other_drive):
    """A second dispatch on the same machines, on another drive."""
    second = Dispatch.objects.get(pk=on_two.pk)
    second.pk, second.public_id, second.device, second.drive_key = None, "d-other", other_drive, other_drive.drive_key
    second.save()
    return second


def test_an_outage_goes_on_while_another_dispatch_depends_on_the_host(on_two, second):
    add_outage(on_two, timezone.now()).dispatches.add(second)
    transition(on_two, State.RUNNING, State.FAILED, "it failed")
    assert set(open_outages(on_two)) == {"local"}
    transition(second, State.RUNNING, State.FAILED, "it failed")
    assert open_outages(on_two) == {}


@pytest.mark.django_db(transaction=True)
def test_an_outage_is_over_too_when_the_last_two_that_depend_on_the_host_end_at_once(on_two, second):
    def end(dispatch):
        transition(dispatch, State.RUNNING, State.FAILED, "it failed")

    add_outage(on_two, timezone.now()).dispatches.add(second)
    ending = threading.Thread(target=in_threads, args=[end, [second]])
    with transaction.atomic():
        end(on_two)
        ending.start()
        wait_until_somebody_waits_for_us()
    ending.join()
    assert open_outages(on_two) == {}


NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


class Listened(FakeHost):
    """A machine whose ear has heard a silence within each answer, as over SSH."""

    def __init__(self, silence_s, worked_ms):
        super().__init__()
        self.timer = ResponseTimer()
        self.silence_s, self.worked_ms = silence_s, worked_ms

    def status(self, run):
        self.timer.longest = WaitPeriod(NOON, self.silence_s)
        self.timer.add_work(self.worked_ms)
        return super().status(run)


@pytest.mark.parametrize("state", [State.RUNNING, State.COLLECTING])
@pytest.mark.parametrize(
    ("silence_s", "worked_ms", "told"),
    [
        (0.99, 0, None),
        (1.0, 0, "1.0 s, since 12:00:00 UTC"),
        (12, 0, "12 s, since 12:00:00 UTC"),
        (19, 0, "19 s, since 12:00:00 UTC"),
        (10.9, 10_000, None),  # a run that settles: its host says so
        (13, 10_000, "3.0 s, since 12:00:10 UTC"),
        (10.9, None, None),  # a program that does not tell: it may have worked for 10 s
        (11.0, None, "11 s, since 12:00:00 UTC"),
    ],
)
def test_an_answer_that_came_late_is_a_gap_also_while_a_log_is_collected(in_state, state, silence_s, worked_ms, told):
    dispatch = in_state(state)
    there = Listened(silence_s, worked_ms)
    recording_connect(dispatch, lambda host: there)(dispatch.device.host).status(RUN)
    lines = [line.detail for line in outage_lines(dispatch)]
    assert lines == ([f"no answer from local for {told}; it answers again"] if told else [])


def test_a_late_answer_ends_an_outage_that_another_worker_opened_meanwhile(in_state):
    dispatch = in_state(State.RUNNING)
    add_outage(dispatch, timezone.now())
    dispatch.has_open_outage = False  # as the scheduler found it before
    recording_connect(dispatch, lambda host: Listened(12, 0))(dispatch.device.host).status(RUN)
    (outage,) = HostOutage.objects.all()
    assert (outage.cause, outage.until is None) == (HostOutage.Cause.NO_ANSWER, False)
