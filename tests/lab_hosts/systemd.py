"""A lab host whose first process is a real systemd, with separate control groups and sshd as its service."""

import os
from pathlib import Path

from tests.lab_hosts.namespaces import NamespaceHost

PROGRAM = Path("/usr/lib/systemd/systemd")
# Where a machine mounts control groups of version 2, the only ones for systemd 258 and later: some mount both versions.
HIERARCHIES = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))
SERVICE = """[Unit]
DefaultDependencies=no
[Service]
ExecStart=/usr/sbin/sshd -D -f /etc/ssh/lab_sshd_config -E /var/log/lab_sshd.log
"""


def missing_systemd() -> str:
    """Return why this machine cannot have such hosts, besides the reasons of `missing`; empty if it can."""
    if not PROGRAM.exists():
        return f"no lab host with systemd: {PROGRAM} is missing. Install the package systemd"
    if not writable_hierarchies():
        return f"no lab host with systemd: no writable cgroup2 file system at {' or '.join(map(str, HIERARCHIES))}"
    return ""


def writable_hierarchies() -> list[Path]:
    """Return the directories in which a host can get its own control group."""
    return [path for path in HIERARCHIES if (path / "cgroup.procs").exists() and os.access(path, os.W_OK)]


class SystemdHost(NamespaceHost):
    """A host like that of another init, but leftover processes of a service end with the service."""

    init = "systemd"

    def start_sshd(self) -> None:
        self._wait_for(lambda: self.run("systemctl", "is-system-running", check=False).stdout.startswith("running"))
        self.write("/etc/systemd/system/lab-sshd.service", SERVICE)
        self.run("systemctl", "start", "lab-sshd.service")
        self._wait_for(self._listens)

    def stop_sshd(self, sessions_too=True):
        """Stop the service and all processes in its control group."""
        self.run("systemctl", "stop", "lab-sshd.service")

    def remove(self) -> None:
        super().remove()
        for directory, _, _ in os.walk(self._group(), topdown=False):
            Path(directory).rmdir()

    def _spaces(self) -> list[str]:
        """Return the command that starts the host in its own control group, the root of all groups on the host."""
        self._group().mkdir(exist_ok=True)
        join = f'echo $$ > {self._group()}/cgroup.procs && exec "$@"'
        return ["sh", "-c", join, "join", *super()._spaces(), "--cgroup"]

    def _group(self) -> Path:
        return writable_hierarchies()[0] / f"drivecert-{self.wire.name}"
