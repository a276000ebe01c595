"""A sweep whose requests come from a second host: the requests to each host, also while the other does not answer."""

from concurrent.futures import Future

import pytest

from runners.dispatch.claim import settle_lost
from runners.dispatch.orders import cancel
from runners.dispatch.poll_scheduler import LoadStopper, stop_cancelled_load
from runners.errors import StartRefusedError
from runners.hosts.host_pair import HostPair, requests_key
from runners.hosts.protocol import stop_and_seal
from runners.lifecycle.stages import lab_host
from runners.lifecycle.transitions import transition
from runners.models import Dispatch
from runners.models.states import State
from tests.runners.fake_host import FakeHost, Program
from tests.runners.lab import poll_state
from tests.runners.sweeps import BEFORE_LOAD_OF_TWO, finish, go_through

pytestmark = pytest.mark.django_db
BOTH = ["first start", "sender's start"]


def load_of(sweep):
    return f"{sweep.public_id}.load"


def telemetry_run_of(sweep):
    return f"{sweep.public_id}.load-database"


def keep_own_connection(monkeypatch):
    """Let work that ends in a thread of its own run in the thread of the test, which goes on."""
    for name in ("close_old_connections", "_release_connection"):
        monkeypatch.setattr(f"runners.dispatch.poll_scheduler.{name}", lambda: None)


def lose(sweep):
    """Lose a sweep by a long outage of the drive's host."""
    transition(sweep, State.RUNNING, State.LOST, "no answer")


def test_the_second_host_sends_requests_while_the_drive_s_host_records_telemetry(loading, connect_both, fake, sender):
    assert list(sender.programs) == [load_of(loading)]
    assert fake.programs[telemetry_run_of(loading)].is_running
    finish(loading, sender)
    poll_state(loading, connect_both)
    assert not fake.programs[telemetry_run_of(loading)].is_running
    assert fake.programs[f"{loading.public_id}.settle"].is_running


def test_telemetry_of_a_refused_load_releases_the_drive_for_cleanup(sweep_of_two, connect_both, fake, sender):
    sender.refused_stages = ("load",)
    assert go_through(sweep_of_two, connect_both, fake) == [*BEFORE_LOAD_OF_TWO, "stop", "unmount"]
    assert not fake.programs[telemetry_run_of(sweep_of_two)].is_running


def test_requests_do_not_begin_if_telemetry_ended_at_once(sweep_of_two, connect_both, fake, sender):
    ended = Program(9, sweep_of_two.drive_key, 3, exit_status=3, is_running=False)
    fake.programs[telemetry_run_of(sweep_of_two)] = ended
    assert go_through(sweep_of_two, connect_both, fake) == [*BEFORE_LOAD_OF_TWO, "stop", "unmount"]
    assert sender.starts_count == 0
    reason = sweep_of_two.stage_ends.get(name="load").reason
    assert "was not started: the drive telemetry ended by an I/O error" in reason


def test_a_running_load_is_reported_although_its_telemetry_has_ended(loading, connect_both, fake, sender):
    fake.end(telemetry_run_of(loading), 3)
    host = lab_host(loading, connect_both)
    assert host.start(load_of(loading), loading.drive_key, loading.generation, []).state == "running"
    assert sender.starts_count == 1


def test_a_sealed_stage_refuses_a_late_start_on_both_hosts(loading, connect_both, fake, sender):
    host = lab_host(loading, connect_both)
    for machine in (fake, sender):
        for run in (load_of(loading), telemetry_run_of(loading)):
            machine.lose(run)
    stop_and_seal(host, load_of(loading))
    assert sender.start(load_of(loading), loading.drive_key, 99, []).pid is None
    assert fake.start(telemetry_run_of(loading), loading.drive_key, 99, []).pid is None


def test_a_cancel_reaches_the_load_while_the_drives_host_is_silent(loading, connect_both, fake, sender, staff):
    fake.is_silent = True
    cancel(loading, staff)
    assert poll_state(loading, connect_both) == State.RUNNING
    assert not sender.programs[load_of(loading)].is_running
    assert loading.reason.startswith("a request to the host failed, and the register repeats it: fake: ")
    fake.is_silent = False
    poll_state(loading, connect_both)
    assert fake.programs[f"{loading.public_id}.stop"].is_running


