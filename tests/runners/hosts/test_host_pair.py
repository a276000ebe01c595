"""A sweep whose requests come from a second machine: what each is asked, also while the other gives no answer."""

from concurrent.futures import Future

import pytest

from runners.dispatch.claim import settle_lost
from runners.dispatch.orders import cancel
from runners.dispatch.poll_scheduler import LoadStopper, stop_remote_load
from runners.hosts.protocol import stop_and_seal
from runners.lifecycle.stages import lab_host
from runners.lifecycle.transitions import transition
from runners.models import Dispatch
from runners.models.states import State
from tests.runners.fake_host import Program
from tests.runners.lab import see
from tests.runners.sweeps import ALL, finish, go_through

pytestmark = pytest.mark.django_db
BOTH = ["first start", "sender's start"]


def load_of(sweep):
    return f"{sweep.public_id}.load"


def beside_of(sweep):
    return f"{sweep.public_id}.load-database"


def lose(sweep):
    """The drive's host was silent for too long."""
    transition(sweep, State.RUNNING, State.LOST, "no answer")


def test_requests_of_a_second_host_run_there_beside_telemetry_of_the_drive(loading, connect_both, fake, sender):
    assert list(sender.programs) == [load_of(loading)]
    assert fake.programs[beside_of(loading)].is_running
    finish(loading, sender)
    see(loading, connect_both)
    assert not fake.programs[beside_of(loading)].is_running
    assert fake.programs[f"{loading.public_id}.settle"].is_running


def test_telemetry_beside_a_load_that_was_refused_gives_the_drive_to_what_cleans_up(
    sweep_of_two, connect_both, fake, sender
):
    sender.refused_stages = ("load",)
    assert go_through(sweep_of_two, connect_both, fake) == ["format", "mount", "unmount"]
    assert not fake.programs[beside_of(sweep_of_two)].is_running


def test_requests_are_not_begun_where_telemetry_has_ended_at_once(sweep_of_two, connect_both, fake, sender):
    ended = Program(9, sweep_of_two.drive_key, 3, exit_status=3, is_running=False)
    fake.programs[beside_of(sweep_of_two)] = ended
    assert go_through(sweep_of_two, connect_both, fake) == ["format", "mount", "unmount"]
    assert sender.starts_count == 0
    reason = sweep_of_two.stage_ends.get(name="load").reason
    assert "not started: drive telemetry ended by an I/O error" in reason


def test_a_load_that_runs_is_told_again_though_its_telemetry_has_ended(loading, connect_both, fake, sender):
    fake.end(beside_of(loading), 3)
    host = lab_host(loading, connect_both)
    assert host.start(load_of(loading), loading.drive_key, loading.generation, []).state == "running"
    assert sender.starts_count == 1


def test_a_closed_stage_takes_no_late_start_on_either_machine(loading, connect_both, fake, sender):
    host = lab_host(loading, connect_both)
    for machine in (fake, sender):
        for run in (load_of(loading), beside_of(loading)):
            machine.lose(run)
    stop_and_seal(host, load_of(loading))
    assert sender.start(load_of(loading), loading.drive_key, 99, []).pid is None
    assert fake.start(beside_of(loading), loading.drive_key, 99, []).pid is None


def test_a_cancel_reaches_the_load_while_the_drives_host_is_silent(loading, connect_both, fake, sender, staff):
    fake.is_silent = True
    cancel(loading, staff)
    assert see(loading, connect_both) == State.RUNNING
    assert not sender.programs[load_of(loading)].is_running
    assert "no answer" in loading.reason
    fake.is_silent = False
    see(loading, connect_both)
    assert fake.programs[f"{loading.public_id}.unmount"].is_running


def test_a_limit_reaches_the_load_while_the_drives_host_is_silent(loading, connect_both, fake, sender, settings):
    fake.is_silent = True
    settings.CLIENT_LIMIT_S, settings.RUN_OVERDUE_S = 1, -2
    see(loading, connect_both)
    assert sender.programs[load_of(loading)].exit_status == 5
    assert loading.end_requested_at is not None


def test_the_load_of_a_lost_sweep_is_ended_while_the_drives_host_is_silent(loading, connect_both, fake, sender, staff):
    lose(loading)
    fake.is_silent = True
    cancel(loading, staff)
    see(loading, connect_both)
    assert not sender.programs[load_of(loading)].is_running
    assert loading.ended_at is None


def test_a_load_on_a_second_machine_is_known_by_the_starts_of_both(loading, connect_both):
    assert loading.boot_ids == BOTH


# Killed before it could say what it started; and started by a version that kept the start of the load's machine alone.
@pytest.mark.parametrize("known", [{"pid": None, "boot_ids": []}, {"boot_ids": ["sender's start"]}])
def test_starts_that_are_not_known_of_both_machines_are_asked_for(loading, connect_both, known):
    Dispatch.objects.filter(pk=loading.pk).update(**known)
    see(loading, connect_both)
    assert (loading.pid is not None, loading.boot_ids) == (True, BOTH)


