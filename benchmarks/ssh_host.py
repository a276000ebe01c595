"""Time from an order to the first I/O on a warm lab host over SSH, and the cost of a poll.

Needs root and the packages of tests/lab_hosts/install_sshd.sh: the host is made of namespaces on this machine.
"""

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

import django

django.setup()

from django.conf import settings  # noqa: E402

from runners.hosts.protocol import ProgramState  # noqa: E402
from runners.hosts.ssh import SshHost  # noqa: E402
from runners.hosts.ssh_connection import CONNECTIONS  # noqa: E402
from runners.inventory.enrolment import authorized_key, own_program_sha256, sudo_line  # noqa: E402
from runners.models import Host  # noqa: E402
from tests.lab_hosts.namespaces import SSHD_PROGRAMS, USER, LoopDrives, NamespaceHost, missing  # noqa: E402

STARTS, POLLS = 5, 40
PATH = "/dev/nvme0n1"
CONFIG = f"device-names: {PATH}\ntest-duration-sec: 600\nread-reqs-per-sec: 500\nwrite-reqs-per-sec: 0\n"
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def first_io_s(host: SshHost, loop: str, generation: int) -> float:
    """Return the seconds from an order to the first read on the device, with the requests of the steps."""
    counted = Path(f"/sys/class/block/{Path(loop).name}/stat")
    run, begun = f"d-bench{generation}", time.monotonic()
    key = host.identify(PATH).drive_key
    if host.status(run).state is not ProgramState.ABSENT:
        raise RuntimeError(f"{run}: expected a run that was never started")
    host.identify(PATH)
    host.put(run, {"config": CONFIG.encode()})
    reads = int(counted.read_text().split()[0])
    host.start(run, key, generation, ["storage", "config"])
    while int(counted.read_text().split()[0]) < reads + 100:  # identification reads a few blocks, the load 500 a second
        time.sleep(0.005)
    return time.monotonic() - begun


def polls(host: SshHost, run: str, there: NamespaceHost) -> tuple[list[float], float]:
    """Return the duration of polls of a running load, s, and the CPU time of each on the host, s."""
    host.status(run)
    before, took = cpu_s(there), []
    for _ in range(POLLS):
        begun = time.monotonic()
        status = host.status(run)
        host.read(run, "log", max(0, status.log_bytes - 16384), 1 << 20)
        took.append(time.monotonic() - begun)
    return took, (cpu_s(there) - before) / POLLS


def cpu_s(there: NamespaceHost) -> float:
    """Return the CPU time of all sshd processes of a host and of their ended commands."""
    pids = there.pids_of(*SSHD_PROGRAMS)
    stats = (there.path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids)
    return sum(sum(int(ticks) for ticks in stat[11:15]) for stat in stats) / TICKS_PER_S


def measure(there: NamespaceHost, loop: str) -> None:
    pins = {"address": there.address, "port": there.port, "user": there.user, "host_key": there.host_key}
    host = SshHost(Host(name=there.name, program_sha256=own_program_sha256(), **pins))
    there.install(settings.DRIVETEST, authorized_key(), sudo_line(USER))
    key = host.identify(PATH).drive_key
    there.write("/etc/drivecert/host.toml", f'drives = ["{key}"]\n')
    starts = []
    for generation in range(1, STARTS + 1):
        starts.append(first_io_s(host, loop, generation))
        if generation < STARTS:
            end(host, f"d-bench{generation}")
    took, cost_s = polls(host, f"d-bench{STARTS}", there)
    end(host, f"d-bench{STARTS}")
    print(f"order to first I/O, warm: median {statistics.median(starts):.2f} s, worst {max(starts):.2f} s of {STARTS}")
    print(
        f"a poll (status and new log): median {statistics.median(took) * 1000:.0f} ms, worst {max(took) * 1000:.0f} ms"
    )
    print(f"CPU of a poll on the host: {cost_s * 1000:.1f} ms; every {settings.WATCH_PERIOD_S} s: "
          f"{cost_s / settings.WATCH_PERIOD_S:.2%} of a core")  # fmt: skip


def end(host: SshHost, run: str) -> None:
    host.stop(run)
    while host.status(run).state is ProgramState.RUNNING:
        time.sleep(0.05)


def main() -> None:
    if reason := missing():
        sys.exit(reason)
    with tempfile.TemporaryDirectory(prefix="drivecert-bench") as folder:
        settings.LAB_DIR = Path(folder) / "lab"
        drives, there = LoopDrives(folder), NamespaceHost(folder)
        try:
            loop = drives.add("drive", 256)
            there.give("nvme0n1", loop)
            there.boot()
            measure(there, loop)
        finally:
            CONNECTIONS.close()
            there.remove()
            drives.remove()


if __name__ == "__main__":
    main()
