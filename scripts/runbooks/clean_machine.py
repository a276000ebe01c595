"""A new Debian in a directory, with processes, mounts, network and host name of its own; it needs root.

Its first process is the stand-in for systemd of this package. It reaches other machines through this one.
"""

import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.lab_hosts.network import Wire, run

SUITE = "bookworm"
# What a Debian that was installed on a machine has, and this smallest root has not.
GIVEN = ("ca-certificates", "python3-minimal", "libpython3-stdlib")
STAND_IN = Path(__file__).with_name("stand_in")
LIBRARY = "usr/local/lib/stand-in"
PROGRAM = f"#!/bin/sh\nPYTHONPATH=/{LIBRARY} exec /usr/bin/python3 -m stand_in "
OWN_AUTHORITIES = Path("/usr/local/share/ca-certificates")
TRUSTED = "/etc/ssl/certs/ca-certificates.crt"
MARK = "--end-of-command--"
BOOT_S = 120
FORWARDING = Path("/proc/sys/net/ipv4/ip_forward")
# As a login of root has it.
ENVIRONMENT = {
    "HOME": "/root", "USER": "root", "LOGNAME": "root", "SHELL": "/bin/bash", "LANG": "C.UTF-8", "TERM": "dumb",
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive",
}  # fmt: skip
BOOT = """
set -eu
cd "$1"
mount --make-rprivate /
mount --bind . .
cd "$1"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t tmpfs -o mode=0755 dev dev
mount -t tmpfs -o mode=0755 run run
mount -t tmpfs -o mode=1777 tmp tmp
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
mount -t tmpfs -o mode=1777 shm dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
ln -s fd/0 dev/stdin; ln -s fd/1 dev/stdout; ln -s fd/2 dev/stderr
for node in null zero full random urandom tty; do cp -a "/dev/$node" "dev/$node"; done
# Programs for containers refuse both versions of control groups at once: then only version 1.
mount -t tmpfs -o mode=0755 groups sys/fs/cgroup
if [ -d /sys/fs/cgroup/unified ]; then
  for each in /sys/fs/cgroup/*/; do
    name=$(basename "$each")
    [ "$name" = unified ] || { mkdir "sys/fs/cgroup/$name"; mount --bind "$each" "sys/fs/cgroup/$name"; }
  done
else
  mount --rbind /sys/fs/cgroup sys/fs/cgroup
fi
hostname "$2"
ip link set lo up
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 chroot . /usr/sbin/init
"""


@dataclass(frozen=True)
class Ended:
    """A command that has ended."""

    status: int
    output: str
    seconds: float


