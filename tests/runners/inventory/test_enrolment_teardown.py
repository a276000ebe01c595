import re

import pytest

from runners.inventory.enrolment import PROGRAM, RELOAD_SSHD, setup_steps, teardown_steps
from tests.runners.ssh_host import HEALTH, ssh_host

pytestmark = pytest.mark.django_db


def commands(steps):
    return "\n".join(commands for _, commands in steps)


def test_what_the_set_up_wrote_is_taken_away():
    host = ssh_host()
    written, undone = re.findall(r"> (/\S+)", commands(setup_steps(host))), commands(teardown_steps(host))
    assert len(written) == 4
    for path in [*written, PROGRAM, host.user, RELOAD_SSHD]:
        assert path in undone


def test_of_the_state_directory_only_runs_and_locks_are_removed_whatever_the_host_calls_it():
    assert "rm -r /var/lib/drivecert/d-* /var/lib/drivecert/locks" in commands(teardown_steps(ssh_host(health=HEALTH)))
    host = ssh_host("lab-2", health=HEALTH | {"state_dir": "/a; reboot"})
    assert "rm -r '/a; reboot'/d-* '/a; reboot'/locks" in commands(teardown_steps(host))
