"""Periodic tasks of notices. Each may run twice, late or never: the rows are the queue."""

from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from webapp.notices.delivery import deliver
from webapp.notices.gathering import gather
from webapp.notices.models import Mail, Notice

RETENTION = timedelta(days=90)


@shared_task(name="notices.send")
def send() -> None:
    """Make mails of waiting notices, and send the mails that are due."""
    now = timezone.now()
    gather(now)
    deliver(timezone.now())


@shared_task(name="notices.remove_old")
def remove_old() -> None:
    """Remove mails and notices 90 days after they ended."""
    before = timezone.now() - RETENTION
    Notice.objects.filter(created_at__lt=before).exclude(state=Notice.State.WAITING).exclude(
        mail__state__in=[Mail.State.PENDING, Mail.State.SENDING]
    ).delete()
    Mail.objects.filter(ended_at__lt=before).delete()
