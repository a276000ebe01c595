"""Waking the worker, which is a courtesy: the row in the table is what is to be done, and the next look finds it."""

import logging

from celery import current_app
from kombu.exceptions import OperationalError

log = logging.getLogger(__name__)

ADVANCE = "runners.advance_dispatch"


def wake(dispatch_id: int) -> None:
    """Ask a worker to look at a dispatch now; without a broker only the log says so."""
    try:
        current_app.send_task(ADVANCE, args=[dispatch_id], ignore_result=True, retry=False)
    except OperationalError as error:
        log.warning("dispatch %s: worker not woken (%s); the next look finds it", dispatch_id, error)
