"""Lab hosts on this machine: a real sshd and sudo in a separate network, with a separate disk and /dev.

A host has its own processes (killed together at a reboot), an overlay of this machine's files (its disk, which
survives the reboot), a network interface (cut and restored from outside), and the loop devices attached to it.
"""

import contextlib
import os
import shutil
import signal
import stat
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.lab_hosts.network import PATIENCE_S, Wire, run

BOOT = Path(__file__).parent / "boot.sh"
USER = "drivecert"
PROGRAM = "/usr/local/sbin/drivetest"
# OpenSSH 9.8 and later serve each connection with separate programs.
SSHD_PROGRAMS = ("sshd", "sshd-session", "sshd-auth")
SSHD_CONFIG = """Port 22
ListenAddress {address}
HostKey /etc/ssh/host_key
PidFile /run/sshd.pid
AuthorizedKeysFile /etc/ssh/authorized/%u
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
AllowUsers drivecert
"""


def missing() -> str:
    """Return why this machine cannot have such hosts; empty where it can."""
    if os.geteuid() != 0:
        return "lab hosts are made of namespaces and loop devices, which needs root"
    tools = ("/usr/sbin/sshd", "ssh", "ssh-keygen", "sudo", "ip", "unshare", "nsenter", "losetup", "setpriv")
    lacking = [tool for tool in tools if shutil.which(tool) is None]
    if lacking:
        return f"no lab hosts: install {', '.join(lacking)} (tests/lab_hosts/install_sshd.sh)"
    if run("unshare", "--net", "--mount", "--pid", "--fork", "true", check=False).returncode:
        return "no lab hosts: this machine does not let its root make namespaces"
    return ""


