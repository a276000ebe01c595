import re

import pytest

from runners.inventory.enrolment import PROGRAM, RELOAD_SSHD, setup_steps, teardown_steps
from tests.runners.ssh_host import HEALTH, agent_host, ssh_host

pytestmark = pytest.mark.django_db


def commands(steps):
    return "\n".join(commands for _, commands in steps)


def test_the_teardown_removes_the_files_of_the_setup():
    host = ssh_host()
    written, undone = re.findall(r"> (/\S+)", commands(setup_steps(host))), commands(teardown_steps(host))
    assert len(written) == 4
    for path in [*written, PROGRAM, host.user, RELOAD_SSHD]:
        assert path in undone


def test_the_teardown_removes_only_runs_and_locks_from_a_state_directory_of_any_name():
    assert "rm -r /var/lib/drivecert/d-* /var/lib/drivecert/locks" in commands(teardown_steps(ssh_host(health=HEALTH)))
    host = ssh_host("lab-2", health=HEALTH | {"state_dir": "/a; reboot"})
    assert "rm -r '/a; reboot'/d-* '/a; reboot'/locks" in commands(teardown_steps(host))


def test_the_teardown_of_an_agent_host_removes_what_its_agent_wrote():
    undone = commands(teardown_steps(agent_host(health=HEALTH)))
    unit = "drivecert-agent.service"
    for path in (f"/etc/systemd/system/{unit}", "/etc/drivecert/agent.toml", "/etc/drivecert/agent.env",
                 "/etc/drivecert/host.toml", PROGRAM):  # fmt: skip
        assert path in undone
    assert undone.index(f"disable --now {unit}") < undone.index("/etc/drivecert/agent.toml")
    assert "ssh" not in undone
    assert "rm -r /var/lib/drivecert/d-* /var/lib/drivecert/locks" in undone
