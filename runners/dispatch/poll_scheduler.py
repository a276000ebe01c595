"""Schedule of polls: decides when each host is polled for its dispatches, and polls them in threads.

`run_due` polls many hosts at a time, one thread for each, so that none waits for a slow one. Silent hosts have a few
threads of their own. A poll of a slow host may outlast a round: it goes on, and the next round leaves that host alone.

Several workers share the due dispatches. Taking a batch postpones its next poll by a period, in one statement. That is
neither a claim nor a lock of a dispatch; it only prevents two workers from taking the same rows. If a worker dies with
a batch, its dispatches are late by one period.
"""

import logging
import threading
import time
from collections.abc import Set
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from operator import itemgetter

from django.conf import settings
from django.db import close_old_connections, connection
from django.db.models.functions import Now

from results.errors import contained
from results.logs import tracing
from results.logs.context import bound
from runners.dispatch.failures import record_internal_error, record_register_outage
from runners.dispatch.poll_period import run_period_s
from runners.dispatch.steps import advance
from runners.errors import HostError, MachineUnknownError
from runners.hosts import connect
from runners.hosts.machine import UNASSIGNED, machine_id, own_machine_ids
from runners.hosts.protocol import Connect, ProgramState
from runners.lifecycle.clock_steps import CLOCK_STEPS
from runners.lifecycle.stages import current_run, current_stage
from runners.models import Dispatch, Host
from runners.models.dispatch_rows import lock_dispatch
from runners.models.states import State
from runners.monitoring.connectivity import recording_connect
from runners.recipes.base import Role

log = logging.getLogger(__name__)

# A round ends after this many seconds even under full load: then another worker gets its turn, and a new round begins.
ROUND_S = 20
SILENT_THREADS = 4
HOSTS_PER_THREAD = 4  # a thread that has finished a host finds the next one
PAUSE_S = 0.02
EMPTY_PAUSE_S = 0.2  # between queries for due rows, after one that found none
CHECK_PERIOD_S = 1
COUNT_PERIOD_S = 1.0  # of the running programs
STOP_THREADS = 2
STOP_PERIOD_S = 1
# Where more polls are due than can be made, orders and cancellations pass others that are late by less than this: a
# person waits for them. Much less than the time after which a run counts as not polled (failures.REGISTER_OUTAGE_S).
URGENT_S = 10
# The clock ticks twice a period (settings.CELERY_BEAT_SCHEDULE): due a little sooner, so that the second tick finds it.
EARLY = 0.75

# One statement takes a batch. If Django composed it, each batch would cost as much processor time as three polls.
# The condition on `state` is that of the partial index dispatch_due, so that the index is used. A poll that is further
# ahead than any is postponed was scheduled before the clock was set back: it is due.
TAKE_DUE = """
WITH due AS (
    SELECT d.id, v.host_id, d.state = 'queued' AS is_queued, d.next_look_at, d.ordered_at,
        CASE WHEN d.state = 'running' AND d.cancel_requested_at IS NULL AND d.end_asked_at IS NULL
            THEN %s ELSE %s END AS period_s,
        away.is_open
    FROM runners_dispatch d JOIN runners_device v ON v.id = d.device_id JOIN runners_host h ON h.id = v.host_id
    CROSS JOIN LATERAL (SELECT EXISTS (
        SELECT FROM runners_hostoutage WHERE until IS NULL AND host_id IN (v.host_id, d.load_host_id)
    ) AS is_open) away
    WHERE d.state NOT IN ('cancelled', 'done', 'failed', 'refused')
        AND (d.state <> 'lost' OR (d.ended_at IS NULL AND d.cancel_requested_at IS NOT NULL))
        AND (d.next_look_at <= statement_timestamp() OR d.next_look_at > statement_timestamp() + %s * interval '1 s')
        AND (d.silent_since IS NOT NULL OR away.is_open) = %s
        AND (h.kind <> 'local' OR h.machine_id = ANY(%s)) AND h.id <> ALL(%s)
    ORDER BY d.next_look_at - CASE
        WHEN d.cancel_requested_at IS NOT NULL OR d.end_asked_at IS NOT NULL
            OR (d.state <> 'running' AND d.waits_for = '')
        THEN %s * interval '1 s' ELSE interval '0 s' END, d.ordered_at LIMIT %s FOR UPDATE OF d SKIP LOCKED
)
UPDATE runners_dispatch d SET next_look_at = statement_timestamp() + due.period_s * interval '1 s'
FROM due WHERE d.id = due.id RETURNING due.*
"""

_checked = threading.local()  # when each thread last had its connection checked


def run_due(connect_host: Connect = connect) -> None:
    """Poll what is due and what becomes due meanwhile, until nothing is, for at most ROUND_S."""
    _assign_local_host()
    answering, silent = host_pools()
    for pool in (answering, silent):
        pool.not_before_s = 0.0  # the round may begin because something has just become due
    CLOCK_STEPS.look()
    end = time.monotonic() + ROUND_S
    while time.monotonic() < end:
        answering.fill(connect_host)
        silent.fill(connect_host)
        load_stopper().fill(answering.busy_hosts() | silent.busy_hosts(), connect_host)
        if not answering.busy_hosts():
            return
        time.sleep(PAUSE_S)