class NamespaceHost:
    """A lab host. Its disk is mounted in `directory`; `disk_mib` is its size, for tests of a full disk."""

    init = "sh"

    def __init__(self, directory: str | Path, name: str = "lab-host", disk_mib: int = 256) -> None:
        self.name = name
        self.disk = Path(directory) / f"{name}.disk"
        self.devices: dict[str, str] = {}
        self.wire = Wire()
        self.address, self.port, self.user = self.wire.far, 22, USER
        self.first: Any = None  # before the first boot
        self.launcher: Any = None
        self._make_disk(disk_mib)

    def _make_disk(self, disk_mib: int) -> None:
        self.disk.mkdir(parents=True)
        run("mount", "-t", "tmpfs", "-o", f"mode=0755,size={disk_mib}m", self.wire.name, str(self.disk))
        for name in ("upper", "work", "root"):
            (self.disk / name).mkdir()

    # --- power -------------------------------------------------------------------------------------------------

    def boot(self) -> None:
        """Start the host's first process and its sshd."""
        (self.disk / "boot_id").write_text(f"{uuid.uuid4()}\n")
        command = ["setpriv", "--pdeathsig", "KILL", "nsenter", f"--net={self.wire.path}", *self._spaces()]
        command += ["sh", str(BOOT), str(self.disk), self.name, self.init]
        with (self.disk / "boot.log").open("ab") as log:
            self.launcher = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.first = self._wait_for(self._first_process)
        self._wait_for(lambda: self.path("/run/booted").exists())
        self._set_up_once()
        for name, backing in self.devices.items():
            self._make_node(name, backing)
        self.start_sshd()

    def _spaces(self) -> list[str]:
        """Return the command that boots the host; if this session is killed, all of its processes end."""
        return ["unshare", "--mount", "--pid", "--uts", "--ipc", "--fork", "--kill-child=KILL"]

    def power_off(self) -> None:
        """Kill all processes of the host at once; the written files stay on its disk."""
        if self.launcher is not None:
            with contextlib.suppress(ProcessLookupError):  # the host may have ended by itself
                # The kernel ends the whole namespace with its first process.
                os.kill(self.first or self.launcher.pid, signal.SIGKILL)
            self.launcher.wait()
            self.launcher = self.first = None

    def reboot(self):
        self.power_off()
        self.boot()

    def remove(self) -> None:
        """Remove the host with its disk and its link."""
        self.power_off()
        self.wire.remove()
        run("umount", str(self.disk))
        self.disk.rmdir()

    def _first_process(self) -> int | None:
        children = Path(f"/proc/{self.launcher.pid}/task/{self.launcher.pid}/children").read_text().split()
        return int(children[0]) if children else None

    # --- sshd and the link --------------------------------------------------------------------------------------

    def start_sshd(self) -> None:
        self.run("/usr/sbin/sshd", "-f", "/etc/ssh/lab_sshd_config", "-E", "/var/log/lab_sshd.log")
        self._wait_for(lambda: self._listens() and self._sshd_pid())

    def stop_sshd(self, sessions_too=True):
        """Kill the listening sshd and its connections; the programs that they started continue."""
        main = int(self.path("/run/sshd.pid").read_text())
        ours = self.pids_of(*SSHD_PROGRAMS) if sessions_too else [main]
        self.run("kill", "-9", *map(str, ours), check=False)
        # A killed process ends when it is scheduled next; until then its socket accepts connections.
        self._wait_for(lambda: not (self._listens() or set(ours) & set(self.pids_of(*SSHD_PROGRAMS))))
        self.path("/run/sshd.pid").unlink(missing_ok=True)

    def cut(self) -> None:
        """Take the link down: packets are lost, and no side gets an error."""
        self.wire.cut()

    def restore(self) -> None:
        self.wire.restore()

    def _sshd_pid(self) -> str:
        """Return the process id that sshd writes once it listens; empty before."""
        pid_file = self.path("/run/sshd.pid")
        return pid_file.read_text().strip() if pid_file.exists() else ""

    def _listens(self) -> bool:
        listening = self.run("ss", "-Hltn", "sport = :22", check=False)
        return self.address in listening.stdout

    # --- inside -------------------------------------------------------------------------------------------------

    def run(self, *argv: str, check: bool = True) -> "subprocess.CompletedProcess[str]":
        """Run a command on the host as its root, and wait until no process has its output open."""
        inside = ["--mount", "--net", "--pid", "--uts", "--ipc", f"--root=/proc/{self.first}/root", "--wd=/"]
        return run("nsenter", f"--target={self.first}", *inside, *argv, check=check)

    def join(self, register: str, code: str) -> None:
        """Join a register with the code that it has shown."""
        run(*self._on_network_of_tests(), "agent", "join", register, code, "--no-service")

    @contextlib.contextmanager
    def agent(self, ended_by: int = signal.SIGTERM) -> Iterator[None]:
        """Run `drivetest agent` on the host until a signal at the end of the block.

        It uses the network of this machine: only there is a register without TLS on the loopback.
        """
        process = subprocess.Popen([*self._on_network_of_tests(), "agent"])
        try:
            yield
        finally:
            # The agent is the child of the process that entered the host.
            for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
                os.kill(int(child), ended_by)
            status = process.wait(PATIENCE_S)
        assert status == (0 if ended_by == signal.SIGTERM else -ended_by)

    def _on_network_of_tests(self) -> list[str]:
        inside = ["--mount", "--pid", "--uts", "--ipc", f"--root=/proc/{self.first}/root", "--wd=/"]
        return ["nsenter", f"--target={self.first}", *inside, PROGRAM]

    def path(self, path: str) -> Path:
        """Return a path of the host as this machine can reach it, as long as the host is up."""
        return Path(f"/proc/{self.first}/root{path}")

    def write(self, path: str, content: str | bytes, mode: int = 0o644) -> None:
        """Write a file of the host's, owned by its root."""
        there = self.path(path)
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_bytes(content if isinstance(content, bytes) else content.encode())
        there.chmod(mode)

    def pids_of(self, *commands: str) -> list[int]:
        """Return the processes of the host that run a program with one of these names, as the host numbers them."""
        found = []
        for entry in self.path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and not _names_of(entry).isdisjoint(commands):
                    found.append(int(entry.name))
        return found

    # --- installation -------------------------------------------------------------------------------------------

    def install(self, program: str | Path, public_key: str, sudo_line: str, config: str = "") -> None:
        """Install the files of an enrolment: the program, the user's key, the sudo rule, the configuration."""
        self.write(PROGRAM, Path(program).read_bytes(), 0o755)
        self.write(f"/etc/ssh/authorized/{USER}", f"{public_key}\n")
        self.write("/etc/sudoers.d/drivecert", f"{sudo_line}\n", 0o440)
        if config:
            self.write("/etc/drivecert/host.toml", config)

    @property
    def host_key(self) -> str:
        """Return the public key of the host's sshd as `ssh-keyscan` prints it: kind and key."""
        return " ".join(self.path("/etc/ssh/host_key.pub").read_text().split()[:2])

    def _set_up_once(self) -> None:
        if self.path("/etc/ssh/lab_sshd_config").exists():
            return
        self.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "/etc/ssh/host_key")
        self.write("/etc/ssh/lab_sshd_config", SSHD_CONFIG.format(address=self.address))
        self.run("useradd", "--system", "--create-home", "--shell", "/bin/sh", "--password", "*", USER)

    # --- devices ------------------------------------------------------------------------------------------------

    def give(self, name: str, device: str) -> None:
        """Attach a block device of this machine under a name in the host's /dev, or swap two names."""
        self.devices[name] = device
        if self.first is not None:
            self._make_node(name, device)

    def take(self, name):
        del self.devices[name]
        self.path(f"/dev/{name}").unlink(missing_ok=True)

    def _make_node(self, name: str, device: str) -> None:
        node = self.path(f"/dev/{name}")
        node.unlink(missing_ok=True)
        os.mknod(node, stat.S_IFBLK | 0o600, Path(device).stat().st_rdev)
        self._show_backing(Path(f"/sys/class/block/{Path(device).name}/loop/backing_file"))

    def _show_backing(self, loop_attribute: Path) -> None:
        """Mount the backing file of a loop device on the host, because the same file is the drive's identity."""
        if loop_attribute.exists() and not self.path(backing := loop_attribute.read_text().strip()).exists():
            self.write(backing, b"")
            run(
                "nsenter", f"--target={self.first}", "--mount", "mount", "--bind", backing, f"{self.disk}/root{backing}"
            )

    def _wait_for(self, condition: Any, for_s: float = 90) -> Any:
        deadline = time.monotonic() + for_s
        while not (found := condition()):
            if self.launcher.poll() is not None:
                raise RuntimeError(f"{self.name} ended: {(self.disk / 'boot.log').read_text()}")
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.name}: waited {for_s} s without success")
            time.sleep(0.02)
        return found


def _names_of(process: Path) -> set[str]:
    """Return the names of a process: a program run through /proc/self/exe has its name in its arguments."""
    called = (process / "cmdline").read_bytes().partition(b"\0")[0].decode()
    return {(process / "comm").read_text().strip(), Path(called).name}


class LoopDrives:
    """Loop devices over sparse files, used as drives and freed at the end."""

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self.devices: dict[str, Path] = {}

    def add(self, name: str, size_mib: int = 64) -> str:
        """Return the path of a new loop device."""
        backing = self.directory / f"{name}.img"
        with backing.open("xb") as stream:
            stream.truncate(size_mib * 1024 * 1024)
        device = run("losetup", "--find", "--show", str(backing)).stdout.strip()
        self.devices[device] = backing
        return device

    def key_of(self, device: str) -> str:
        """Return the drive key of the device without drivetest, which would watch it for I/O for a second."""
        backing = self.devices[device].stat()
        return f"file:{backing.st_dev}:{backing.st_ino}"

    def remove(self) -> None:
        for device in self.devices:
            run("losetup", "--detach", device, check=False)
        self.devices.clear()
