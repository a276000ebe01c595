"""Ending a cancelled load on a second host at once, while a look at it still waits for the drive's host.

A look asks both hosts, and a silent one keeps it for as long as an answer may take: a cancel that comes meanwhile must
not wait for that. Asking a program to end needs no lock of the dispatch: it does the same however often it is done, and
what follows from the end is for the next look.
"""

import logging
import time
from collections.abc import Set
from concurrent.futures import Future, ThreadPoolExecutor

from django.db import close_old_connections

from runners.errors import HostError
from runners.hosts import Connect
from runners.hosts.protocol import Detached
from runners.lifecycle.stages import current, current_run
from runners.models import Dispatch
from runners.models.states import State
from runners.recipes.stage import Role

log = logging.getLogger(__name__)

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
