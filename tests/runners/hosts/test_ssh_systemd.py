"""A lab host over SSH whose init is a real systemd: each run has its own scope."""

import pytest

from runners.hosts.protocol import ProgramState
from runners.hosts.ssh_connection import CONNECTIONS
from tests.lab_hosts.systemd import SystemdHost, missing_systemd
from tests.runners.hosts.test_local import wait_until
from tests.runners.hosts.test_ssh import drive_key, host, start, there

__all__ = ["drive_key", "host", "start", "there"]

pytestmark = [
    pytest.mark.lab_hosts,
    pytest.mark.django_db,
    pytest.mark.skipif(missing_systemd() != "", reason=missing_systemd()),
]


OF_SSHD = "/sys/fs/cgroup/system.slice/lab-sshd.service/cgroup.procs"


@pytest.fixture
def enrolled(new_enrolled):
    return new_enrolled("lab-host", kind=SystemdHost)


def group_of(there, pid):
    """Return the control group of a process, as its host's systemd names it."""
    lines = there.path(f"/proc/{pid}/cgroup").read_text().splitlines()
    (group,) = (line.removeprefix("0::") for line in lines if line.startswith("0::"))
    return group.partition(there.wire.name)[2]


def scopes(there):
    return there.run("systemctl", "list-units", "--plain", "--no-legend", "--type=scope", "run-*").stdout


def test_a_host_reports_that_systemd_is_its_init(host):
    assert host.health()["init"] == "systemd"


def test_a_run_has_its_own_scope_and_leaves_none(there, host, start):
    started = start()
    assert started.state is ProgramState.RUNNING
    assert "drivetest of the run d-one" in scopes(there)
    groups = {group_of(there, pid) for pid in there.pids_of("drivetest")}
    assert len(groups) == 1
    assert groups.pop().startswith("/system.slice/run-")
    host.stop("d-one")
    wait_until(lambda: host.status("d-one").state is ProgramState.ENDED)
    assert host.status("d-one").exit_status == 5
    wait_until(lambda: not scopes(there))


def test_a_run_outlives_the_service_and_the_control_group_of_sshd(there, host, start):
    before = start()
    there.run("sh", "-c", f"echo $$ > {OF_SSHD}; sleep 600 >/dev/null 2>&1 &")
    there.stop_sshd()
    wait_until(lambda: not there.pids_of("sleep"))  # leftover processes of a service end with it
    CONNECTIONS.close()
    there.start_sshd()
    now = host.status("d-one")
    assert (now.state, now.pid) == (ProgramState.RUNNING, before.pid)


def test_a_repeated_start_reports_the_same_process(there, host, start):
    first, again = start(), start()
    assert first.pid == again.pid
    wait_until(lambda: len(scopes(there).splitlines()) == 1)  # the restarted program answers before it ends
    assert host.status("d-one").pid == first.pid


def test_a_rebooted_host_reports_an_unobserved_end(there, host, start):
    start()
    there.reboot()
    status = host.status("d-one")
    assert (status.state, status.exit_status) == (ProgramState.ENDED, None)
    assert "rebooted" in status.reason
