"""Random faults of lab hosts that only their agents reach, and of the register: what happens to loads and logs.

    python -m benchmarks.agent_faults [--faults 1000] [--hosts 8] [--seed 1] [--clock-steps] [--print-only]

Needs root, nginx (tests/operations/install_nginx.sh) and the built drivetest. Real hosts in namespaces that listen on
nothing, real loads on loop devices, a real register behind nginx. Scripts order a new run as soon as a drive is free.
--clock-steps changes the clock of this machine for seconds and sets it right again. Writes
benchmarks/results/agent-faults.md. The exit status is 1 if a measure misses its target.
"""

import argparse
import contextlib
import hashlib
import itertools
import math
import os
import random
import re
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
for folder in (ROOT, ROOT / "benchmarks"):
    sys.path.insert(0, str(folder))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

import django  # noqa: E402

django.setup()

import psycopg  # noqa: E402
import requests  # noqa: E402
from account_measures import people  # noqa: E402
from account_measures.site import Client, Row, Site, wait_for  # noqa: E402
from django.conf import settings  # noqa: E402
from mixed.faults import faults_of  # noqa: E402
from mixed_load import live_url, running_site  # noqa: E402
from redis import RedisError  # noqa: E402

from runners.models.states import FINAL, State  # noqa: E402
from tests.lab_hosts.agent_hosts import STATE_DIR, AgentHost, Link, Links  # noqa: E402
from tests.lab_hosts.namespaces import PROGRAM, LoopDrives, missing  # noqa: E402
from tests.operations.nginx import NAME, Nginx, missing_nginx  # noqa: E402
from tests.register import WITHOUT_SNAPSHOTS, free_port  # noqa: E402
from webapp.embedded import Postgres  # noqa: E402
from webapp.supervisor.data_directory import DataDirectory  # noqa: E402

RESULT = ROOT / "benchmarks/results/agent-faults.md"
DRIVE = "/dev/nvme0n1"
DISK_MIB = 160  # of a host; drivetest itself takes some 40
SETTINGS = WITHOUT_SNAPSHOTS | {
    "HOST_FREE_MIB_MIN": "1", "HOST_CHECK_PERIOD_S": "20", "TRUSTED_PROXIES": "127.0.0.0/8",
}  # fmt: skip
# A run may take longer than what causes it, but never without end.
SETTLE_S = 600
RUN = {"nx_load": "0.1", "report_interval_s": 1}
RUN_S, PAUSE_S, FAULT_S, RESTART_S = (3, 40), (1.0, 15.0), (0.5, 30.0), (0.1, 5.0)
DELAY_S, CLOCK_STEP_S, CLOCK_FAULT_S = (0.2, 8.0), (-7200.0, 7200.0), (0.5, 10.0)
LOOK_PERIOD_S = 0.05
NUMBER, REASON_CHARS, REASONS_MOST = re.compile(r"[\d.,:]+"), 90, 6
OF_THE_REGISTER, OF_THE_CLOCK = 0.15, 0.02  # shares of all faults
ENDS = (
    "SELECT d.public_id, d.state, d.reason, d.ended_at IS NULL, e.sha256 FROM runners_dispatch d "
    "LEFT JOIN results_submission s ON s.id = d.submission_id LEFT JOIN results_evidence e ON e.id = s.log_id"
)
# A lost run keeps its drive until its end is confirmed.
BUSY_DEVICES = (
    "SELECT DISTINCT device_id FROM runners_dispatch WHERE state <> ALL(%s) OR (state = 'lost' AND ended_at IS NULL)"
)


@dataclass(frozen=True)
class End:
    """How a run ended for the register."""

    run: str
    state: str
    reason: str
    has_no_end: bool
    log_sha256: str | None

    @property
    def is_open(self) -> bool:
        """Return whether the run goes on, or is lost and may go on."""
        return self.state not in FINAL or (self.state == State.LOST and self.has_no_end)


@dataclass
class Happened:
    """What was caused and seen until now. `most_loads` is the largest number of loads at once on one drive."""

    faults: Counter[str] = field(default_factory=Counter)
    most_loads: int = 0
    looks: int = 0


