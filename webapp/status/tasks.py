"""The periodic task of the status page. It may run twice, late or never."""

from celery import shared_task

from webapp.status.recording import record_status


@shared_task(name="status.record")
def record() -> None:
    """Record the state of each part for the status page."""
    record_status()
