"""The register's own programs under the supervisor: web server, workers, beat."""

import os
import signal
import sys

from webapp.supervisor.address import Address
from webapp.supervisor.child import Program

MOST_WEB_PROCESSES = 4
WEB_THREADS = 8  # each may hold a database connection; PostgreSQL allows 100 in all
WORKER_PROCESSES = 2
CELERY = [sys.executable, "-m", "celery", "--app", "webapp.celery"]
# Killed and not asked when the supervisor dies: every task may be cut anywhere and come again (docs/decisions), while
# a polite end would wait for tasks of up to a minute.
KILL = signal.SIGKILL


def web_program(address: Address, environment: dict[str, str]) -> Program:
    """Return granian serving the site."""
    processes = min(len(os.sched_getaffinity(0)), MOST_WEB_PROCESSES)
    options = {
        "interface": "wsgi",
        "host": address.host,
        "port": address.port,
        "workers": processes,
        "blocking-threads": WEB_THREADS,
        "workers-kill-timeout": 3,
    }
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    command = [sys.executable, "-m", "granian", *words, "--respawn-failed-workers", "webapp.wsgi:application"]
    return Program("web", command, signal.SIGTERM, KILL, 5, environment)


def worker_program(environment: dict[str, str]) -> Program:
    """Return the Celery worker that reads logs."""
    return _worker("worker", "drivecert", WORKER_PROCESSES, environment)


def lab_program(environment: dict[str, str]) -> Program:
    """Return the Celery worker that looks at dispatches, one look after the other, however long the logs are."""
    return _worker("lab", "lab", 1, environment)


def _worker(name: str, queue: str, processes: int, environment: dict[str, str]) -> Program:
    options = [f"--queues={queue}", f"--concurrency={processes}", f"--hostname={queue}@%h"]
    options += ["--without-gossip", "--without-mingle"]
    return Program(name, [*CELERY, "worker", *options], signal.SIGTERM, KILL, 5, environment)


def beat_program(environment: dict[str, str]) -> Program:
    """Return Celery beat with its schedule in memory: periods are seconds, nothing is worth a file."""
    options = ["--scheduler=celery.beat:Scheduler", "--pidfile="]
    return Program("beat", [*CELERY, "beat", *options], signal.SIGTERM, KILL, 2, environment)


def prepare_program(environment: dict[str, str]) -> Program:
    """Return the step that migrates and fills the database; it ends by itself."""
    return Program("prepare", [sys.executable, "manage.py", "prepare"], signal.SIGTERM, KILL, 5, environment)