class Lab:
    """Hosts with one drive each. A link on this machine's end of each wire leads to nginx; all have the same port."""

    def __init__(self, directory: Path, port: int, proxy: Nginx, links: Links) -> None:
        self.directory, self.port, self.proxy, self.links = directory, port, proxy, links
        self.drives = LoopDrives(directory)
        self.hosts: dict[str, tuple[AgentHost, Link]] = {}

    def add(self, name: str) -> None:
        """Boot a host with a listed drive."""
        host = AgentHost(self.directory, name, DISK_MIB)
        listen, number = (host.wire.near, self.port), len(self.hosts) + 1
        link = self.links.open(listen, ("127.0.0.1", self.proxy.https), f"127.9.1.{number}")
        self.hosts[name] = host, link
        device = self.drives.add(f"{name}-drive")
        host.give("nvme0n1", device)
        host.boot()
        host.trust(self.proxy.certificate)
        host.write("/etc/drivecert/host.toml", f'drives = ["{self.drives.key_of(device)}"]\n')

    def join(self, codes: dict[str, str]) -> None:
        """Let all hosts join, and start their agents."""
        for name, (host, _) in self.hosts.items():
            host.write(PROGRAM, Path(settings.DRIVETEST).read_bytes(), 0o755)
            host.join(f"https://{NAME}:{self.port}", codes[name])
            host.start_agent()

    def remove(self) -> None:
        """Remove the hosts with all of their processes."""
        for host, _ in self.hosts.values():
            host.kill_agent()
            host.remove()
        self.drives.remove()

    def logs(self) -> Iterator[tuple[str, Path]]:
        """Yield the run and the log file of each run directory."""
        for host, _ in self.hosts.values():
            for path in sorted(host.path(STATE_DIR).glob("d-*/log")):
                yield path.parent.name, path

    def running(self) -> set[str]:
        """Return the runs of which a process is left on a host."""
        words = {word for host, _ in self.hosts.values() for _, words in host.programs() for word in words}
        runs = {path.parent.name for _, path in self.logs()}
        return {run for run in runs if any(run in word for word in words)}


@contextmanager
def until_set(stop: threading.Event, function: Callable[[], None], period_s: float) -> Iterator[None]:
    """Call a function again and again in a thread, until the end of the block."""

    def repeat() -> None:
        while not stop.wait(period_s):
            function()

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


class Faults:
    """Random faults from one seed. Each host has at most one at a time, and so has the register."""

    def __init__(self, lab: Lab, register: Any, happened: Happened, seed: int, wanted: int) -> None:
        self.lab, self.register, self.happened = lab, register, happened
        self.dice = random.Random(seed)  # noqa: S311 - no secret
        self.left, self.lock, self.has_ended = wanted, threading.Lock(), threading.Event()

    def play(self, has_clock_steps: bool) -> None:
        """Cause all faults, and undo each."""
        of_register = round(OF_THE_REGISTER * self.left)
        of_clock = max(1, round(OF_THE_CLOCK * self.left)) if has_clock_steps else 0
        self.left -= of_register + of_clock
        with ThreadPoolExecutor(len(self.lab.hosts) + 2) as pool:
            ended = [pool.submit(self._play_on, host, link) for host, link in self.lab.hosts.values()]
            ended.append(pool.submit(self._play_on_register, of_register))
            ended.append(pool.submit(self._step_clock, of_clock))
            try:
                for each in ended:
                    each.result()
            finally:
                self.has_ended.set()  # after an interruption, no other fault begins

    def between(self, limits: tuple[float, float]) -> float:
        """Return a random number of seconds."""
        with self.lock:
            return self.dice.uniform(*limits)

    def wait_for_the_end(self) -> None:
        """Wait as long as a fault lasts: as often from 1 to 2 s as from 10 to 20 s."""
        with self.lock:
            seconds = math.exp(self.dice.uniform(*map(math.log, FAULT_S)))
        time.sleep(seconds)

    def _choose(self, items: list[Any]) -> Any:
        with self.lock:
            return self.dice.choice(items)

    def _take(self) -> bool:
        with self.lock:
            self.left -= 1
            return self.left >= 0 and not self.has_ended.is_set()

    def _count(self, name: str) -> None:
        with self.lock:
            self.happened.faults[name] += 1

    def _play_on(self, host: AgentHost, link: Link) -> None:
        kinds = [self._kill_agent, self._kill_program, self._cut, self._reset, self._delay, self._half_open, self._fill]
        while self._take():
            time.sleep(self.between(PAUSE_S))
            self._choose(kinds)(host, link)

    def _kill_agent(self, host: AgentHost, _: Link) -> None:
        self._count("kill -9 of the agent")
        host.kill_agent()
        time.sleep(self.between(RESTART_S))
        host.start_agent()

    def _kill_program(self, host: AgentHost, link: Link) -> None:
        """Kill a load, what observes it, or a program that answers the register."""
        if programs := sorted(host.programs()):
            number, words = self._choose(programs)
            self._count(f"kill -9 of drivetest {words[1] if len(words) > 1 else ''}")
            host.run("kill", "-9", str(number), check=False)
        else:
            self._kill_agent(host, link)

    def _cut(self, host: AgentHost, _: Link) -> None:
        self._count("link cut")
        host.cut()
        self.wait_for_the_end()
        host.restore()

    def _reset(self, _: AgentHost, link: Link) -> None:
        self._change("connections reset and refused", link, "refused")

    def _delay(self, _: AgentHost, link: Link) -> None:
        self._change("link delayed", link, "delayed", self.between(DELAY_S))

    def _half_open(self, _: AgentHost, link: Link) -> None:
        self._change("connections half-open", link, "half-open")

    def _change(self, name: str, link: Link, state: Any, delay_s: float = 0.0) -> None:
        self._count(name)
        link.set_state(state, delay_s)
        self.wait_for_the_end()
        link.set_state("open")

    def _fill(self, host: AgentHost, _: Link) -> None:
        self._count("disk of the host full")
        host.run("dd", "if=/dev/zero", "of=/var/lib/filler", "bs=64k", check=False)
        self.wait_for_the_end()
        host.run("rm", "-f", "/var/lib/filler")

    def _play_on_register(self, count: int) -> None:
        faults = [fault for fault in faults_of(self.register) if fault.end is None]
        for _ in range(count):
            if self.has_ended.wait(self.between(PAUSE_S)):
                return
            fault = self._choose(faults)
            try:
                fault.begin()
            except (LookupError, OSError, RedisError):
                self._count(f"{fault.name}, which was being restarted")
            else:
                self._count(fault.name)

    def _step_clock(self, count: int) -> None:
        for _ in range(count):
            if self.has_ended.wait(4 * self.between(PAUSE_S)):
                return
            step_s = self.between(CLOCK_STEP_S)
            self._count(f"clock stepped {'back' if step_s < 0 else 'forward'}, by up to 2 h")
            with stepped_clock(step_s):
                time.sleep(self.between(CLOCK_FAULT_S))


