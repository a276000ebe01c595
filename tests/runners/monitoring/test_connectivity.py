"""Which machine gave no answer, and for how long: what a look hears of each machine of its dispatch."""

import socket
import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from runners.errors import FileMissingError, HostSilentError
from runners.hosts.response_timer import ResponseTimer, WaitPeriod
from runners.hosts.ssh import SshHost
from runners.lifecycle.transitions import transition
from runners.models import Dispatch, Host
from runners.models.states import WORKER, State
from runners.monitoring import connectivity
from runners.monitoring.connectivity import RecordingConnector, outage_message, outage_s
from tests.runners.fake_host import FakeHost
from tests.runners.ssh_host import ssh_host

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
                RecordingConnector(fresh, lambda host: machines[host.name]).connect(host).status(RUN)
            except HostSilentError:
                return False
        return True

    return put


def entries(dispatch):
    return [step.reason for step in dispatch.steps.filter(from_state=State.RUNNING, to_state=State.RUNNING)]


def silent(dispatch):
    dispatch.refresh_from_db()
    return dict(dispatch.open_outages)


def test_the_machine_that_was_silent_is_charged_with_its_gap(on_two, machines, ask):
    machines["sender"].is_silent = True
    assert not ask(on_two, "sender")
    assert ask(on_two, "local")
    machines["sender"].is_silent = False
    assert ask(on_two, "sender")
    (entry,) = entries(on_two)
    assert entry.startswith("no answer from sender for ")
    assert silent(on_two) == {}
    assert on_two.outages_ms >= 4000


def test_two_machines_have_gaps_of_their_own(on_two, machines, ask):
    for fake in machines.values():
        fake.is_silent = True
    assert not ask(on_two, "local")
    assert not ask(on_two, "sender")
    assert set(silent(on_two)) == {"local", "sender"}
    machines["local"].is_silent = False
    assert ask(on_two, "local")
    assert set(silent(on_two)) == {"sender"}
    assert [entry.split(" for ")[0] for entry in entries(on_two)] == ["no answer from local"]


def test_a_machine_that_answers_with_an_error_has_answered(on_two, machines, ask):
    machines["sender"].is_silent = True
    ask(on_two, "sender")
    machines["sender"].is_silent = False
    heard = RecordingConnector(Dispatch.objects.get(pk=on_two.pk), lambda host: machines[host.name])
    with pytest.raises(FileMissingError):
        heard.connect(on_two.load_host).read(RUN, "log", 0, 1)
    assert silent(on_two) == {}


def test_a_gap_begins_with_the_last_answer_of_the_machine_about_whatever_dispatch(on_two, machines):
    looked = RecordingConnector(on_two, lambda host: machines[host.name]).connect(on_two.load_host)
    looked.status(RUN)
    machines["sender"].is_silent = True
    with pytest.raises(HostSilentError):
        looked.status(RUN)
    since = datetime.fromisoformat(silent(on_two)["sender"])
    assert since > on_two.heartbeat_at + timedelta(seconds=3)


def test_no_gap_begins_after_the_question_that_was_not_answered(on_two, machines, ask):
    later = timezone.now() + timedelta(hours=1)  # a clock that was set back since
    Dispatch.objects.filter(pk=on_two.pk).update(heartbeat_at=later)
    machines["sender"].is_silent = True
    ask(on_two, "sender")
    assert datetime.fromisoformat(silent(on_two)["sender"]) <= timezone.now()


def test_what_takes_a_connection_in_place_of_the_machine_is_no_answer_of_it(in_state, gateway):
    """A gateway takes connections for a host that is cut off: the silence began before, with the last answer."""
    answered_at = timezone.now() - timedelta(seconds=21)
    dispatch = in_state(State.RUNNING, heartbeat_at=answered_at)
    lab = ssh_host(address="127.0.0.1", port=gateway)
    with pytest.raises(HostSilentError):
        RecordingConnector(dispatch, SshHost).connect(lab).status(RUN)
    assert silent(dispatch) == {"lab-1": answered_at.isoformat()}


@pytest.mark.parametrize(("state", "is_kept"), [(State.CLAIMED, False), (State.PREPARING, True), (State.LOST, False)])
def test_only_where_something_may_be_on_a_host_its_silence_is_kept(in_state, machines, ask, state, is_kept):
    machines["local"].is_silent = True
    dispatch = in_state(state)
    ask(dispatch, "local")
    assert bool(silent(dispatch)) is is_kept


@STANDING
def test_the_page_names_the_machine_that_is_silent(on_two):
    ago = [(timezone.now() - timedelta(seconds=seconds)).isoformat() for seconds in (30, 12)]
    on_two.open_outages = {"local": ago[0], "sender": ago[1]}
    assert outage_message(on_two) == "no answer from local for 30 s, sender for 12 s"
    on_two.open_outages = {"sender": ago[1]}
    assert outage_message(on_two) == "no answer from sender for 12 s"
    assert outage_s(on_two) == 12


@STANDING
def test_while_only_the_heartbeat_tells_it_both_machines_are_named(on_two):
    on_two.heartbeat_at = timezone.now() - timedelta(seconds=40)
    assert outage_message(on_two) == "no answer from local or sender for 40 s"


@STANDING
def test_the_end_tells_of_a_machine_that_is_silent_still_and_the_rest_is_forgotten(on_two):
    on_two.open_outages = {"local": (timezone.now() - timedelta(seconds=31)).isoformat()}
    on_two.save()
    transition(on_two, State.RUNNING, State.FAILED, WORKER, "it failed")
    (entry,) = entries(on_two)
    assert entry.startswith("no answer from local for 31 s, since ")
    assert entry.endswith("; it had not answered when this dispatch ended")
    assert silent(on_two) == {}


def test_a_lost_one_says_itself_since_when_nobody_answered(on_two):
    on_two.open_outages = {"local": (timezone.now() - timedelta(seconds=31)).isoformat()}
    on_two.save()
    transition(on_two, State.RUNNING, State.LOST, WORKER, "no answer since ...")
    assert (entries(on_two), silent(on_two), on_two.outages_count) == ([], {}, 0)


@STANDING
def test_a_row_of_an_earlier_version_is_charged_to_the_drives_host_once(in_state, ask):
    last = timezone.now() - timedelta(seconds=31)
    dispatch = in_state(State.RUNNING, silent_since=last + timedelta(seconds=20), heartbeat_at=last)
    heard = RecordingConnector(dispatch, lambda host: FakeHost()).connect(dispatch.device.host)
    heard.status(RUN)
    heard.status(RUN)
    (entry,) = entries(dispatch)
    assert "no answer from local for 31 s, since " in entry


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
    RecordingConnector(dispatch, lambda host: there).connect(dispatch.device.host).status(RUN)
    assert dispatch.outages_count == (told is not None)
    reasons = [step.reason for step in dispatch.steps.filter(from_state=state, to_state=state)]
    assert reasons == ([f"no answer from local for {told}; it answers again"] if told else [])
