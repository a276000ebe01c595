"""Periodic tasks of webhooks. Each may run twice, late or never: the rows are the queue."""

from datetime import timedelta

from celery import shared_task
from django.db.models import Q
from django.utils import timezone

from webapp.webhooks import delivery
from webapp.webhooks.models import Delivery

RETENTION = timedelta(days=90)


@shared_task(name="webhooks.deliver")
def deliver() -> None:
    """Send the messages that are due."""
    delivery.deliver()


@shared_task(name="webhooks.remove_old")
def remove_old() -> None:
    """Remove messages and their attempts 90 days after they ended."""
    before = timezone.now() - RETENTION
    # An attempt that ran while its webhook ended leaves a message without an end.
    Delivery.objects.filter(Q(ended_at__lt=before) | Q(webhook__ended_at__lt=before)).delete()
