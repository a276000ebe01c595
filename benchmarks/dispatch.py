"""A thousand simulated hosts with one run each: polls, statements, delays and memory of real Celery workers.

Needs DATABASE_URL (a PostgreSQL where it may create and drop its own database), REDIS_URL and the built
drivetest. The hosts respond from a separate process and record the time of each request. Without `--finish`, it
measures amid 24 h runs, where each poll finds the log of a period. With it, the runs end, at a speed for a short day.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from simulated_register import simulated_register

from results.models import Organisation
from runners.models import Device, Dispatch, Host
from runners.models.states import FINAL, State
from tests.faults.simulated import ROOT, LabProcess, environment
from tests.lab_simulator.lab import PATH
from tests.lab_simulator.worker import FOUND_FIT, KIND

DAY_S = 86400
START_S = 150


class Workers:
    """Celery workers of the lab's queue, the first with the schedule; counts come from the kernel and the workers."""

    def __init__(self, lab: LabProcess, directory: Path, count: int, period_s: int) -> None:
        self.counts = directory / "statements"
        self.counts.mkdir()
        own = {"SIMULATED_LAB": str(lab.path), "STATEMENTS_DIR": str(self.counts), "WATCH_PERIOD_S": str(period_s)}
        # Each host is polled in each period, however many there are.
        own |= {"REDIS_URL": os.environ["REDIS_URL"], "RUN_POLLS_PER_S": "1000000"}
        command = [sys.executable, "-m", "celery", "--app", "tests.lab_simulator.celery_app", "worker", "--queues=lab"]
        command += ["--concurrency=1", "--without-gossip", "--without-mingle", "--loglevel=WARNING"]
        clock = ["--beat", "--scheduler=webapp.deployment.beat:SteadyScheduler"]
        self.processes = [
            subprocess.Popen(
                [*command, f"--hostname=bench{number}@%h", *(clock if number == 0 else [])],
                cwd=ROOT,
                env=environment(directory) | own,
                start_new_session=True,
            )
            for number in range(count)
        ]

    def statements(self) -> int:
        """Return the number of statements that the workers sent to the database, in steps of 100."""
        return sum(int(path.read_text()) for path in self.counts.glob("[0-9]*"))

    def peak_mib(self) -> float:
        """Return the peak memory of the polling processes so far."""
        pids = [path.name for path in self.counts.glob("[0-9]*")]
        return max(_status_kib(pid, "VmHWM") for pid in pids) / 1024

    def cpu_s(self) -> float:
        """Return the processor time of the polling processes."""
        stats = [Path(f"/proc/{path.name}/stat").read_text() for path in self.counts.glob("[0-9]*")]
        ticks = [field for one in stats for field in one.rsplit(")", 1)[1].split()[11:13]]  # user, system
        return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        for process in self.processes:
            os.killpg(process.pid, 9)
            process.wait()


def _status_kib(pid: str, field: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


def order_on_all(lab: LabProcess, organisation: Organisation, staff: Any, interval_s: int) -> None:
    """Order a run of one day on every host at once, without enqueueing each dispatch."""
    fit = {"kind": KIND, "checked_at": FOUND_FIT}
    hosts = Host.objects.bulk_create([Host(name=name, **fit) for name in lab.names])
    seen = [(host, lab.host(host.name).identify(PATH)) for host in hosts]
    devices = Device.objects.bulk_create(
        Device(
            host=host,
            label="simulated",
            identity_kind=found.kind,
            identity=dict(found.document),
            drive_key=found.drive_key,
            path=found.path,
            size_bytes=found.size_bytes,
        )
        for host, found in seen
    )
    settings = {"nx_load": 1, "duration_s": DAY_S, "slice_length_s": 3600, "options": {"report_interval_s": interval_s}}
    Dispatch.objects.bulk_create(
        Dispatch(organisation=organisation, ordered_by=staff, device=device, drive_key=device.drive_key, **settings)
        for device in devices
    )


def wait_until_running(hosts_count: int) -> float:
    """Return the seconds until every dispatch ran."""
    began_s = time.monotonic()
    while Dispatch.objects.filter(state=State.RUNNING).count() < hosts_count:
        if time.monotonic() - began_s > START_S:
            sys.exit(f"after {START_S} s not all run: {Dispatch.objects.filter(state=State.RUNNING).count()}")
        time.sleep(0.5)
    return time.monotonic() - began_s


def measure_polls(lab: LabProcess, workers: Workers, seconds: int, period_s: int) -> None:
    """Print the polls that the hosts recorded in the middle of their runs."""
    lab.client("", "take_polled_at")
    before, cpu_before_s = workers.statements(), workers.cpu_s()
    time.sleep(seconds)
    polled_at: dict[str, list[float]] = lab.client("", "take_polled_at")
    statements, cpu_s = workers.statements() - before, workers.cpu_s() - cpu_before_s
    gaps = sorted(later - sooner for at in polled_at.values() for sooner, later in pairwise(at))
    polls = sum(len(at) for at in polled_at.values())
    print(f"hosts polled {len(polled_at)}; polls/s {polls / seconds:.0f}; statements/s {statements / seconds:.0f}")
    print(f"statements per poll {statements / polls:.2f}; processor time per poll {cpu_s / polls * 1000:.2f} ms")
    print(f"between polls, s: median {statistics.median(gaps):.2f}, p99 {_at(gaps, 0.99):.2f}, most {gaps[-1]:.2f}")
    print(f"period {period_s} s; polls later than twice their period {sum(gap > 2 * period_s for gap in gaps)}")


def measure_ends(lab: LabProcess, hosts_count: int) -> None:
    """Print the delays from the end of each program to the end of its dispatch."""
    offset_s = time.time() - time.monotonic()
    while Dispatch.objects.filter(state__in=FINAL).count() < hosts_count:
        time.sleep(1)
    ended: dict[str, float] = lab.client("", "ended_at")
    rows: Any = Dispatch.objects.values_list("public_id", "ended_at", "state")
    delays = sorted(at.timestamp() - offset_s - ended[run] for run, at, state in rows if state == State.DONE)
    span_s = max(ended.values()) - min(ended.values())
    print(f"done {len(delays)} of {hosts_count}, whose programs ended within {span_s:.1f} s; from end to done, s:")
    print(f"median {statistics.median(delays):.1f}, p99 {_at(delays, 0.99):.1f}, most {delays[-1]:.1f}")


def _at(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--hosts", type=int, default=1000)
    arguments.add_argument("--workers", type=int, default=1)
    arguments.add_argument("--period", type=int, default=5)
    arguments.add_argument("--speed", type=float, default=1)
    arguments.add_argument("--seconds", type=int, default=40)
    arguments.add_argument("--finish", action="store_true")
    options = arguments.parse_args()
    interval_s = 300 if options.finish else 1
    with simulated_register() as (organisation, staff), tempfile.TemporaryDirectory() as name:
        lab = LabProcess(Path(name), options.hosts, speed=options.speed)
        order_on_all(lab, organisation, staff, interval_s)
        workers = Workers(lab, Path(name), options.workers, options.period)
        try:
            if options.finish:
                measure_ends(lab, options.hosts)
            else:
                print(f"all running after {wait_until_running(options.hosts):.0f} s")
                measure_polls(lab, workers, options.seconds, options.period)
            print(f"workers {options.workers}; most memory of one {workers.peak_mib():.0f} MiB")
        finally:
            workers.end()
            lab.end()


if __name__ == "__main__":
    main()
