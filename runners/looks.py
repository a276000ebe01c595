"""One look at a dispatch: under its lock, step by step until there is nothing to do but wait."""

import logging

from django.db.models import Q

from runners.hosts import Connect, connect, is_within_reach
from runners.locks import stepping
from runners.machine import machine_id
from runners.models import Dispatch, Host
from runners.states import FINAL, State
from runners.steps import advance, stumbled

log = logging.getLogger(__name__)


def look_at_all(connect_host: Connect = connect) -> None:
    """Look at every dispatch that has something to do, live ones first: a freed drive is claimed in the same round."""
    Host.objects.filter(kind=Host.Kind.LOCAL, machine_id="").update(machine_id=machine_id())
    left_behind = Q(state=State.LOST, ended_at__isnull=True, cancel_requested_at__isnull=False)
    waiting = Dispatch.objects.filter(~Q(state__in=FINAL) | left_behind)
    unfinished = waiting.order_by("ordered_at").values_list("pk", "state")
    for dispatch_id, _ in sorted(unfinished, key=lambda row: row[1] == State.QUEUED):
        look(dispatch_id, connect_host)


def look(dispatch_id: int, connect_host: Connect = connect) -> None:
    """Advance a dispatch as far as it goes now; leave it alone where another worker is at it, or has to be.

    Another machine's host `local` cannot be asked from here: its dispatches wait for a worker of that machine.
    """
    if not is_within_reach(Host.objects.get(devices__dispatches=dispatch_id)):
        return
    with stepping(dispatch_id) as is_held:
        if is_held:
            _advance_until_it_waits(dispatch_id, connect_host)


def _advance_until_it_waits(dispatch_id: int, connect_host: Connect) -> None:
    dispatch = Dispatch.objects.select_related("device__host", "organisation", "ordered_by").get(pk=dispatch_id)
    try:
        while advance(dispatch, connect_host):
            log.info("%s: %s %s", dispatch.public_id, dispatch.state, dispatch.reason)
    except Exception as error:
        log.exception("%s: stumbled in %s", dispatch.public_id, dispatch.state)
        stumbled(dispatch, error)
