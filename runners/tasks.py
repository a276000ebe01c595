"""Celery tasks of the lab: short, with ids only. Each task may arrive twice, late or never."""

from typing import Any

from celery import shared_task
from django.dispatch import receiver

from results.ingest import queue as ingest_queue
from results.ingest.queue import reading_pending
from runners.campaigns import scheduler as campaign_scheduler
from runners.dispatch.orders import EXPIRES_S
from runners.dispatch.scheduler import poll, run_due
from runners.retention.maintenance import check_pool


@shared_task(name="runners.sweep_readings")
def sweep_readings() -> None:
    """Read every pending reading, also those whose message was lost."""
    ingest_queue.sweep()


@shared_task(name="runners.read_evidence")
def read_evidence(reading_id: int) -> None:
    """Read one evidence now. A second message for it finds nothing to do."""
    ingest_queue.read_one(reading_id)


@shared_task(name="runners.watch_dispatches")
def watch_dispatches() -> None:
    """Poll every dispatch that is due. Several workers share them."""
    run_due()


@shared_task(name="runners.advance_dispatch")
def advance_dispatch(dispatch_id: int) -> None:
    """Poll one dispatch now, because it was ordered or cancelled."""
    poll(dispatch_id)


@shared_task(name="runners.watch_campaigns")
def watch_campaigns() -> None:
    """Make the next step of every campaign that has one due."""
    campaign_scheduler.run_due()


@shared_task(name="runners.check_hosts")
def check_hosts() -> None:
    """Start the check of each SSH host that is due. Polling continues while a check waits for its host."""
    check_pool().fill()


@receiver(reading_pending, dispatch_uid="enqueue-reading")
def enqueue_reading(reading_id: int, **_: Any) -> None:
    """Enqueue a reading. The sender of the signal logs the error that this raises without a broker."""
    read_evidence.apply_async(args=(reading_id,), expires=EXPIRES_S, retry=False)
