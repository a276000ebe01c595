"""Checking hosts beside the looks: a few threads of their own, so that a host that gives no answer holds up nothing.

The task that asks for it ends at once; a check that still waits for its host when the clock rings again goes on.
"""

import logging
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache

from django.db import close_old_connections

from runners import health, run_dirs
from runners.models import Host

log = logging.getLogger(__name__)

CHECK_THREADS = 4


class CheckLane:
    """The threads that check hosts; lives as long as the worker's process, and takes no more than they can ask."""

    def __init__(self) -> None:
        self.pool = ThreadPoolExecutor(CHECK_THREADS, thread_name_prefix="check")
        self.asked: list[Future[None]] = []
        self.clearing: Future[None] | None = None

    def fill(self) -> None:
        """Take what is due, as far as there are free threads."""
        self.asked = [future for future in self.asked if not future.done()]
        if free := CHECK_THREADS - len(self.asked):
            self.asked += [self.pool.submit(_check_in_thread, host) for host in health.take_due(free)]
        if self.clearing is None or self.clearing.done():
            self.clearing = self.pool.submit(_clear_in_thread)


@cache
def lane() -> CheckLane:
    """Return this process's lane, made at the first check, after any fork."""
    return CheckLane()


def check_due() -> None:
    """Begin the checks that are due, and return."""
    lane().fill()


def _check_in_thread(host: Host) -> None:
    """The outermost frame of a thread: what fails here is told, and the host is asked again after a period.

    A thread that is done takes the next host itself: many do not wait for the clock.
    """
    close_old_connections()
    hosts = [host]
    try:
        while hosts:
            _check(hosts[0])
            hosts = health.take_due(1)
    except Exception:
        log.exception("%s was not checked", hosts[0])
    finally:
        close_old_connections()


def _check(host: Host) -> None:
    """Check a host; of one that answers as it should, old run directories are removed."""
    if objections := health.check(host):
        log.warning("%s gets no work: %s", host, "; ".join(objections))
    else:
        run_dirs.remove_old(host)


def _clear_in_thread() -> None:
    """The outermost frame of a thread, as above, for this machine: it is not checked."""
    close_old_connections()
    try:
        run_dirs.remove_old_here()
    except Exception:
        log.exception("old run directories of this machine were not removed")
    finally:
        close_old_connections()
