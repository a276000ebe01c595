"""A complete register under test: `manage.py up` with its own servers, port and data directory."""

import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

from webapp.supervisor.data_directory import remove_socket_dir
from webapp.supervisor.lock_files import link_target

ROOT = Path(__file__).parent.parent
SITEMAPS = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
PATIENCE_S = 300  # a first start takes seconds of processor time, 46 s on two busy cores
# A snapshot has seven hundred pages and is made 15 s after each first start and each change. Only the
# tests of snapshots need it, and it would slow down all others.
WITHOUT_SNAPSHOTS = {"SNAPSHOT_PERIOD_S": "86400"}
GIVEN_BY_THE_SESSION = ("DATABASE_URL", "REDIS_URL", "DRIVECERT_TEST_REDIS_URL", "SECRET_KEY", "HOST", "ALLOWED_HOSTS")


# With tests/startup on PYTHONPATH, a process collects garbage less often than one that `make run` starts.
WITH_USUAL_COLLECTIONS = {"PYTHONPATH": ""}

WITH_EXAMPLES = {"EXAMPLE_RUNS": "yes"}


class Register:
    """One data directory and the supervisor on it, if it runs."""

    def __init__(self, data_dir, **settings):
        self.data_dir, self.settings = data_dir, settings
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.output = data_dir.parent / f"{data_dir.name}.output"
        self.supervisor: Any = None  # before the first start

    def start(self):
        """Start the supervisor without waiting for it."""
        with self.output.open("w") as output:
            self.supervisor = subprocess.Popen(
                [sys.executable, "manage.py", "up"],
                cwd=ROOT,
                env=self.environment(),
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def start_and_wait(self):
        """Start the supervisor and wait until it reports that it is up."""
        self.start()
        wait_for(self._has_come_up, self.output_summary)

    def environment(self):
        """Return the environment of a new user's shell, with port, data directory and the settings of this test.

        Two differences: with tests/startup, its processes collect garbage less often (WITH_USUAL_COLLECTIONS), and it
        has no example runs unless the test asks for them (WITH_EXAMPLES).
        """
        inherited = {name: value for name, value in os.environ.items() if name not in GIVEN_BY_THE_SESSION}
        own = {"PORT": str(self.port), "DRIVECERT_DATA": str(self.data_dir), "EXAMPLE_RUNS": "no"} | self.settings
        return inherited | own | {"DJANGO_SETTINGS_MODULE": "webapp.settings"}

    def run_command(self, *arguments, **environment):
        """Run a management command on the same data directory."""
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment() | environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )

    def stop(self):
        """Stop the supervisor; return its exit status."""
        self.supervisor.send_signal(signal.SIGTERM)
        return self.supervisor.wait(PATIENCE_S)

    def kill(self):
        """Kill the supervisor."""
        self.supervisor.kill()
        self.supervisor.wait(PATIENCE_S)

    def end(self):
        """End all processes and remove all files of the register."""
        if self.supervisor is not None and self.supervisor.poll() is None:
            self.stop()
        wait_for(lambda: not self.processes(), self.processes_summary)
        remove_socket_dir(self.data_dir / "run" / "sockets", None)

    def ready(self):
        """Return the document of /readyz with its status."""
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=5) as answer:  # noqa: S310 - our own http address
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:  # Python 3.14 warns if it is not closed
                return 0, str(error)
        except OSError as error:
            return 0, str(error)

    def processes(self):
        """Return every process that uses the data directory, including the supervisor."""
        return [int(entry.name) for entry in Path("/proc").glob("[0-9]*") if belongs_to(entry, self.data_dir)]

    def processes_summary(self):
        return "left: " + "; ".join(f"{pid} {command_of(pid)}" for pid in self.processes())

    def pid_of(self, name):
        """Return the main process of a child: the one with its lock that the supervisor started."""
        lock_file, processes = (
            self.data_dir / "run" / f"{name}.held",
            [Path(f"/proc/{pid}") for pid in self.processes()],
        )
        ours = [process for process in processes if parent_of(process) == self.supervisor.pid]
        return next(int(process.name) for process in ours if lock_file in opened_by(process))

    def output_summary(self):
        return self.output.read_text()

    def _has_come_up(self):
        assert self.supervisor.poll() is None, self.output_summary()
        return "Drivecert is up" in self.output_summary()


