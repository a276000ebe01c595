"""Looking at everything that is due: many hosts at a time, each by one thread, so that none waits for a slow one.

Hosts that gave no answer last are asked by a few threads of their own. What a slow host still holds when a round
ends goes on in its thread, and the next round leaves that host alone.
"""

import logging
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache

from django.conf import settings
from django.db import close_old_connections, connection

from runners.dispatch.cancellation import Stopper
from runners.dispatch.due import Visit, take_due
from runners.dispatch.runner import look_within_reach
from runners.errors import MachineUnknownError
from runners.hosts import Connect, connect
from runners.hosts.machine import NOBODY, machine_id
from runners.models import Host

log = logging.getLogger(__name__)

# A round ends after this many seconds even under full load: then another worker gets its turn, and a new round begins.
ROUND_S = 20
SILENT_THREADS = 4
HOSTS_PER_THREAD = 4  # so many are taken at once: a thread that is done finds the next
PAUSE_S = 0.02
ASK_AGAIN_S = 0.2  # the database, where nothing was due a moment ago
CHECK_PERIOD_S = 1

_checked = threading.local()  # when each thread had its connection checked


class Lane:
    """Some threads and the hosts that they are asking; lives as long as the worker's process."""

    def __init__(self, is_silent: bool, threads_count: int) -> None:
        self.is_silent = is_silent
        self.limit = threads_count * HOSTS_PER_THREAD
        self.pool = ThreadPoolExecutor(threads_count, thread_name_prefix="silent" if is_silent else "look")
        self.asked: dict[int, Future[None]] = {}
        self.not_before_s = 0.0

    def busy_hosts(self) -> frozenset[int]:
        """Return the hosts that are being asked, or will be next."""
        self.asked = {host_id: future for host_id, future in self.asked.items() if not future.done()}
        return frozenset(self.asked)

    def fill(self, connect_host: Connect) -> None:
        """Take what is due, where half of what may be taken is done."""
        busy = self.busy_hosts()
        if len(busy) > self.limit // 2 or time.monotonic() < self.not_before_s:
            return
        visits = take_due(self.is_silent, self.limit - len(busy), busy)
        for visit in visits:
            self.asked[visit.host_id] = self.pool.submit(_ask_in_thread, visit, connect_host)
        if not visits:
            self.not_before_s = time.monotonic() + ASK_AGAIN_S


@cache
def lanes() -> tuple[Lane, Lane]:
    """Return this process's lanes, of hosts that answer and of silent ones; made at the first round, after any fork."""
    return Lane(is_silent=False, threads_count=settings.LOOK_THREADS), Lane(True, SILENT_THREADS)


@cache
def stopper() -> Stopper:
    """Return this process's threads that end loads beside a look; made at the first round, after any fork."""
    return Stopper()


def look_at_due(connect_host: Connect = connect) -> None:
    """Look at what is due and what becomes due meanwhile, until nothing is, for ROUND_S at most."""
    _take_own()
    answering, silent = lanes()
    end = time.monotonic() + ROUND_S
    while time.monotonic() < end:
        answering.fill(connect_host)
        silent.fill(connect_host)
        stopper().fill(answering.busy_hosts() | silent.busy_hosts(), connect_host)
        if not answering.busy_hosts():
            return
        time.sleep(PAUSE_S)


def _take_own() -> None:
    """A host `local` that is nobody's yet is this machine. Of a machine that cannot be told, the other hosts go on."""
    try:
        Host.objects.filter(kind=Host.Kind.LOCAL, machine_id=NOBODY).update(machine_id=machine_id())
    except MachineUnknownError:
        log.exception("what runs on this machine is not looked at")


def ask(visit: Visit, connect_host: Connect) -> None:
    """Look at what a host is due for, one after the other; after no answer the rest waits for another round."""
    for dispatch_id in visit.dispatch_ids:
        if not look_within_reach(dispatch_id, connect_host):
            return


def _ask_in_thread(visit: Visit, connect_host: Connect) -> None:
    """The outermost frame of a thread: what fails here is told, and the next look finds the rows as they are."""
    _check_connection(time.monotonic())
    try:
        ask(visit, connect_host)
    except Exception:
        log.exception("host %s: dispatches %s were not looked at", visit.host_id, visit.dispatch_ids)
    finally:
        if connection.errors_occurred:
            close_old_connections()


def _check_connection(now_s: float) -> None:
    """Have this thread's connection to the database checked before it is used, as before each request of a page.

    Once a second at most: a check is a statement, and a busy thread makes a dozen looks a second. A connection that
    breaks meanwhile costs one look, which is made again after a period.
    """
    if now_s - getattr(_checked, "at_s", -CHECK_PERIOD_S) >= CHECK_PERIOD_S:
        close_old_connections()
        _checked.at_s = now_s