def test_of_two_machines_the_starts_are_not_known_where_one_tells_none(loading, connect_both, fake):
    Dispatch.objects.filter(pk=loading.pk).update(pid=None, boot_ids=[])
    fake.programs[beside_of(loading)].boot_id = ""
    see(loading, connect_both)
    assert (loading.pid is not None, loading.boot_ids) == (True, [])


@pytest.fixture
def restart(loading, connect_both, fake, sender):
    """Restart machines while a sweep is lost, and return whether its load counts as over."""

    def restart_some(names):
        lose(loading)
        for name, host in (("drive", fake), ("sender", sender)):
            host.boot_id = f"{name} anew" if name in names else host.boot_id
            for run in list(host.programs):
                host.lose(run)
        settle_lost(loading, connect_both)
        loading.refresh_from_db()
        assert loading.ended_at is None  # what cleans up is begun, or nobody knows what the other machine runs
        return loading.stage > ALL.index("load")

    return restart_some


@pytest.mark.parametrize("restarted", [{"sender"}, {"drive"}, {"drive", "sender"}])
def test_a_restart_of_one_of_two_machines_frees_no_drive(restart, restarted):
    assert restart(restarted) is (restarted == {"drive", "sender"})


@pytest.mark.parametrize("restarted", [{"sender"}, {"drive", "sender"}])
def test_half_of_the_starts_is_not_read_as_a_restart_of_both(loading, restart, restarted):
    Dispatch.objects.filter(pk=loading.pk).update(boot_ids=["sender's start"])
    loading.refresh_from_db()
    assert not restart(restarted)


def test_a_cancelled_load_is_ended_while_a_look_waits_for_the_drive_s_host(loading, connect_both, fake, sender, staff):
    """The silent drive's host is not asked: its answer is what the look waits for."""
    fake.is_silent = True
    assert not stop_remote_load(loading.pk, connect_both)
    assert sender.programs[load_of(loading)].is_running
    cancel(loading, staff)
    assert stop_remote_load(loading.pk, connect_both)
    assert not sender.programs[load_of(loading)].is_running


def test_a_cancel_ends_no_stage_on_the_drive_s_host_in_this_way(sweep_of_two, connect_both, fake, staff):
    assert see(sweep_of_two, connect_both) == State.RUNNING
    cancel(sweep_of_two, staff)
    assert not stop_remote_load(sweep_of_two.pk, connect_both)
    assert fake.stops_count == 0


def test_the_worker_asks_once_a_period_and_no_more_once_it_has_ended(loading, connect_both, sender, staff, monkeypatch):
    monkeypatch.setattr(
        "runners.dispatch.poll_scheduler.close_old_connections", lambda: None
    )  # of a thread, here the test's own
    monkeypatch.setattr("runners.dispatch.poll_scheduler.STOP_PERIOD_S", 3600)  # a second may pass in a slow test
    cancel(loading, staff)
    stopper, host_id = LoadStopper(), loading.device.host_id
    stopper.pool = InThisThread()
    sender.ignores_stop = True
    for _ in range(2):
        ask_at_once(stopper, {host_id}, connect_both)
    stopper.fill({host_id}, connect_both)
    assert sender.stops_count == 2, "the third came too soon"
    sender.ignores_stop = False
    for _ in range(2):
        ask_at_once(stopper, {host_id}, connect_both)
    assert (sender.stops_count, sender.programs[load_of(loading)].is_running) == (3, False)


def test_a_load_that_begins_after_the_first_ask_is_ended_too(loading, connect_both, sender, staff, monkeypatch):
    """A look that was under way when the cancel came starts it a moment later."""
    monkeypatch.setattr(
        "runners.dispatch.poll_scheduler.close_old_connections", lambda: None
    )  # of a thread, here the test's own
    sender.lose(load_of(loading))
    cancel(loading, staff)
    stopper, host_id = LoadStopper(), loading.device.host_id
    stopper.pool = InThisThread()
    ask_at_once(stopper, {host_id}, connect_both)
    sender.start(load_of(loading), loading.drive_key, loading.generation + 1, [])
    ask_at_once(stopper, {host_id}, connect_both)
    assert not sender.programs[load_of(loading)].is_running


def test_nobody_asks_where_no_host_is_waited_for(loading, connect_both, sender, staff, django_assert_num_queries):
    cancel(loading, staff)
    with django_assert_num_queries(0):
        LoadStopper().fill(set(), connect_both)


class InThisThread:
    """A pool whose work is done when it has been given."""

    def submit(self, work, *args):
        done = Future()
        done.set_result(work(*args))
        return done


def ask_at_once(stopper, waited_for, connect):
    stopper.not_before_s = 0.0
    stopper.fill(waited_for, connect)
