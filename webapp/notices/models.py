"""Notices, the mails that carry them, and how often each user wants mail."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from results.models import Event
from webapp.notices.kinds import Audience, Kind

CLAIM = timedelta(minutes=10)  # much longer than an attempt, whose steps end after EMAIL_TIMEOUT each


class Frequency(models.TextChoices):
    """How often a user gets mail about changes."""

    EACH = "each", "for each change"
    DAILY = "daily", "once a day"
    NONE = "none", "none"


class MailPreference(models.Model):
    """The frequency that a user chose. Without a row it is EACH."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, related_name="mail_preference")
    frequency = models.CharField(max_length=10, choices=Frequency)

    def __str__(self) -> str:
        return f"{self.user}: {self.frequency}"


class MailQuerySet(models.QuerySet["Mail"]):
    """Mails by whether they can be sent now."""

    def due(self, now: datetime) -> "MailQuerySet":
        """Return the mails whose next attempt is due, and those whose worker ended in the middle of an attempt."""
        abandoned = Q(state=Mail.State.SENDING, claimed_at__lte=now - CLAIM)
        return self.filter(Q(state=Mail.State.PENDING, next_attempt_at__lte=now) | abandoned)


class Mail(models.Model):
    """One message to one user. It has no address and no text: both are determined when it is sent.

    `code` is the answer to the last attempt: a code of SMTP, `HTTP` with a status, or one of the constants in
    `transport`, `delivery` and `messages`.
    """

    class State(models.TextChoices):
        """The state of the message. `sending` is a claim: no other worker tries it until the claim expires."""

        PENDING = "pending"
        SENDING = "sending"
        SENT = "sent"
        FAILED = "failed"
        DROPPED = "dropped"

    recipient = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    message_id = models.CharField(max_length=200, unique=True)
    is_digest = models.BooleanField()
    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(default=timezone.now)
    claimed_at = models.DateTimeField(null=True)
    code = models.CharField(max_length=40, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True)

    objects = MailQuerySet.as_manager()

    class Meta:
        """The search of the sweep reads only unfinished mails."""

        indexes = [
            models.Index(
                fields=["next_attempt_at"], condition=Q(state__in=["pending", "sending"]), name="mail_unfinished"
            )
        ]

    def __str__(self) -> str:
        return f"mail {self.message_id}: {self.state}"


class Notice(models.Model):
    """One fact for one recipient, written in the transaction of the change that it reports."""

    class State(models.TextChoices):
        """Whether the notice waits, is part of a mail, or was dropped."""

        WAITING = "waiting"
        MAILED = "mailed"
        DROPPED = "dropped"

    recipient = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="notices")
    kind = models.CharField(max_length=30, choices=Kind)
    audience = models.CharField(max_length=10, choices=Audience)
    subject_type = models.CharField(max_length=40)
    subject_id = models.CharField(max_length=120)
    details = models.JSONField(default=dict)
    event = models.ForeignKey(Event, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    mail = models.ForeignKey(Mail, models.SET_NULL, null=True, related_name="notices")

    class Meta:
        """An event leads to one notice of a kind for a recipient."""

        constraints = [
            models.UniqueConstraint(fields=["event", "recipient", "kind"], name="one_notice_of_an_event_each")
        ]
        indexes = [
            models.Index(fields=["recipient", "created_at"], condition=Q(state="waiting"), name="notice_waiting")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject_type} {self.subject_id} for {self.recipient}: {self.state}"


def frequency_of(user_id: int) -> Frequency:
    """Return how often a user gets mail about changes."""
    chosen = MailPreference.objects.filter(user=user_id).values_list("frequency", flat=True).first()
    return Frequency(chosen or Frequency.EACH)
