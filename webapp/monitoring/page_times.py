"""Times of responses by route and status class, counted in files that all processes of this machine share.

Each process has a file of its own, named after machine and process id, in METRICS_DIR. The files of ended processes
stay, so that no count is lost when a process dies, and a sum never decreases. A start of the web server removes them.
"""

import logging
import os
import socket
import time
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from prometheus_client import CollectorRegistry, Histogram, values
from prometheus_client.metrics_core import HistogramMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector

logger = logging.getLogger(__name__)

NAME, HELP = "drivecert_page_seconds", "Time until a response began, by route and status class."
# Few: each is a series for each route. The limits for pages are 0.2 s and 1 s (docs/how-to/alerts.md).
BUCKETS = (0.01, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)
ROUTE = "drivecert.route"  # of the environment of a request, set by webapp.logs.request_ids
SNAPSHOT, UNROUTED = "snapshot", "unrouted"  # routes of pages that Django did not see, and of those without a route
PROBES = frozenset({"/healthz", "/readyz", "/metrics"})
HOST = socket.gethostname()  # containers that share a directory use the same process ids

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]


def count_pages(application: Application) -> Application:
    """Return the application wrapped so that the time of each response is counted."""

    def counted(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        started, statuses = time.monotonic(), ["500"]  # of an application that raises

        def start(status: str, *rest: Any) -> Any:
            statuses.append(status)
            return start_response(status, *rest)

        try:
            return application(environ, start)
        finally:
            if environ.get("PATH_INFO") not in PROBES:
                observe(environ.get(ROUTE, SNAPSHOT), statuses[-1], time.monotonic() - started)

    return counted


def observe(route: str, status: str, seconds: float) -> None:
    """Count one response. A page does not fail for a count: an error is logged once in each process."""
    try:
        histogram(settings.METRICS_DIR).labels(route, f"{status[0]}xx").observe(seconds)
    except (OSError, RuntimeError, ValueError) as error:
        _report_once(f"times of pages are not counted in {settings.METRICS_DIR}: {error}")


@cache
def _report_once(message: str) -> None:
    logger.error(message)


@cache
def histogram(directory: Path) -> Histogram:
    """Return the histogram of this process in a directory. The library takes the place from the environment."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(directory)
    values.ValueClass = values.MultiProcessValue(lambda: f"{HOST}-{os.getpid()}")  # type: ignore[no-untyped-call]
    return Histogram(NAME, HELP, ["route", "status"], registry=CollectorRegistry(), buckets=BUCKETS)


def page_times() -> Iterable[Metric]:
    """Return the sums over the files of all processes, also of those that have ended."""
    directory = settings.METRICS_DIR
    collected: list[Metric] = []
    if directory.is_dir():
        collected = list(MultiProcessCollector(None, str(directory)).collect())  # type: ignore[no-untyped-call]
    return collected or [HistogramMetricFamily(NAME, HELP)]


def remove_counts(directory: Path) -> None:
    """Remove the files of processes that do not run on this machine, at the start of a web server.

    The process that starts removes those with its own id, too: an earlier process had that id.
    """
    for path in directory.glob("*.db"):
        host, _, process = path.stem.rpartition("_")[2].rpartition("-")
        is_running = host == HOST and process != str(os.getpid()) and Path(f"/proc/{process}").is_dir()
        if not is_running:
            path.unlink(missing_ok=True)