@contextmanager
def stepped_clock(step_s: float) -> Iterator[None]:
    """Let the clock of this machine differ by some seconds until the end of the block."""
    real, steady = time.CLOCK_REALTIME, time.CLOCK_BOOTTIME
    offset_s = time.clock_gettime(real) - time.clock_gettime(steady)
    time.clock_settime(real, time.clock_gettime(steady) + offset_s + step_s)
    try:
        yield
    finally:
        time.clock_settime(real, time.clock_gettime(steady) + offset_s)


class Orders:
    """A script that orders a run on each drive that has none. `accepted` are the runs that the register confirmed."""

    def __init__(self, site: Site, created: dict[str, Any], dice: random.Random, database: str) -> None:
        self.clients = itertools.cycle(Client(site.url, token) for token in created["tokens"])
        self.devices, self.dice, self.database = created["devices"], dice, database
        self.accepted: list[str] = []

    def order_missing(self) -> None:
        """Order a run on each drive without one, if the register answers."""
        with contextlib.suppress(psycopg.Error, requests.RequestException):
            with psycopg.connect(self.database, connect_timeout=5) as connection:
                busy = {row[0] for row in connection.execute(BUSY_DEVICES, [[*FINAL]])}
            for device in self.devices.values():
                if device["device"] not in busy:
                    run = RUN | device | {"duration_s": self.dice.randint(*RUN_S)}
                    answer = next(self.clients).ask("POST", "/api/v1/lab/dispatches/", json=run)
                    if answer.status_code == HTTPStatus.CREATED:
                        self.accepted.append(answer.json()["id"])


def ends_of(database: str) -> list[End]:
    """Return how each run ended."""
    with psycopg.connect(database, connect_timeout=5) as connection:
        return [End(*row) for row in connection.execute(ENDS)]


def settle(site: Site, lab: Lab, database: str) -> list[End]:
    """Wait until all runs have ended, and confirm the ends of lost ones as an operator does who looks at the hosts."""

    def have_ended() -> list[End]:
        with contextlib.suppress(psycopg.Error):
            ends, running = ends_of(database), lab.running()
            lost = [each.run for each in ends if each.state == State.LOST and each.is_open]
            if gone := [run for run in lost if run not in running]:
                site.call(people.confirm_ends, gone)
            return [] if any(each.is_open for each in ends) else ends
        return []

    with contextlib.suppress(TimeoutError):
        wait_for(have_ended, SETTLE_S)
    return ends_of(database)


def rows_of(lab: Lab, happened: Happened, ends: list[End]) -> Iterator[Row]:
    """Yield the rows of the table."""
    faults = "; ".join(f"{count} {name}" for name, count in sorted(happened.faults.items()))
    yield Row("faults", "-", f"{happened.faults.total()}: {faults}", True)
    states = ", ".join(f"{count} {state}" for state, count in sorted(Counter(each.state for each in ends).items()))
    yield Row("runs", "-", f"{len(ends)}: {states}", True)
    failed = Counter(NUMBER.sub("N", each.reason)[:REASON_CHARS] for each in ends if each.state != State.DONE)
    named = "; ".join(f"{count} {reason}" for reason, count in failed.most_common(REASONS_MOST))
    yield Row("most frequent reasons of other ends", "-", named or "none", True)
    found = f"{happened.most_loads}, in {happened.looks} looks at each host"
    yield Row("most loads at once on a drive", "at most 1", found, happened.most_loads <= 1)
    open_runs = [each.run for each in ends if each.is_open]
    yield Row("runs without an end", "0", _counted(open_runs), not open_runs)
    silent = [each.run for each in ends if each.state in FINAL and not each.reason]
    yield Row("runs without a reason", "0", _counted(silent), not silent)
    yield from log_rows(lab, {each.run: each for each in ends})
    leftover = sorted(lab.running())
    yield Row("runs with a process left on their host", "0", _counted(leftover), not leftover)