def copy_prepared_data(tmp_path_factory, data_dir: Path) -> None:
    """Copy the session's prepared data directory to `data_dir`, so that a register on it starts without a first start.

    The first worker that needs it makes it with a real first start: cluster, migrations, catalogue and first user. Then
    the register stops, because a copy of a running cluster would be damaged.
    """
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    prepared = shared / "prepared-register"
    with (shared / "prepared-register.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not prepared.exists():
            _prepare(shared / "unfinished-register").rename(prepared)
    # `cp` preserves the owner of the cluster, which may be the account of the servers.
    subprocess.run(["cp", "--archive", "--reflink=auto", prepared / "var", data_dir], check=True)


def _prepare(directory: Path) -> Path:
    """Run a register once in a new directory, and return the directory after all its processes have ended."""
    shutil.rmtree(directory, ignore_errors=True)
    register = Register(directory / "var", **WITHOUT_SNAPSHOTS)
    register.data_dir.parent.mkdir()
    try:
        register.start_and_wait()
        assert register.stop() == 0, register.output_summary()
    finally:
        register.end()
    assert not (register.data_dir / "postgres" / "postmaster.pid").exists(), "PostgreSQL was not shut down"
    return directory


def belongs_to(process, directory):
    """Return whether a process of /proc was started for the directory, works in it, or has a file of it open.

    Three signs, because redis and PostgreSQL write their titles over the environment they were given.
    """
    try:
        environment = (process / "environ").read_bytes().split(b"\0")
    except (PermissionError, FileNotFoundError, ProcessLookupError):
        return False
    places = {link_target(process / "cwd"), *opened_by(process)}
    return f"DRIVECERT_DATA={directory}".encode() in environment or any(
        place is not None and directory in place.parents for place in places
    )


def command_of(pid):
    """Return the command line of a process; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def parent_of(process):
    """Return the pid of a process's parent; None if the process has ended."""
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return None


def opened_by(process):
    """Return the files that a process of /proc has open; none if it has ended."""
    try:
        return [link_target(link) for link in list((process / "fd").iterdir())]
    except (PermissionError, FileNotFoundError, ProcessLookupError):
        return []


def wait_for(
    is_true: Callable[[], bool], describe: Callable[[], str] = lambda: "", patience_s: float = PATIENCE_S
) -> None:
    """Wait until a condition is true; fail after `patience_s`."""
    deadline = time.monotonic() + patience_s
    while not is_true():
        assert time.monotonic() < deadline, f"did not happen in {patience_s} s. {describe()}"
        time.sleep(0.1)


def sitemap_paths(read: Callable[[str], bytes], path: str = "/sitemap.xml") -> list[str]:
    """Return the paths of all pages of a sitemap, also of one that is an index of parts. `read` returns a file."""
    sitemap = ElementTree.fromstring(read(path))  # noqa: S314 - our own
    paths = [urlsplit(element.text or "").path for element in sitemap.iter(f"{SITEMAPS}loc")]
    if sitemap.tag == f"{SITEMAPS}sitemapindex":
        return [page for part in paths for page in sitemap_paths(read, part)]
    return paths


def free_port() -> int:
    """Return a port that no process of this network uses."""
    return free_ports(1)[0]


def free_ports(count: int) -> list[int]:
    """Return different free ports: all are taken at the same moment, because the kernel may give one again."""
    with ExitStack() as stack:
        trials = [stack.enter_context(socket.socket()) for _ in range(count)]
        for trial in trials:
            trial.bind(("127.0.0.1", 0))
        return [int(trial.getsockname()[1]) for trial in trials]
