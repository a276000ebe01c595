"""Fixtures: the simulated lab's process, workers on it, and dispatches on its hosts."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from results.evidence.directory import Directory
from results.models import Organisation
from runners.dispatch.orders import Order, order
from runners.errors import HostUnavailableError
from runners.hosts.protocol import Identity
from runners.inventory.devices import bind
from runners.models import Device, Dispatch, Host
from tests.lab_simulator.lab import PATH
from tests.lab_simulator.server import LabClient, RemoteHost
from tests.lab_simulator.worker import FOUND_FIT, KIND

ROOT = Path(__file__).parent.parent.parent
SPEED = 60  # a minute of the hosts is a second of real time
PATIENCE_S = 300
KILLED = -9
DEEPEST = 24  # the highest number of commits before a worker is killed
LIVES_MAX = 400  # also for a log: a reading that killed three workers is given up by design
QUICK = {
    "WATCH_PERIOD_S": 0.05,
    "RUN_POLLS_PER_S": 1000,
    "LOOK_THREADS": 2,
    "SILENT_PERIOD_S": 0.2,
    "HOST_SILENCE_S": 5,
    "RUN_DIR_RETENTION_S": 1,
}


def environment(data_dir: Path) -> dict[str, str]:
    """Return the environment of a worker: the test's database and a separate data directory, which is prepared."""
    Directory(data_dir / "evidence").prepare()
    database = connection.settings_dict
    url = f"postgresql://{database['USER']}:{database['PASSWORD']}@/{database['NAME']}?host={database['HOST']}"
    own = {"DATABASE_URL": url, "DRIVECERT_DATA": str(data_dir), "DJANGO_SETTINGS_MODULE": "webapp.settings"}
    return os.environ | own | {"LOG_LEVEL": "WARNING"}


class LabProcess:
    """The simulated lab in a separate process; calls are sent to one of its hosts or to the lab."""

    def __init__(
        self, directory: Path, hosts_count: int, speed: float = SPEED, faults: Any = None, shared_drives: bool = False
    ) -> None:
        self.path = directory / "lab.sock"
        self.names = [f"sim-{number}" for number in range(hosts_count)]
        command = [sys.executable, "-m", "tests.lab_simulator", str(self.path), "--hosts", str(hosts_count)]
        command += ["--speed", str(speed), "--faults", json.dumps(faults or {})]
        command += ["--shared-drives"] if shared_drives else []
        self.process = subprocess.Popen(command, cwd=ROOT, env=environment(directory))
        deadline = time.monotonic() + PATIENCE_S
        while not self.path.exists():
            assert self.process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        self.client = LabClient(self.path)

    def truth(self) -> Any:
        return self.client("", "truth")

    def host(self, name: str) -> RemoteHost:
        return RemoteHost(self.client, name)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


class WorkerParent:
    """Forks one worker at a time on the simulated lab."""

    def __init__(self, lab: LabProcess, data_dir: Path) -> None:
        self.log = data_dir / "worker.log"
        command = [sys.executable, "-m", "tests.lab_simulator.worker", str(lab.path)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment(data_dir),
                stdin=-1,
                stdout=-1,
                stderr=log,
                text=True,
                start_new_session=True,
            )

    def start(self, **options):
        """Fork a worker and return its pid."""
        self.process.stdin.write(json.dumps(QUICK | options) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def wait(self):
        """Return the exit status of the worker; negative for a signal."""
        return int(self.process.stdout.readline())

    def end(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)  # the worker too, which has the pipe open
        self.process.communicate()


@pytest.fixture
def data_dir(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    return data


@pytest.fixture
def new_lab(data_dir):
    """Start a simulated lab, and end it with the test."""
    labs = []

    def start(**options):
        labs.append(LabProcess(data_dir, **options))
        return labs[-1]

    yield start
    for lab in labs:
        lab.end()


@pytest.fixture
def new_worker(data_dir):
    """Start a parent of workers, and end it with the test."""
    parents = []

    def start(lab):
        parents.append(WorkerParent(lab, data_dir))
        return parents[-1]

    yield start
    for parent in parents:
        parent.end()


@pytest.fixture
def sim_lab(db):
    return Organisation.objects.create(slug="a-lab", name="A lab", kind="lab", confirmed_at="2026-01-01T00:00Z")


@pytest.fixture
def new_order(sim_lab, staff):
    return lambda lab, name: order_on(lab, name, sim_lab, staff)


def identity_of(host: RemoteHost) -> Identity:
    """Return the identity of a host's drive; repeat the request if a fault drops the response."""
    for _ in range(PATIENCE_S * 10):
        with contextlib.suppress(HostUnavailableError):
            seen: Identity = host.identify(PATH)
            return seen
        time.sleep(0.1)
    raise TimeoutError(f"{host.name}: no answer in {PATIENCE_S} s")


def device_on(lab: Any, name: str, staff: Any) -> Device:
    """Return the device of a simulated host; bind it at the first call."""
    host, _ = Host.objects.get_or_create(name=name, kind=KIND, defaults={"checked_at": FOUND_FIT})
    return host.devices.first() or bind(host, identity_of(lab.host(name)), "simulated drive", staff)


def order_on(
    lab: Any, name: str, organisation: Organisation, staff: Any, duration_s: int = 60, interval_s: int = 10
) -> Dispatch:
    """Order a run on a host of the simulated lab."""
    device = device_on(lab, name, staff)
    slice_s = min(3600, duration_s // 6)
    return order(device, organisation, Order(Decimal(1), duration_s, slice_s, {"report_interval_s": interval_s}), staff)


def kill_one_after_the_other(worker: WorkerParent) -> int:
    """Start workers that are killed at their 1st, 2nd ... commit, until one has no work left.

    Return how many were killed.
    """
    for life in range(LIVES_MAX):
        worker.start(kill_at=1 + life % DEEPEST, READ_MAX_ATTEMPTS=LIVES_MAX)
        if (status := worker.wait()) != KILLED:
            assert status == 0, worker.log.read_text()
            return life
    raise TimeoutError(f"something is left to do after {LIVES_MAX} workers")
