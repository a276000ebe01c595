"""The task that removes the traces of old rows, also after tracing was turned off."""

from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from webapp.tracing.models import RowTrace

RETENTION = timedelta(days=30)  # a dispatch may wait and run for weeks


@shared_task(name="tracing.remove_old")
def remove_old() -> None:
    """Remove the traces of rows that were made too long ago."""
    RowTrace.objects.filter(created_at__lt=timezone.now() - RETENTION).delete()
