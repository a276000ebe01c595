"""Periodic maintenance of hosts: checks and cleanup in their own threads, so that a silent host delays no poll.

The task that starts it ends at once. A check that still waits for its host at the next tick goes on.
"""

import logging
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from threading import Lock

from django.db import close_old_connections, connection

from results.errors import contained
from runners.hosts import is_reachable
from runners.inventory import health
from runners.models import Host
from runners.retention import cleanup

log = logging.getLogger(__name__)

CHECK_THREADS = 2


class CleanupPool:
    """One thread that removes old run directories: a slow host delays no check.

    Each host is queued there once at most.
    """

    def __init__(self) -> None:
        self.pool = ThreadPoolExecutor(1, thread_name_prefix="clear")
        self.lock = Lock()
        self.pending: dict[int, Future[None]] = {}

    def enqueue(self, host: Host) -> None:
        """Queue a turn for a host, unless one is queued or running."""
        with self.lock:
            before = self.pending.get(host.pk)
            if before is None or before.done():
                self.pending[host.pk] = self.pool.submit(_clear_in_thread, host)


class CheckPool:
    """The threads that check hosts. They live as long as the worker's process, and take only what they can check."""

    def __init__(self) -> None:
        self.pool = ThreadPoolExecutor(CHECK_THREADS, thread_name_prefix="check")
        self.pending: list[Future[None]] = []
        self.clearing = CleanupPool()

    def fill(self) -> None:
        """Take due checks, as many as there are free threads."""
        self.pending = [future for future in self.pending if not future.done()]
        if free := CHECK_THREADS - len(self.pending):
            self.pending += [self.pool.submit(_check_in_thread, host) for host in health.take_due_hosts(free)]
        for host in filter(is_reachable, Host.objects.filter(kind=Host.Kind.LOCAL)):  # they are not checked
            self.clearing.enqueue(host)


# This process's pool, created at the first check, after any fork.
check_pool = cache(CheckPool)


def _check_in_thread(host: Host) -> None:
    """Check hosts as the outermost frame of a thread: log failures; the host is checked again after a period.

    A thread that has finished takes the next due host itself, without waiting for the clock.
    """
    close_old_connections()
    hosts = [host]
    with contained(log, "no further host was taken to be checked"):
        while hosts:
            with contained(log, "%s was not checked", hosts[0]):
                _check(hosts[0])
            hosts = health.take_due_hosts(1)
    connection.close()  # the thread may wait long for its next host


def _check(host: Host) -> None:
    """Check a host. If it is fit, queue the cleanup of its run directories."""
    if objections := health.check(host):
        log.warning("%s gets no work: %s", host, "; ".join(objections))
    else:
        check_pool().clearing.enqueue(host)


def _clear_in_thread(host: Host) -> None:
    """Clean up a host as the outermost frame of a thread: log failures."""
    close_old_connections()
    with contained(log, "old run directories of %s were not removed", host):
        cleanup.remove_old_run_dirs(host)
    connection.close()
