"""Each fault and its effect on a dispatch, on a simulated host in virtual time, without processes or waits."""

import os
import subprocess
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from results.models import Submission
from runners.dispatch.orders import Order, cancel, order
from runners.errors import HostUnavailableError
from runners.inventory.devices import bind
from runners.models import Dispatch, Host
from runners.models.states import State
from tests.lab_simulator.clock import ManualClock
from tests.lab_simulator.lab import PATH, InProcessHost, SimulatedLab
from tests.lab_simulator.worker import FOUND_FIT, KIND
from tests.results.stored_files import use_directory
from tests.runners.lab import poll_all

pytestmark = pytest.mark.django_db
RUN_S = 3600


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def lab(clock):
    return SimulatedLab(2, clock, shared_drives=True)


@pytest.fixture
def poll_state(lab):
    def poll_once(dispatch):
        poll_all(lambda host: InProcessHost(lab, host.name))
        dispatch.refresh_from_db()
        return dispatch.state

    return poll_once


@pytest.fixture
def order_on(lab, a_lab, staff):
    def make(name):
        host, _ = Host.objects.get_or_create(name=name, kind=KIND, defaults={"checked_at": FOUND_FIT})
        device = host.devices.first() or bind(host, lab.call(name, "identify", PATH), "simulated", staff)
        return order(device, a_lab, Order(Decimal(1), RUN_S, 600, {"report_interval_s": 10}), staff)

    return make


