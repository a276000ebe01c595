"""Periodic tasks of the observation of the register. Each may run twice, late or never."""

from celery import shared_task

from webapp.monitoring.tallies import update_tallies


@shared_task(name="monitoring.count")
def count() -> None:
    """Count rows by state for /metrics."""
    update_tallies()
