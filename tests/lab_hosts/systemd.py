"""A lab host whose first process is a real systemd, with control groups of its own and sshd as its service."""

import os
from pathlib import Path

from tests.lab_hosts.namespaces import NamespaceHost

PROGRAM = Path("/usr/lib/systemd/systemd")
MOUNTED = Path("/sys/fs/cgroup")
# Where systemd keeps its tree of processes; a machine that mounts them otherwise has no such host.
HIERARCHIES = (MOUNTED / "systemd", MOUNTED / "unified")
SERVICE = """[Unit]
DefaultDependencies=no
[Service]
ExecStart=/usr/sbin/sshd -D -f /etc/ssh/lab_sshd_config -E /var/log/lab_sshd.log
"""


def missing_systemd() -> str:
    """Return why this machine cannot have such hosts, beside what `missing` tells; empty where it can."""
    lacking = [str(path) for path in (PROGRAM, *HIERARCHIES) if not path.exists()]
    return f"no lab host of systemd: this machine lacks {', '.join(lacking)}" if lacking else ""


class SystemdHost(NamespaceHost):
    """As a host of another init, but what a service leaves behind ends with the service."""

    init = "systemd"

    def start_sshd(self) -> None:
        self._wait_for(lambda: self.run("systemctl", "is-system-running", check=False).stdout.startswith("running"))
        self.write("/etc/systemd/system/lab-sshd.service", SERVICE)
        self.run("systemctl", "start", "lab-sshd.service")
        self._wait_for(self._listens)

    def stop_sshd(self, sessions_too=True):
        """Stop the service, and with it everything that is still in its control group."""
        self.run("systemctl", "stop", "lab-sshd.service")

    def remove(self) -> None:
        super().remove()
        for group in self._groups():
            for directory, _, _ in os.walk(group, topdown=False):
                Path(directory).rmdir()

    def _spaces(self) -> list[str]:
        """Let the host begin in control groups of its own, which it takes for the roots of all."""
        for group in self._groups():
            group.mkdir(exist_ok=True)
        join = "".join(f"echo $$ > {group}/cgroup.procs && " for group in self._groups())
        return ["sh", "-c", f'{join}exec "$@"', "join", *super()._spaces(), "--cgroup"]

    def _groups(self) -> list[Path]:
        """Return one in each hierarchy that systemd would write to; a set of processors takes none unasked."""
        mounted = [path for path in MOUNTED.iterdir() if path.is_mount() and path.name != "cpuset"]
        return [path / f"drivecert-{self.wire.name}" for path in mounted]