def log_rows(lab: Lab, ends: dict[str, End]) -> Iterator[Row]:
    """Compare each log on a host with what the register stored."""
    stored_bytes, stored, empty, lost = 0, 0, 0, []
    for run, path in lab.logs():
        content = path.read_bytes()
        stored_sha256 = ends[run].log_sha256 if run in ends else None
        if hashlib.sha256(content).hexdigest() == stored_sha256:
            stored, stored_bytes = stored + 1, stored_bytes + len(content)
        elif content:
            lost.append(run)
        else:
            empty += 1
    found = f"{stored} of {stored + len(lost)} with all {stored_bytes:,} bytes; {empty} others are empty"
    yield Row("logs of hosts", "all in the register", f"{found}{f'; missing: {lost}' if lost else ''}", not lost)


def _counted(names: list[str]) -> str:
    return f"{len(names)}{': ' + ', '.join(names[:5]) if names else ''}"


def measure(site: Site, lab: Lab, faults_count: int, seed: int, has_clock_steps: bool) -> Iterator[Row]:
    """Cause the faults while runs are ordered, and yield the rows of the table."""
    created = site.call(people.bind_drives, DRIVE, 5)
    database = Postgres(DataDirectory(site.register.data_dir)).url
    happened = Happened()
    orders = Orders(site, created, random.Random(seed), database)  # noqa: S311 - no secret

    def look() -> None:
        happened.looks += 1
        most = max(host.loads_count() for host, _ in lab.hosts.values())
        happened.most_loads = max(happened.most_loads, most)

    with until_set(threading.Event(), look, LOOK_PERIOD_S):
        with until_set(threading.Event(), orders.order_missing, 0.5):
            Faults(lab, site.register, happened, seed, faults_count).play(has_clock_steps)
        ends = settle(site, lab, database)
    forgotten = sorted(set(orders.accepted) - {each.run for each in ends})
    yield Row("confirmed orders without a run", "0", _counted(forgotten), not forgotten)
    yield from rows_of(lab, happened, ends)


@contextmanager
def running_lab(directory: Path, hosts_count: int) -> Iterator[tuple[Site, Lab]]:
    """Run a register behind nginx, and hosts with agents that have joined it."""
    with ExitStack() as stack:
        port, proxy = free_port(), Nginx(directory / "nginx")
        places = {"LIVE_URL": f"https://{NAME}:{port}", "ALLOWED_HOSTS": f"{NAME},127.0.0.1"}
        site = stack.enter_context(running_site(directory, **SETTINGS, **places))
        web, live = (int(url.rpartition(":")[2]) for url in (site.url, live_url(site.register)))
        proxy.write(web, live)
        stack.enter_context(proxy.running())
        links = stack.enter_context(Links())
        lab = Lab(directory, port, proxy, links)
        stack.callback(lab.remove)
        names = [f"lab-{number}" for number in range(hosts_count)]
        for name in names:
            lab.add(name)
        lab.join(site.call(people.enrol_agents, names))
        yield site, lab


def read_options() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=1000, help="faults of hosts and of the register")
    parser.add_argument("--hosts", type=int, default=8, help="lab hosts with one drive each")
    parser.add_argument("--seed", type=int, default=1, help="of the random choices")
    parser.add_argument("--clock-steps", action="store_true", help="step the clock of this machine, and set it right")
    parser.add_argument("--print-only", action="store_true", help="write no file of results")
    return parser.parse_args()


def main() -> None:
    from accounts import conditions, write  # noqa: PLC0415 - it needs Playwright, which a test of this file does not

    options, stated, rows = read_options(), conditions(), []
    if reason := missing() or missing_nginx():
        sys.exit(reason)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the clock is set right, and hosts are removed
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o711)
        with running_lab(Path(name), options.hosts) as (site, lab):
            for row in measure(site, lab, options.faults, options.seed, options.clock_steps):
                print(f"{'met' if row.is_met else 'NOT MET'}: {row.measure}: {row.found}", flush=True)
                rows.append(row)
    if not options.print_only:
        write(rows, stated | {"hosts": str(options.hosts), "seed": str(options.seed)}, RESULT)
    sys.exit(not all(row.is_met for row in rows))


if __name__ == "__main__":
    main()
