"""Waiting notices become mails: one for each changed subject, or one a day, as each recipient chose."""

from datetime import datetime, timedelta
from uuid import uuid4

from django.conf import settings
from django.db import transaction
from django.db.models import Min, Q, QuerySet, Value
from django.db.models.functions import Coalesce

from results import locks
from webapp.notices.models import Frequency, Mail, Notice

# What happens to one submission within this time is one mail: most logs are read within seconds of their arrival.
SETTLING = timedelta(seconds=30)


def gather(now: datetime) -> int:
    """Make mails of the waiting notices, and return their number. One process at a time does this."""
    with locks.try_lock(locks.NOTICES, 0) as is_ours:
        if not is_ours:
            return 0
        _waiting(Frequency.NONE).update(state=Notice.State.DROPPED)
        return _gather_single(now) + _gather_daily(now)


def digest_moment(now: datetime) -> datetime:
    """Return the newest moment of a daily mail that is not after `now`."""
    today = now.replace(hour=settings.DIGEST_HOUR, minute=0, second=0, microsecond=0)
    return today if today <= now else today - timedelta(days=1)


def _gather_single(now: datetime) -> int:
    groups = (
        _waiting(Frequency.EACH)
        .values("recipient", "subject_type", "subject_id")
        .annotate(first_at=Min("created_at"))
        .filter(first_at__lte=now - SETTLING)
        .order_by("first_at")
        .values_list("recipient", "subject_type", "subject_id")
    )
    for recipient_id, subject_type, subject_id in list(groups):
        _make_mail(recipient_id, Q(subject_type=subject_type, subject_id=subject_id), is_digest=False)
    return len(groups)


def _gather_daily(now: datetime) -> int:
    # A transaction that began before the moment may end shortly after it.
    before = Q(created_at__lt=digest_moment(now - SETTLING))
    recipients = set(_waiting(Frequency.DAILY).filter(before).values_list("recipient", flat=True))
    for recipient_id in sorted(recipients):
        _make_mail(recipient_id, before, is_digest=True)
    return len(recipients)


@transaction.atomic
def _make_mail(recipient_id: int, which: Q, *, is_digest: bool) -> None:
    mail = Mail.objects.create(recipient_id=recipient_id, is_digest=is_digest, message_id=_new_message_id())
    waiting = Notice.objects.filter(which, recipient=recipient_id, state=Notice.State.WAITING)
    waiting.update(state=Notice.State.MAILED, mail=mail)


def _waiting(frequency: Frequency) -> QuerySet[Notice]:
    """Return the waiting notices of the recipients who chose a frequency. An update of them needs no join."""
    chosen = Notice.objects.alias(
        frequency=Coalesce("recipient__mail_preference__frequency", Value(Frequency.EACH.value))
    ).filter(state=Notice.State.WAITING, frequency=frequency)
    return Notice.objects.filter(pk__in=chosen.values("pk"))


def _new_message_id() -> str:
    """Return a new Message-ID. A mail keeps it in all attempts, so that programs recognise a repetition."""
    domain = settings.DEFAULT_FROM_EMAIL.rpartition("@")[2].rstrip("> ")
    return f"<notice.{uuid4().hex}@{domain}>"
