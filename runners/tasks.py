"""Celery tasks of the lab: short, with ids only. Each task may arrive twice, late or never."""

from typing import Any

from celery import shared_task
from django.dispatch import receiver

from results.ingest import queue as ingest_queue
from results.signals import reading_pending
from runners.campaigns.scheduler import look_at_campaigns
from runners.dispatch.orders import EXPIRES_S
from runners.dispatch.scheduler import look, look_at_due
from runners.retention.maintenance import check_due


@shared_task(name="runners.sweep_readings")
def sweep_readings() -> None:
    """Take up every reading that waits, also those whose alarm was lost."""
    ingest_queue.sweep()


@shared_task(name="runners.read_evidence")
def read_evidence(reading_id: int) -> None:
    """Read one evidence now; a second alarm for it finds nothing left to do."""
    ingest_queue.read_one(reading_id)


@shared_task(name="runners.watch_dispatches")
def watch_dispatches() -> None:
    """Look at every dispatch that is due; several workers share them."""
    look_at_due()


@shared_task(name="runners.advance_dispatch")
def advance_dispatch(dispatch_id: int) -> None:
    """Look at one dispatch now: it was ordered or cancelled."""
    look(dispatch_id)


@shared_task(name="runners.watch_campaigns")
def watch_campaigns() -> None:
    """Make the next step of every campaign that has one due."""
    look_at_campaigns()


@shared_task(name="runners.check_hosts")
def check_hosts() -> None:
    """Have each host over SSH checked whose check is due; the looks go on while a silent one is waited for."""
    check_due()


@receiver(reading_pending, dispatch_uid="enqueue-reading")
def enqueue_reading(reading_id: int, **_: Any) -> None:
    """Enqueue a reading. The sender of the signal logs the error that this raises without a broker."""
    read_evidence.apply_async(args=(reading_id,), expires=EXPIRES_S, retry=False)
