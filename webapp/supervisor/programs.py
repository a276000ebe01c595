"""Programs of the register that the supervisor runs: web server, workers, beat."""

import os
import signal
import sys

from webapp.supervisor.address import Address
from webapp.supervisor.child import Program

MAX_WEB_PROCESSES = 4
WEB_THREADS = 8  # each may hold a database connection; PostgreSQL allows 100 in all
WORKER_PROCESSES = 2
CELERY = [sys.executable, "-m", "celery", "--app", "webapp.celery"]
# When the supervisor dies, its programs are killed at once: every task may be interrupted and repeated
# (docs/decisions), whereas an orderly end would wait for tasks of up to a minute.
KILL = signal.SIGKILL


def web_program(address: Address, environment: dict[str, str]) -> Program:
    """Return the web server, granian."""
    processes = min(len(os.sched_getaffinity(0)), MAX_WEB_PROCESSES)
    options = {
        "interface": "wsgi",
        "host": address.host,
        "port": address.port,
        "workers": processes,
        "blocking-threads": WEB_THREADS,
        "workers-kill-timeout": 3,
    }
    arguments = [argument for name, value in options.items() for argument in (f"--{name}", str(value))]
    command = [sys.executable, "-m", "granian", *arguments, "--respawn-failed-workers", "webapp.wsgi:application"]
    return Program("web", command, signal.SIGTERM, KILL, 5, environment)


def worker_program(environment: dict[str, str]) -> Program:
    """Return the Celery worker that reads logs."""
    return _worker("worker", "drivecert", WORKER_PROCESSES, environment)


def lab_program(environment: dict[str, str]) -> Program:
    """Return the Celery worker that polls dispatches, one after the other."""
    return _worker("lab", "lab", 1, environment)


def _worker(name: str, queue: str, processes: int, environment: dict[str, str]) -> Program:
    options = [f"--queues={queue}", f"--concurrency={processes}", f"--hostname={queue}@%h"]
    options += ["--without-gossip", "--without-mingle"]
    return Program(name, [*CELERY, "worker", *options], signal.SIGTERM, KILL, 5, environment)


def beat_program(environment: dict[str, str]) -> Program:
    """Return Celery beat with its schedule in memory: the periods are seconds, so no file is needed."""
    options = ["--scheduler=celery.beat:Scheduler", "--pidfile="]
    return Program("beat", [*CELERY, "beat", *options], signal.SIGTERM, KILL, 2, environment)


def prepare_program(environment: dict[str, str]) -> Program:
    """Return the program that migrates and fills the database, and then ends."""
    return Program("prepare", [sys.executable, "manage.py", "prepare"], signal.SIGTERM, KILL, 5, environment)
