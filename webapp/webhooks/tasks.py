"""Periodic tasks of webhooks. Each may run twice, late or never: the rows are the queue."""

from datetime import timedelta
from typing import Any

from celery import shared_task
from celery.signals import worker_process_shutdown
from django.db.models import Q
from django.utils import timezone

from webapp.webhooks.delivery import delivery_thread
from webapp.webhooks.models import Delivery

RETENTION = timedelta(days=90)


@shared_task(name="webhooks.deliver")
def deliver() -> None:
    """Start to send the messages that are due. The task ends at once, so that no reading waits for a receiver."""
    delivery_thread().start_sweep()


@worker_process_shutdown.connect
def stop_delivering(**_: Any) -> None:
    """Wait for the running attempts before a process of the pool ends.

    If the process is killed first, the receiver gets their messages again after the claims have expired.
    """
    delivery_thread().stop()


@shared_task(name="webhooks.remove_old")
def remove_old() -> None:
    """Remove messages and their attempts 90 days after they ended."""
    before = timezone.now() - RETENTION
    # An attempt that ran while its webhook ended leaves a message without an end.
    Delivery.objects.filter(Q(ended_at__lt=before) | Q(webhook__ended_at__lt=before)).delete()
