"""Which dispatches are due to be looked at, taken in batches so that several workers share them.

Taking puts the next look a period off, in one statement: it is no claim and no lock (runners/locks.py is), only what
keeps two workers from looking at the same rows. A worker that dies with a batch costs its dispatches one period.
"""

import logging
import threading
import time
from collections.abc import Set
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from functools import cache

from django.conf import settings
from django.db import close_old_connections, connection, transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from runners.dispatch.failures import stumbled
from runners.dispatch.steps import advance
from runners.errors import HostError, MachineUnknownError
from runners.hosts import connect, is_within_reach
from runners.hosts.machine import NOBODY, machine_id, own_names
from runners.hosts.protocol import Connect, Detached
from runners.lifecycle.stages import current, current_run
from runners.models import UNCONFIRMED, Dispatch, Host
from runners.models.dispatch_rows import stepping
from runners.models.states import FINAL, State
from runners.monitoring.connectivity import Hearing
from runners.recipes.base import Role

# Lost, and somebody asked for its program to be ended.
LEFT_BEHIND = UNCONFIRMED & Q(cancel_requested_at__isnull=False)
# Written out, so that the partial index dispatch_due is used.
MAY_BE_DUE = ~Q(state__in=sorted(state.value for state in FINAL - {State.LOST}))

# The clock rings twice a period (settings.CELERY_BEAT_SCHEDULE): due a little sooner, so that the second ring finds it.
EARLY = 0.75


@dataclass(frozen=True)
class Visit:
    """What one host is to be asked about, in this order."""

    host_id: int
    dispatch_ids: tuple[int, ...]


def take_due(is_silent: bool, limit: int, busy_hosts: frozenset[int] = frozenset()) -> list[Visit]:
    """Take up to `limit` due dispatches, the longest due first, and return them by host.

    `is_silent`: of hosts that gave no answer last, or of the others. Those that are being asked already are left out.
    """
    with transaction.atomic():
        due = within_reach().filter(silent_since__isnull=not is_silent).exclude(device__host__in=busy_hosts)
        rows = list(
            due.order_by("next_look_at", "ordered_at")
            .select_for_update(skip_locked=True, of=("self",))
            .values_list("pk", "state", "device__host_id")[:limit]
        )
        later = Now() + timedelta(seconds=settings.WATCH_PERIOD_S * EARLY)
        Dispatch.objects.filter(pk__in=[pk for pk, _, _ in rows]).update(next_look_at=later)
    return _by_host(rows)


def within_reach() -> "QuerySet[Dispatch]":
    """Return the dispatches that are due and whose hosts this machine can ask."""
    elsewhere = Q(device__host__kind=Host.Kind.LOCAL) & ~Q(device__host__machine_id__in=own_names())
    unfinished = Dispatch.objects.filter(MAY_BE_DUE, ~Q(state=State.LOST) | LEFT_BEHIND)
    return unfinished.filter(next_look_at__lte=Now()).exclude(elsewhere)


def _by_host(rows: list[tuple[int, str, int]]) -> list[Visit]:
    """Live ones first: a freed drive is claimed in the same round."""
    visits: dict[int, list[int]] = {}
    for pk, _, host_id in sorted(rows, key=lambda row: row[1] == State.QUEUED):
        visits.setdefault(host_id, []).append(pk)
    return [Visit(host_id, tuple(dispatch_ids)) for host_id, dispatch_ids in visits.items()]


def look(dispatch_id: int, connect_host: Connect = connect) -> None:
    """Look at a dispatch now, unless it belongs to another machine.

    Another machine's host `local` cannot be asked from here: its dispatches wait for a worker of that machine.
    """
    if is_within_reach(Host.objects.get(devices__dispatches=dispatch_id)):
        look_within_reach(dispatch_id, connect_host)


def look_within_reach(dispatch_id: int, connect_host: Connect) -> bool:
    """Advance a dispatch as far as it goes now and return whether its host may be asked more.

    Where another worker is at it, it is left alone.
    """
    with stepping(dispatch_id) as dispatch:
        return dispatch is None or _advance_until_it_waits(dispatch, connect_host)


def _advance_until_it_waits(dispatch: Dispatch, connect_host: Connect) -> bool:
    hearing = Hearing(dispatch, connect_host)
    try:
        while advance(dispatch, hearing.connect):
            log.info("%s: %s %s", dispatch.public_id, dispatch.state, dispatch.reason)
    except Exception as error:
        log.exception("%s: stumbled in %s", dispatch.public_id, dispatch.state)
        stumbled(dispatch, error)
    return dispatch.silent_since is None


STOP_THREADS = 2
ASK_PERIOD_S = 1


def stop_load_elsewhere(dispatch_id: int, connect_host: Connect) -> bool:
    """Ask the load of a cancelled dispatch on its second host to end, and tell whether it has; one may yet begin."""
    cancelled = Dispatch.objects.filter(state=State.RUNNING, cancel_requested_at__isnull=False)
    dispatch = cancelled.select_related("device__host", "load_host").filter(pk=dispatch_id).first()
    if dispatch is None or dispatch.load_host is None or current(dispatch).role is not Role.LOAD:
        return False
    try:
        return connect_host(dispatch.load_host).stop(current_run(dispatch)).state is Detached.ENDED
    except HostError as error:
        log.info("%s: %s was not asked to end its load: %s", dispatch, dispatch.load_host, error)
        return False


class Stopper:
    """Threads of their own that end such loads; lives as long as the worker's process."""

    def __init__(self) -> None:
        self.pool = ThreadPoolExecutor(STOP_THREADS, thread_name_prefix="stop")
        self.asked: dict[int, Future[bool]] = {}
        self.not_before_s = 0.0

    def fill(self, waited_for: Set[int], connect_host: Connect) -> None:
        """Begin what is due for the dispatches whose drives' hosts, by their keys, are being waited for."""
        if not waited_for or time.monotonic() < self.not_before_s:
            return
        self.not_before_s = time.monotonic() + ASK_PERIOD_S
        cancelled = Dispatch.objects.filter(state=State.RUNNING, cancel_requested_at__isnull=False)
        due = set(cancelled.filter(device__host__in=waited_for, load_host__isnull=False).values_list("pk", flat=True))
        self.asked = {pk: future for pk, future in self.asked.items() if pk in due}
        for pk in due:
            if pk not in self.asked or _is_to_be_asked_again(self.asked[pk]):
                self.asked[pk] = self.pool.submit(_stop_in_thread, pk, connect_host)


def _is_to_be_asked_again(asked: Future[bool]) -> bool:
    return asked.done() and not asked.result()


def _stop_in_thread(dispatch_id: int, connect_host: Connect) -> bool:
    """The outermost frame of a thread: what fails here is told, and it is asked again."""
    close_old_connections()
    try:
        return stop_load_elsewhere(dispatch_id, connect_host)
    except Exception:
        log.exception("the load of dispatch %s was not asked to end", dispatch_id)
        return False
    finally:
        close_old_connections()


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
