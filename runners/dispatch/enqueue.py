"""Enqueueing of dispatches. The row is the queue: a lost message delays a dispatch by one polling period."""

import logging

from celery import current_app
from kombu.exceptions import OperationalError

log = logging.getLogger(__name__)

ADVANCE_DISPATCH = "runners.advance_dispatch"  # by name, since the module of the tasks imports everything in this app
EXPIRES_S = 60  # after a minute, the periodic task has polled the dispatch


def enqueue_dispatch(dispatch_id: int) -> None:
    """Ask a worker to poll a dispatch now. Without a broker, only log that: the periodic task polls it later."""
    try:
        current_app.tasks[ADVANCE_DISPATCH].apply_async(args=(dispatch_id,), expires=EXPIRES_S, retry=False)
    except OperationalError as error:
        log.warning("dispatch %s: no worker woken (%s); the next look finds it", dispatch_id, error)
