"""One look at a dispatch: under its lock, step by step until there is nothing to do but wait."""

import logging

from runners.dispatch.failures import stumbled
from runners.dispatch.steps import advance
from runners.hosts import Connect, connect, is_within_reach
from runners.models import Dispatch, Host
from runners.models.dispatch_rows import stepping
from runners.monitoring.connectivity import Hearing

log = logging.getLogger(__name__)


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
