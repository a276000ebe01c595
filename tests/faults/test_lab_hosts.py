"""Real hosts over a real sshd: killed, cut off, rebooted, full. Each dispatch ends in one run or a stated failure.

No byte of a log is lost.
"""

import time
from decimal import Decimal

import pytest

from results.models import Submission
from runners.dispatch.orders import Order, order
from runners.hosts import connect
from runners.hosts.protocol import ProgramState
from runners.hosts.ssh import SshHost
from runners.inventory.devices import bind
from runners.inventory.health import check
from runners.models.states import FINAL, State
from tests.lab_hosts.enrolled import new_enrolled, warm_connections_closed
from tests.lab_hosts.fixtures import loop_drives, new_lab_host
from tests.runners.lab import a_lab, drivetest, poll_all, separate_evidence

__all__ = [
    "a_lab",
    "drivetest",
    "loop_drives",
    "new_enrolled",
    "new_lab_host",
    "separate_evidence",
    "warm_connections_closed",
]

pytestmark = [pytest.mark.faults, pytest.mark.lab_hosts, pytest.mark.django_db]

PATIENCE_S = 300  # two busy cores may take long
RUN_S = 20  # long enough that it still runs when its start is observed
QUICK_S = 5  # the limit of an outage in these tests
LONG_S = 600  # for a run that must not end by itself, even on a busy machine
outlasting = pytest.mark.parametrize("run_s", [LONG_S])
DISK_MIB = 96  # drivetest itself takes some 40


@pytest.fixture
def run_s():
    return RUN_S


@pytest.fixture
def there_and_dispatch(new_enrolled, staff, a_lab, run_s):
    there, row = new_enrolled(disk_mib=DISK_MIB)
    assert check(row) == []
    device = bind(row, SshHost(row).identify("/dev/nvme0n1"), "a loop device", staff)
    return there, order(device, a_lab, Order(Decimal("0.1"), run_s, 2), staff)


@pytest.fixture
def there(there_and_dispatch):
    return there_and_dispatch[0]


@pytest.fixture
def running(there_and_dispatch):
    dispatch = there_and_dispatch[1]
    poll_until(dispatch, lambda: dispatch.last_label_s >= 2)
    return dispatch


def poll_until(dispatch, is_so):
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline, (dispatch.state, dispatch.reason)
        poll_all(connect)
        dispatch.refresh_from_db()
        time.sleep(0.2)


def log_of(there, dispatch):
    return there.path(f"/var/lib/drivecert/{dispatch.public_id}/log").read_bytes()


def check_all_bytes_are_stored(there, dispatch):
    assert dispatch.submission.log.size_bytes == len(log_of(there, dispatch)) > 0
    assert Submission.objects.count() == 1


def loads(there):
    """Return the processes of the monitor and the load."""
    return len(there.pids_of("drivetest"))


def test_an_sshd_killed_in_mid_run_is_waited_for(there, running):
    there.stop_sshd()
    assert loads(there) == 2
    poll_until(running, lambda: "the register repeats it" in running.reason)
    there.start_sshd()
    poll_until(running, lambda: running.state in FINAL)
    assert (running.state, running.reason) == (State.DONE, "the program finished")
    check_all_bytes_are_stored(there, running)


def test_a_link_cut_in_mid_run_is_waited_for(there, running, settings):
    ours, settings.HOST_ANSWER_TIMEOUT_S = settings.HOST_ANSWER_TIMEOUT_S, QUICK_S
    there.cut()
    poll_until(running, lambda: "the register repeats it" in running.reason)
    there.restore()
    settings.HOST_ANSWER_TIMEOUT_S = ours  # a new login may take a busy machine longer
    poll_until(running, lambda: running.state in FINAL)
    assert (running.state, running.reason) == (State.DONE, "the program finished")
    check_all_bytes_are_stored(there, running)


@outlasting
def test_a_link_cut_for_longer_than_the_limit_loses_the_dispatch_and_keeps_its_drive(there, running, settings):
    settings.HOST_ANSWER_TIMEOUT_S, settings.HOST_SILENCE_S = QUICK_S, 2
    there.cut()
    poll_until(running, lambda: running.state in FINAL)
    assert running.state == State.LOST
    assert "has given no usable answer since" in running.reason
    assert running.ended_at is None
    assert loads(there) == 2


@outlasting
def test_a_rebooted_host_fails_the_dispatch_with_all_its_bytes(there, running):
    pid = running.pid
    there.reboot()
    poll_until(running, lambda: running.state in FINAL)
    assert (running.state, running.pid) == (State.FAILED, pid)
    assert "ended unobserved: the host was restarted" in running.reason
    assert loads(there) == 0
    check_all_bytes_are_stored(there, running)


@outlasting
def test_a_full_disk_of_the_host_ends_in_a_named_failure_with_all_its_bytes(there, running):
    there.run("dd", "if=/dev/zero", "of=/var/lib/filler", "bs=64k", check=False)
    poll_until(running, lambda: running.state in FINAL)
    assert running.state == State.FAILED
    assert running.reason
    assert SshHost(running.device.host).status(running.public_id).state is ProgramState.ENDED
    check_all_bytes_are_stored(there, running)
