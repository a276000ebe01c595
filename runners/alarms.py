"""Wakes a worker when a row waits for one. The row is the queue: a lost alarm costs one sweep period."""

from typing import Any

from django.dispatch import receiver

from results.signals import reading_pending
from runners.tasks import read_evidence

ALARM_EXPIRES_S = 60  # the sweep has long been there by then


@receiver(reading_pending, dispatch_uid="wake-the-reader")
def wake_the_reader(reading_id: int, **_: Any) -> None:
    """Enqueue the reading; the sender logs what this raises without a broker, and goes on."""
    read_evidence.apply_async(args=(reading_id,), expires=ALARM_EXPIRES_S, retry=False)