def test_a_limit_reaches_the_load_while_the_drives_host_is_silent(loading, connect_both, fake, sender, settings):
    fake.is_silent = True
    settings.CLIENT_LIMIT_S, settings.RUN_OVERDUE_S = 1, -2
    poll_state(loading, connect_both)
    assert sender.programs[load_of(loading)].exit_status == 5
    assert loading.end_requested_at is not None


def test_the_load_of_a_lost_sweep_is_ended_while_the_drives_host_is_silent(loading, connect_both, fake, sender, staff):
    lose(loading)
    fake.is_silent = True
    cancel(loading, staff)
    poll_state(loading, connect_both)
    assert not sender.programs[load_of(loading)].is_running
    assert loading.ended_at is None


def test_a_load_on_a_second_host_is_identified_by_the_boots_of_both_hosts(loading, connect_both):
    assert loading.boot_ids == BOTH


# A worker that was killed before it saved the start; and a version that stored only the boot of the load host.
@pytest.mark.parametrize("known", [{"pid": None, "boot_ids": []}, {"boot_ids": ["sender's start"]}])
def test_missing_boots_of_either_host_are_requested(loading, connect_both, known):
    Dispatch.objects.filter(pk=loading.pk).update(**known)
    poll_state(loading, connect_both)
    assert (loading.pid is not None, loading.boot_ids) == (True, BOTH)


def test_the_boots_are_unknown_if_one_of_two_hosts_reports_none(loading, connect_both, fake):
    Dispatch.objects.filter(pk=loading.pk).update(pid=None, boot_ids=[])
    fake.programs[telemetry_run_of(loading)].boot_id = ""
    poll_state(loading, connect_both)
    assert (loading.pid is not None, loading.boot_ids) == (True, [])


@pytest.fixture
def restart(loading, connect_both, fake, sender):
    """Restart hosts of a lost sweep, and return whether its load counts as ended."""

    def restart_some(names):
        lose(loading)
        for name, host in (("drive", fake), ("sender", sender)):
            host.boot_id = f"{name} restarted" if name in names else host.boot_id
            for run in list(host.programs):
                host.lose(run)
        settle_lost(loading, connect_both)
        loading.refresh_from_db()
        assert loading.ended_at is None  # cleanup has begun, or it is unknown what runs on the other host
        return loading.stage > len(BEFORE_LOAD_OF_TWO)

    return restart_some


@pytest.mark.parametrize("restarted", [{"sender"}, {"drive"}, {"drive", "sender"}])
def test_a_restart_of_one_of_two_hosts_frees_no_drive(restart, restarted):
    assert restart(restarted) is (restarted == {"drive", "sender"})


@pytest.mark.parametrize("restarted", [{"sender"}, {"drive", "sender"}])
def test_the_boot_of_one_host_is_not_read_as_a_restart_of_both(loading, restart, restarted):
    Dispatch.objects.filter(pk=loading.pk).update(boot_ids=["sender's start"])
    loading.refresh_from_db()
    assert not restart(restarted)


def test_a_cancelled_load_is_stopped_while_a_poll_waits_for_the_drive_s_host(
    loading, connect_both, fake, sender, staff
):
    """The drive's host gets no request: the poll waits for its answer."""
    fake.is_silent = True
    assert not stop_cancelled_load(loading.pk, connect_both)
    assert sender.programs[load_of(loading)].is_running
    cancel(loading, staff)
    assert stop_cancelled_load(loading.pk, connect_both)
    assert not sender.programs[load_of(loading)].is_running


def test_the_load_stopper_stops_no_stage_on_the_drive_s_host(sweep_of_two, connect_both, fake, staff):
    assert poll_state(sweep_of_two, connect_both) == State.RUNNING
    cancel(sweep_of_two, staff)
    assert not stop_cancelled_load(sweep_of_two.pk, connect_both)
    assert fake.stops_count == 0