def run_if_due(dispatch_id: int, connect_host: Connect = connect) -> None:
    """Begin a round for a dispatch that was ordered or cancelled, unless it was polled since.

    Not a poll of its own: while many are ordered, each message would poll one after the other, without the threads.
    """
    if Dispatch.objects.filter(pk=dispatch_id, next_poll_at__lte=Now()).exists():
        run_due(connect_host)


def _assign_local_host() -> None:
    """Make this machine the host `local` if none is yet. Without a machine id, only the other hosts are polled."""
    try:
        Host.objects.filter(kind=Host.Kind.LOCAL, machine_id=UNASSIGNED).update(machine_id=machine_id())
    except MachineUnknownError:
        log.exception("dispatches on this machine are not polled")


def poll_reachable(dispatch_id: int, connect_host: Connect, has_open_outage: bool = True) -> bool:
    """Advance a dispatch as far as possible now, unless another worker does. Return whether its host still answers.

    `has_open_outage` is False if it is known that no outage of its hosts is open: an answer then closes none.
    """
    with lock_dispatch(dispatch_id) as dispatch:
        if dispatch is None:
            return True
        dispatch.has_open_outage = has_open_outage
        with (
            bound(dispatch=dispatch.public_id),
            tracing.continued("poll", tracing.DISPATCH, dispatch.pk, only_changes=True),
        ):
            return _advance_until_it_waits(dispatch, connect_host)


def _advance_until_it_waits(dispatch: Dispatch, connect_host: Connect) -> bool:
    try:
        record_register_outage(dispatch)
        while advance(dispatch, recording_connect(dispatch, connect_host)):
            log.info("%s: %s %s", dispatch.public_id, dispatch.state, dispatch.reason)
    except Exception as error:
        log.exception("%s: internal error in %s", dispatch.public_id, dispatch.state)
        record_internal_error(dispatch, error)
    return dispatch.silent_since is None


@dataclass(frozen=True)
class HostBatch:
    """The dispatches to poll on one host, in this order."""

    host_id: int
    dispatch_ids: tuple[int, ...]
    has_open_outage: bool


def take_due_batches(
    is_silent: bool, limit: int, running_period_s: float, busy_hosts: frozenset[int] = frozenset()
) -> list[HostBatch]:
    """Take up to `limit` due dispatches of reachable hosts, and return them by host.

    The longest due come first. One that a person waits for counts as due URGENT_S earlier than it is: a new order, a
    start, an end or a cancellation; not an order that waits for its drive or for another run.
    `is_silent` selects the hosts that gave no answer last, or all others. It selects all dispatches of such a host, so
    that it does not take up one thread after the other. Hosts that are being polled are left out.
    Running programs are polled again after `running_period_s`, all others after WATCH_PERIOD_S.
    """
    with connection.cursor() as cursor:
        sooner_s = settings.WATCH_PERIOD_S * (1 - EARLY)
        periods_s = [max(running_period_s, settings.WATCH_PERIOD_S) - sooner_s, settings.WATCH_PERIOD_S - sooner_s]
        furthest_s = 2 * max(*periods_s, settings.WATCH_PERIOD_S, settings.SILENT_PERIOD_S)
        own_ids, busy = own_machine_ids(), list(busy_hosts)
        cursor.execute(TAKE_DUE, [*periods_s, furthest_s, is_silent, own_ids, busy, URGENT_S, limit])
        rows = cursor.fetchall()
    batches: dict[int, dict[int, bool]] = {}
    # Live dispatches come before queued ones: a drive that becomes free is claimed in the same round.
    for pk, host_id, *_, has_open_outage in sorted(rows, key=itemgetter(2, 3, 4)):
        batches.setdefault(host_id, {})[pk] = has_open_outage
    return [HostBatch(host_id, tuple(outages), any(outages.values())) for host_id, outages in batches.items()]


class HostPool:
    """Threads, and the hosts that they poll. A pool lives as long as the worker's process."""

    def __init__(self, is_silent: bool, threads_count: int) -> None:
        self.is_silent = is_silent
        self.limit = threads_count * HOSTS_PER_THREAD
        self.pool = ThreadPoolExecutor(threads_count, thread_name_prefix="silent" if is_silent else "poll")
        self.pending: dict[int, Future[None]] = {}
        self.not_before_s = 0.0
        self.period_s, self.counted_at_s = 0.0, -COUNT_PERIOD_S

    def busy_hosts(self) -> frozenset[int]:
        """Return the hosts that are being polled, or will be next."""
        self.pending = {host_id: future for host_id, future in self.pending.items() if not future.done()}
        return frozenset(self.pending)

    def fill(self, connect_host: Connect) -> None:
        """Take due batches if less than half of the limit is pending."""
        busy = self.busy_hosts()
        if len(busy) > self.limit // 2 or time.monotonic() < self.not_before_s:
            return
        if time.monotonic() - self.counted_at_s >= COUNT_PERIOD_S:
            self.period_s, self.counted_at_s = run_period_s(), time.monotonic()
        batches = take_due_batches(self.is_silent, self.limit - len(busy), self.period_s, busy)
        for batch in batches:
            self.pending[batch.host_id] = self.pool.submit(_poll_in_thread, batch, connect_host, self.is_silent)
        if not batches:
            self.not_before_s = time.monotonic() + EMPTY_PAUSE_S


