"""The limits of the agent's unit, on a host with a real systemd: what `drivetest host` needs still works."""

import re

import pytest
from django.conf import settings

from runners.hosts.protocol import ProgramState
from runners.hosts.wire import RemoteHost
from tests.lab_hosts.systemd import SystemdHost, missing_systemd
from tests.runners.hosts.test_local import wait_until
from tests.runners.hosts.test_ssh import drive_key, start, there

__all__ = ["drive_key", "start", "there"]

pytestmark = [
    pytest.mark.lab_hosts,
    pytest.mark.django_db,
    pytest.mark.skipif(missing_systemd() != "", reason=missing_systemd()),
]

UNIT = settings.BASE_DIR / "runners/drivetest/crates/agent/src/drivecert-agent.service"
# One exchange, as the agent gives it to a child; then the unit ends.
ONE_EXCHANGE = """[Unit]
DefaultDependencies=no
[Service]
Type=oneshot
Restart=no
ExecStart=
ExecStart=/bin/sh -c "/usr/local/sbin/drivetest host < /run/requests > /run/answers"
ExecStart=/bin/sh -c "grep CapBnd /proc/self/status > /run/set"
"""


class HostBehindUnit(RemoteHost):
    """A host that gets each exchange inside the unit of the agent."""

    there = None

    def exchange(self, payload):
        self.there.write("/run/requests", payload)
        self.there.run("systemctl", "start", "drivecert-agent.service")
        return self.there.path("/run/answers").read_bytes()


@pytest.fixture
def enrolled(new_enrolled):
    host, row = new_enrolled("lab-host", kind=SystemdHost)
    host.write("/etc/systemd/system/drivecert-agent.service", UNIT.read_text())
    host.write("/etc/systemd/system/drivecert-agent.service.d/one.conf", ONE_EXCHANGE)
    host.run("systemctl", "daemon-reload")
    return host, row


@pytest.fixture
def host(there, enrolled):
    behind = HostBehindUnit(enrolled[1])
    behind.there = there
    return behind


def test_a_drive_is_identified_and_a_load_runs_in_a_scope_within_the_limits_of_the_unit(there, host, start, drive_key):
    assert host.find(drive_key, 64 * 1024**2) == ["/dev/nvme0n1"]
    assert start().state is ProgramState.RUNNING
    wait_until(lambda: host.status("d-one").log_bytes > 0)
    assert b"ACT" in host.read("d-one", "log", 0, 200)
    assert "drivetest of the run d-one" in there.run("systemctl", "list-units", "--type=scope", "run-*").stdout
    loads = [there.path(f"/proc/{pid}/status").read_text() for pid in there.pids_of("drivetest")]
    bounding = re.search(r"CapBnd:\s*(\w+)", there.path("/run/set").read_text())[1]
    assert {re.search(r"CapBnd:\s*(\w+)", load)[1] for load in loads} == {bounding}
    assert not int(bounding, 16) >> 16 & 1  # CAP_SYS_MODULE
    host.stop("d-one")
    wait_until(lambda: host.status("d-one").state is ProgramState.ENDED)