def test_the_worker_stops_a_load_once_a_period_until_it_has_ended(loading, connect_both, sender, staff, monkeypatch):
    keep_own_connection(monkeypatch)
    monkeypatch.setattr("runners.dispatch.poll_scheduler.STOP_PERIOD_S", 3600)  # a second may pass in a slow test
    cancel(loading, staff)
    stopper, host_id = LoadStopper(), loading.device.host_id
    stopper.pool = InThisThread()
    sender.ignores_stop = True
    for _ in range(2):
        stop_at_once(stopper, {host_id}, connect_both)
    stopper.fill({host_id}, connect_both)
    assert sender.stops_count == 2, "the third came too soon"
    sender.ignores_stop = False
    for _ in range(2):
        stop_at_once(stopper, {host_id}, connect_both)
    assert (sender.stops_count, sender.programs[load_of(loading)].is_running) == (3, False)


def test_a_load_that_begins_after_the_first_stop_is_stopped_too(loading, connect_both, sender, staff, monkeypatch):
    """A poll that was in progress during the cancel starts the load a moment later."""
    keep_own_connection(monkeypatch)
    sender.lose(load_of(loading))
    cancel(loading, staff)
    stopper, host_id = LoadStopper(), loading.device.host_id
    stopper.pool = InThisThread()
    stop_at_once(stopper, {host_id}, connect_both)
    sender.start(load_of(loading), loading.drive_key, loading.generation + 1, [])
    stop_at_once(stopper, {host_id}, connect_both)
    assert not sender.programs[load_of(loading)].is_running


def test_no_load_is_stopped_while_no_poll_waits_for_a_host(
    loading, connect_both, sender, staff, django_assert_num_queries
):
    cancel(loading, staff)
    with django_assert_num_queries(0):
        LoadStopper().fill(set(), connect_both)


class InThisThread:
    """A thread pool that runs each task at once."""

    def submit(self, work, *args):
        done = Future()
        done.set_result(work(*args))
        return done


def stop_at_once(stopper, waited_for, connect):
    stopper.not_before_s = 0.0
    stopper.fill(waited_for, connect)


def test_both_hosts_of_a_sweep_may_be_one_machine(sweep_of_two, fake):
    """Telemetry holds the drive there: under the key of the drive, the requests would be refused as on a busy drive."""

    def connect(_):
        return fake

    while poll_state(sweep_of_two, connect) == State.RUNNING and load_of(sweep_of_two) not in fake.programs:
        finish(sweep_of_two, fake)
    for run in (load_of(sweep_of_two), telemetry_run_of(sweep_of_two)):
        assert fake.programs[run].is_running
    assert fake.programs[load_of(sweep_of_two)].drive_key != sweep_of_two.drive_key


class HostWithLocks(FakeHost):
    """A host that removes a run only under the key of an earlier start, as drivetest does."""

    def remove(self, run, drive_key, generation):
        if drive_key not in self.newest:
            raise StartRefusedError(f"{run}: unknown {drive_key}")
        return super().remove(run, drive_key, generation)


@pytest.mark.parametrize("is_of_earlier_release", [False, True])
def test_a_load_run_is_removed_under_the_key_of_its_start(loading, fake, is_of_earlier_release):
    load = HostWithLocks()
    pair = HostPair(fake, load, frozenset({load_of(loading)}), ())
    key = loading.drive_key if is_of_earlier_release else requests_key(loading.drive_key)
    load.start(load_of(loading), key, loading.generation, [])
    load.end(load_of(loading), 0)
    fake.end(telemetry_run_of(loading), 0)
    assert pair.remove(load_of(loading), loading.drive_key, loading.generation) == ""
    assert load_of(loading) not in load.programs


def test_a_load_run_that_no_start_explains_stays(loading, fake):
    pair = HostPair(fake, HostWithLocks(), frozenset({load_of(loading)}), ())
    fake.end(telemetry_run_of(loading), 0)
    with pytest.raises(StartRefusedError, match="unknown"):
        pair.remove(load_of(loading), loading.drive_key, loading.generation)
