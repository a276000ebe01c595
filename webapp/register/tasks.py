"""Periodic tasks of the public pages. Each may run twice, late or never."""

from celery import shared_task

from webapp.register.dumps.writer import write_due
from webapp.register.snapshots import updates


@shared_task(name="register.keep_snapshot")
def keep_snapshot() -> None:
    """Update the snapshot; do nothing while another worker does it."""
    updates.update_snapshot()


@shared_task(name="register.keep_dump")
def keep_dump() -> None:
    """Write today's dump if there is none yet."""
    write_due()