@pytest.fixture
def running(order_on, poll_state, clock):
    dispatch = order_on("sim-0")
    assert poll_state(dispatch) == State.RUNNING
    clock.advance(RUN_S // 2)
    poll_state(dispatch)
    return dispatch


def age_outages(limit_s):
    """Let open outages begin so many seconds ago."""
    Dispatch.objects.filter(silent_since__isnull=False).update(silent_since=timezone.now() - timedelta(seconds=limit_s))


def host_bytes(lab, run):
    return bytes(lab.hosts["sim-0"].host.files[run]["log"])


def kept_bytes(dispatch):
    return dispatch.submission.log.size_bytes


def test_without_faults_all_bytes_are_stored(running, poll_state, lab, clock):
    clock.advance(RUN_S)
    assert poll_state(running) == State.DONE
    assert kept_bytes(running) == len(host_bytes(lab, running.public_id))
    assert (lab.truth()["starts_count"], lab.truth()["overlaps"]) == (1, [])


@pytest.mark.parametrize("cut_s", [1, 60, 600])
def test_an_outage_shorter_than_the_limit_leaves_one_whole_run(running, poll_state, lab, clock, cut_s):
    lab.silence("sim-0", cut_s)
    assert poll_state(running) == State.RUNNING
    assert "the register repeats it" in running.reason
    clock.advance(cut_s)
    assert poll_state(running) == State.RUNNING
    assert running.reason == ""
    clock.advance(RUN_S)
    assert poll_state(running) == State.DONE
    assert kept_bytes(running) == len(host_bytes(lab, running.public_id))


def test_an_outage_beyond_the_limit_loses_the_dispatch_and_its_drive_stays_locked_until_the_host_answers(
    running, poll_state, lab, clock, settings, order_on
):
    lab.silence("sim-0", 10 * RUN_S)
    poll_state(running)
    age_outages(settings.HOST_SILENCE_S)
    assert poll_state(running) == State.LOST
    neighbour = order_on("sim-1")  # it has the same drive
    assert poll_state(neighbour) == State.QUEUED
    assert f"{running.public_id} was lost, and its program may still use the drive" in neighbour.reason
    clock.advance(10 * RUN_S)
    assert poll_state(neighbour) == State.RUNNING
    assert lab.truth()["overlaps"] == []


def test_a_rebooted_host_fails_the_dispatch_and_its_log_is_stored(running, poll_state, lab):
    lab.change("sim-0", "reboot")
    assert poll_state(running) == State.FAILED
    assert "ended unobserved: the host was restarted" in running.reason
    assert kept_bytes(running) == len(host_bytes(lab, running.public_id))


def test_a_host_that_forgot_its_run_directories_loses_the_dispatch(running, poll_state, lab, order_on):
    lab.change("sim-0", "wipe")
    assert poll_state(running) == State.LOST
    assert "no longer has the run directory" in running.reason
    again = order_on("sim-0")
    assert poll_state(again) == State.RUNNING


def test_a_run_directory_that_was_removed_under_its_program_frees_nothing(running, poll_state, lab, order_on):
    lab.change("sim-0", "forget", running.public_id)
    assert poll_state(running) == State.LOST
    neighbour = order_on("sim-1")  # its host has no lock of the drive
    assert poll_state(neighbour) == State.QUEUED
    lab.change("sim-0", "reboot")
    assert poll_state(neighbour) == State.RUNNING
    assert lab.truth()["overlaps"] == []


def test_a_full_disk_on_the_host_fails_the_dispatch_and_the_written_log_is_stored(running, poll_state, lab):
    lab.change("sim-0", "fill_disk")
    assert poll_state(running) == State.FAILED
    assert "I/O error" in running.reason
    assert kept_bytes(running) == len(host_bytes(lab, running.public_id)) > 0


def test_a_log_truncated_on_the_host_fails_the_dispatch_with_both_sizes(running, poll_state, lab, clock):
    seen = running.log_bytes
    lab.change("sim-0", "reboot")
    lab.change("sim-0", "truncate", running.public_id, 1000)
    assert poll_state(running) == State.FAILED
    assert f"it had {seen} bytes and has 1000" in running.reason
    assert kept_bytes(running) == 1000


def test_a_log_truncated_to_nothing_is_not_reported_as_never_written(running, poll_state, lab):
    lab.change("sim-0", "reboot")
    lab.change("sim-0", "truncate", running.public_id, 0)
    assert poll_state(running) == State.FAILED
    assert f"the log is empty now, but had {running.log_bytes} bytes" in running.reason


@pytest.mark.parametrize("step_s", [-600, 600])
def test_a_clock_step_of_the_host_changes_nothing(running, poll_state, lab, clock, step_s):
    lab.hosts["sim-0"].host.clock_offset_s += step_s
    clock.advance(RUN_S)
    assert poll_state(running) == State.DONE
    assert Submission.objects.count() == 1


def test_a_start_that_arrives_after_its_dispatch_was_lost_starts_nothing(order_on, poll_state, lab, settings, clock):
    dispatch = order_on("sim-0")
    lab.set_faults(late_only=1.0)  # put, start: sent, never answered in time
    poll_state(dispatch)
    host = lab.hosts["sim-0"]
    config = dispatch_files(dispatch)
    age_outages(settings.HOST_SILENCE_S)
    assert poll_state(dispatch) == State.LOST
    lab.set_faults(late_only=0.0)
    neighbour = order_on("sim-1")
    assert poll_state(neighbour) == State.RUNNING
    host.host.put(dispatch.public_id, config)
    host.host.start(dispatch.public_id, dispatch.drive_key, dispatch.generation, [])
    assert lab.truth()["overlaps"] == []


def dispatch_files(dispatch):
    from runners.recipes import RECIPES  # noqa: PLC0415

    return RECIPES[dispatch.recipe].stages(dispatch)[0].files


def test_a_lost_answer_to_the_start_leaves_one_load(order_on, poll_state, lab):
    dispatch = order_on("sim-0")
    lab.set_faults(lost_reply=1.0)
    for _ in range(3):
        poll_state(dispatch)
    lab.set_faults(lost_reply=0.0)
    assert poll_state(dispatch) == State.RUNNING
    assert (lab.truth()["starts_count"], lab.truth()["most_loads"]) == (1, 1)


def test_a_cancel_that_comes_when_the_program_has_just_ended_collects_it(running, poll_state, clock, staff):
    clock.advance(RUN_S)
    cancel(running, staff)
    assert poll_state(running) == State.DONE


def test_a_cancel_just_before_the_end_stops_it(running, poll_state, clock, staff):
    clock.advance(RUN_S // 2 - 1)
    cancel(running, staff)
    assert poll_state(running) == State.CANCELLED
    assert not Submission.objects.exists()


def test_a_program_beyond_its_limit_is_stopped_and_its_reason_names_that(running, poll_state, settings, lab):
    overdue = timezone.now() - timedelta(seconds=RUN_S + settings.RUN_OVERDUE_S)
    Dispatch.objects.update(started_at=overdue + timedelta(seconds=60))
    assert poll_state(running) == State.RUNNING
    Dispatch.objects.update(started_at=overdue)
    assert poll_state(running) == State.FAILED
    assert f"the register stopped the program {settings.RUN_OVERDUE_S} s after the ordered {RUN_S} s" in running.reason


def test_a_program_that_does_not_end_loses_the_dispatch_and_keeps_its_drive(
    running, poll_state, settings, lab, staff, monkeypatch
):
    monkeypatch.setattr(lab.hosts["sim-0"].host, "stop", lab.hosts["sim-0"].host.status)
    cancel(running, staff)
    assert poll_state(running) == State.RUNNING
    Dispatch.objects.update(cancel_requested_at=timezone.now() - timedelta(seconds=settings.HOST_SILENCE_S))
    assert poll_state(running) == State.LOST
    assert "still runs, although its stop was requested" in running.reason
    assert running.ended_at is None


def test_a_silent_simulated_host_raises_the_error_of_a_silent_host(lab):
    lab.silence("sim-1", 1)
    with pytest.raises(HostUnavailableError):
        lab.call("sim-1", "identify", PATH)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a disk that fills")
def test_a_full_disk_of_the_register_delays_the_end_and_loses_nothing(
    running, poll_state, clock, lab, small_disk, settings
):
    use_directory(settings, small_disk / "evidence")
    (small_disk / "other").write_bytes(bytes(200 * 1024))
    clock.advance(RUN_S)
    assert poll_state(running) == State.COLLECTING
    assert "No space left on device" in running.reason
    (small_disk / "other").unlink()
    assert poll_state(running) == State.DONE
    assert kept_bytes(running) == len(host_bytes(lab, running.public_id))


@pytest.fixture
def small_disk(tmp_path):
    place = tmp_path / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)], check=True)
    yield place
    subprocess.run(["umount", str(place)], check=True)