@cache
def host_pools() -> tuple[HostPool, HostPool]:
    """Return this process's pools, for answering and for silent hosts; created in the first round, after any fork."""
    return HostPool(is_silent=False, threads_count=settings.LOOK_THREADS), HostPool(True, SILENT_THREADS)


def poll_batch(batch: HostBatch, connect_host: Connect) -> None:
    """Poll the due dispatches of a host one by one. If it does not answer, the rest waits for a later round."""
    for dispatch_id in batch.dispatch_ids:
        if not poll_reachable(dispatch_id, connect_host, batch.has_open_outage):
            return


def _poll_in_thread(batch: HostBatch, connect_host: Connect, is_silent: bool) -> None:
    """Poll a batch as the outermost frame of a thread: log every failure; the next poll finds the rows as they are."""
    _check_connection(time.monotonic())
    message = "host %s: dispatches %s were not polled"
    with bound(host=batch.host_id), contained(log, message, batch.host_id, batch.dispatch_ids):
        poll_batch(batch, connect_host)
    if is_silent:
        _release_connection()
    elif connection.errors_occurred:
        close_old_connections()


def _release_connection() -> None:
    """Close this thread's database connection: the thread may wait long for its next host."""
    connection.close()


def _check_connection(now_s: float) -> None:
    """Check this thread's database connection before it is used, as before each request of a page.

    A check is a statement, and a busy thread makes a dozen polls a second, so there is one check a second at most. A
    connection that breaks meanwhile costs one poll, which is repeated after a period.
    """
    if now_s - getattr(_checked, "at_s", -CHECK_PERIOD_S) >= CHECK_PERIOD_S:
        close_old_connections()
        _checked.at_s = now_s


class LoadStopper:
    """Threads that stop cancelled loads on second hosts while a poll still waits for the drive's host.

    A poll queries both hosts, and a silent one blocks it as long as an answer may take. A cancel that comes meanwhile
    must not wait for that. Stopping a program needs no lock of the dispatch, because it may be repeated; the next poll
    handles the end.
    """

    def __init__(self) -> None:
        self.pool = ThreadPoolExecutor(STOP_THREADS, thread_name_prefix="stop")
        self.pending: dict[int, Future[bool]] = {}
        self.not_before_s = 0.0

    def fill(self, busy_hosts: Set[int], connect_host: Connect) -> None:
        """Stop the cancelled loads of dispatches whose drives are on hosts that are being polled."""
        if not busy_hosts or time.monotonic() < self.not_before_s:
            return
        self.not_before_s = time.monotonic() + STOP_PERIOD_S
        cancelled = Dispatch.objects.filter(state=State.RUNNING, cancel_requested_at__isnull=False)
        due = set(cancelled.filter(device__host__in=busy_hosts, load_host__isnull=False).values_list("pk", flat=True))
        self.pending = {pk: future for pk, future in self.pending.items() if pk in due}
        for pk in due:
            stop = self.pending.get(pk)
            if stop is None or (stop.done() and not stop.result()):
                self.pending[pk] = self.pool.submit(_stop_in_thread, pk, connect_host)


# This process's threads that stop loads, created in the first round, after any fork.
load_stopper = cache(LoadStopper)


def stop_cancelled_load(dispatch_id: int, connect_host: Connect) -> bool:
    """Stop the load of a cancelled dispatch on its second host. Return whether it has ended; if not, repeat.

    dispatch/steps.py stops all other programs.
    """
    cancelled = Dispatch.objects.filter(state=State.RUNNING, cancel_requested_at__isnull=False)
    dispatch = cancelled.select_related("device__host", "load_host").filter(pk=dispatch_id).first()
    if dispatch is None or dispatch.load_host is None or current_stage(dispatch).role is not Role.LOAD:
        return False
    try:
        return connect_host(dispatch.load_host).stop(current_run(dispatch)).state is ProgramState.ENDED
    except HostError as error:
        log.info("%s: the load on %s was not stopped: %s", dispatch, dispatch.load_host, error)
        return False


def _stop_in_thread(dispatch_id: int, connect_host: Connect) -> bool:
    """Stop a load as the outermost frame of a thread: log every failure; the stop is repeated."""
    close_old_connections()
    is_stopped = False
    with contained(log, "the load of dispatch %s was not stopped", dispatch_id):
        is_stopped = stop_cancelled_load(dispatch_id, connect_host)
    _release_connection()
    return is_stopped