class CleanMachine:
    """A machine with nothing but Debian. `name` is its host name, and leads to itself."""

    def __init__(self, directory: Path, name: str) -> None:
        self.directory, self.name = directory, name
        self.root = directory / "root"
        self.debian = directory.parent / f"debian-{SUITE}"
        self.wire: Wire | None = None
        self.forwarding: str | None = None  # that of this machine, before it forwarded the packets of the new one
        self.launcher: subprocess.Popen[str] | None = None
        self.first = 0

    def install(self) -> None:
        """Make its root directory: debootstrap, kept for the next machine, and the stand-in."""
        if not (self.debian / "complete").exists():
            shutil.rmtree(self.debian, ignore_errors=True)
            command = ["debootstrap", "--variant=minbase", f"--include={','.join(GIVEN)}", SUITE, str(self.debian)]
            self.debian.mkdir(parents=True)
            with (self.directory.parent / "debootstrap.log").open("w") as log:
                subprocess.run(command, check=True, stdout=log, stderr=log)
            # A machine that was installed some time ago has no present lists of packages.
            shutil.rmtree(self.debian / "var/lib/apt/lists")
            (self.debian / "complete").touch()
        self.directory.mkdir(parents=True, exist_ok=True)
        run("cp", "--archive", "--reflink=auto", str(self.debian), str(self.root))
        self.install_stand_in()
        self.write("etc/hostname", f"{self.name}\n")
        self.write("etc/hosts", f"127.0.0.1 localhost\n127.0.0.1 {self.name}\n")
        self.write("etc/resolv.conf", Path("/etc/resolv.conf").read_text())
        for path in OWN_AUTHORITIES.glob("*.crt"):
            self.write(f"usr/local/share/ca-certificates/{path.name}", path.read_text())
        self.write("etc/pip.conf", f"[global]\ncert = {TRUSTED}\n")
        run("chroot", str(self.root), "update-ca-certificates")

    def install_stand_in(self) -> None:
        """Install the stand-in for systemd, with which the machine boots."""
        shutil.copytree(STAND_IN, self.root / LIBRARY / "stand_in", ignore=shutil.ignore_patterns("__pycache__"))
        # Scripts of packages look for both, and only there.
        self.write("usr/bin/systemctl", f'{PROGRAM}"$@"\n', 0o755)
        self.write("usr/sbin/init", f"{PROGRAM}manager\n", 0o755)

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        """Write a file of its root directory."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)  # it may be a link
        place.write_text(text)
        place.chmod(mode)

    def boot(self, *, has_route: bool = True) -> None:
        """Start its first process, and wait until the services that are enabled have started."""
        self.wire = Wire()
        if has_route:
            self.forwarding = _route(self.wire)
        command = [
            "setpriv",
            "--pdeathsig",
            "KILL",
            "nsenter",
            f"--net={self.wire.path}",
            "unshare",
            "--mount",
            "--pid",
        ]
        command += [
            "--uts",
            "--ipc",
            "--fork",
            "--kill-child=KILL",
            "sh",
            "-c",
            BOOT,
            "boot",
            str(self.root),
            self.name,
        ]
        with (self.directory / "boot.log").open("a") as log:
            launcher = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True
            )
        self.launcher = launcher
        stop = threading.Timer(BOOT_S, launcher.kill)
        stop.start()
        assert launcher.stdout is not None  # noqa: S101 - for the types: it is a pipe
        messages = []
        for line in launcher.stdout:
            messages.append(line)
            if line == "ready\n":
                break
        else:
            raise RuntimeError(f"{self.name}: expected a first process, it ended: {''.join(messages)[-2000:]}")
        stop.cancel()
        children = Path(f"/proc/{launcher.pid}/task/{launcher.pid}/children").read_text().split()
        self.first = int(children[0])
        threading.Thread(target=launcher.stdout.read, daemon=True).start()

    def power_off(self) -> None:
        """Kill all its processes at once; its files stay."""
        if self.launcher is not None:
            with self.launcher:
                self.launcher.kill()  # the kernel ends the whole namespace with its first process
            self.launcher = None
        if self.wire is not None:
            if self.forwarding is not None:
                _unroute(self.wire, self.forwarding)
                self.forwarding = None
            self.wire.remove()
            self.wire = None

    @contextmanager
    def shell(self) -> Iterator["Shell"]:
        """Open a login of root for the time of a block."""
        inside = ["--mount", "--net", "--pid", "--uts", "--ipc", f"--root=/proc/{self.first}/root", "--wd=/"]
        command = ["nsenter", f"--target={self.first}", *inside, "env", "-i"]
        command += [*(f"{name}={value}" for name, value in ENVIRONMENT.items()), "/bin/bash"]
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        with process:
            try:
                yield Shell(process)
            finally:
                process.kill()

    def logs(self) -> str:
        """Return the end of the log of each service."""
        folder = self.root / "var/log/services"
        return "\n".join(f"== {path.name}\n{path.read_text(errors='replace')[-1500:]}" for path in folder.glob("*.log"))


class Shell:
    """A shell that runs one command after the other, as they would be typed."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.run("cd", 30)

    def run(self, text: str, limit_s: float) -> Ended:
        """Run a command, and wait for its end. After the limit, the shell is killed."""
        assert self.process.stdin is not None  # noqa: S101 - for the types: both are pipes
        assert self.process.stdout is not None  # noqa: S101
        begun = time.monotonic()
        stop = threading.Timer(limit_s, self.process.kill)
        stop.start()
        lines: list[str] = []
        try:
            self.process.stdin.write(f"{{ {text}\n}} </dev/null\nprintf '\\n%s %s\\n' {MARK} $?\n")
            self.process.stdin.flush()
            for line in self.process.stdout:
                if line.startswith(f"{MARK} "):
                    status = int(line.split()[1])
                    return Ended(status, "".join(lines).rstrip("\n"), time.monotonic() - begun)
                lines.append(line)
        finally:
            stop.cancel()
        output = "".join(lines)
        return Ended(-1, f"{output}the shell ended, or the command took {limit_s:.0f} s", time.monotonic() - begun)


def _route(wire: Wire) -> str:
    """Let the machine reach others through this one; return whether this one forwarded packets before ("1")."""
    run("ip", "-n", wire.name, "route", "add", "default", "via", wire.near)
    before = FORWARDING.read_text()
    FORWARDING.write_text("1")
    run("iptables", "--table", "nat", "--append", *_masquerade(wire))
    return before


def _unroute(wire: Wire, before: str) -> None:
    run("iptables", "--table", "nat", "--delete", *_masquerade(wire), check=False)
    FORWARDING.write_text(before)


def _masquerade(wire: Wire) -> list[str]:
    return ["POSTROUTING", "--source", wire.far, "--jump", "MASQUERADE"]
