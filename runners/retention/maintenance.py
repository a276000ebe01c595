"""Checking hosts beside the looks: a few threads of their own, so that a host that gives no answer holds up nothing.

The task that asks for it ends at once; a check that still waits for its host when the clock rings again goes on.
"""

import logging
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from threading import Lock

from django.db import close_old_connections

from runners.inventory import health
from runners.models import Host
from runners.retention import cleanup

log = logging.getLogger(__name__)

CHECK_THREADS = 4


class ClearLane:
    """The one thread that removes old run directories: a host that is slow to give them up holds up no check.

    Each host waits in it once at most, however often it is asked for.
    """

    def __init__(self) -> None:
        self.pool = ThreadPoolExecutor(1, thread_name_prefix="clear")
        self.lock = Lock()
        self.asked: dict[int, Future[None]] = {}

    def ask(self, host: Host) -> None:
        """Have a turn made at a host, unless one waits or is under way there."""
        with self.lock:
            before = self.asked.get(host.pk)
            if before is None or before.done():
                self.asked[host.pk] = self.pool.submit(_clear_in_thread, host)


class CheckLane:
    """The threads that check hosts; lives as long as the worker's process, and takes no more than they can ask."""

    def __init__(self) -> None:
        self.pool = ThreadPoolExecutor(CHECK_THREADS, thread_name_prefix="check")
        self.asked: list[Future[None]] = []
        self.clearing = ClearLane()

    def fill(self) -> None:
        """Take what is due, as far as there are free threads."""
        self.asked = [future for future in self.asked if not future.done()]
        if free := CHECK_THREADS - len(self.asked):
            self.asked += [self.pool.submit(_check_in_thread, host) for host in health.take_due(free)]
        for host in cleanup.hosts_here():
            self.clearing.ask(host)


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
        lane().clearing.ask(host)


def _clear_in_thread(host: Host) -> None:
    """The outermost frame of a thread, as above."""
    close_old_connections()
    try:
        cleanup.remove_old(host)
    except Exception:
        log.exception("old run directories of %s were not removed", host)
    finally:
        close_old_connections()
