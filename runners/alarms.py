"""Wakes a worker when a row waits for one. The row is the queue: a lost alarm costs one sweep period."""

import logging
from typing import Any

from django.dispatch import receiver
from kombu.exceptions import OperationalError

from results.signals import reading_pending
from runners.tasks import advance_dispatch, read_evidence

log = logging.getLogger(__name__)

ALARM_EXPIRES_S = 60  # the sweep has long been there by then


@receiver(reading_pending, dispatch_uid="wake-the-reader")
def wake_the_reader(reading_id: int, **_: Any) -> None:
    """Enqueue the reading; the sender logs what this raises without a broker, and goes on."""
    read_evidence.apply_async(args=(reading_id,), expires=ALARM_EXPIRES_S, retry=False)


def wake_the_dispatcher(dispatch_id: int) -> None:
    """Ask a worker to look at a dispatch now; without a broker only the log says so."""
    try:
        advance_dispatch.apply_async(args=(dispatch_id,), expires=ALARM_EXPIRES_S, retry=False)
    except OperationalError as error:
        log.warning("dispatch %s: no worker woken (%s); the next look finds it", dispatch_id, error)
