"""Webhooks, their waiting and ended deliveries, and the attempts of each delivery."""

import json
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from results.models import Event, Organisation
from results.models.ids import new_public_id

CLAIM = timedelta(minutes=2)  # much longer than an attempt, which ends after 10 s
RESPONSE_CHARS = 500


def new_webhook_id() -> str:
    """Return a new public id for a webhook."""
    return new_public_id("w")


def new_delivery_id() -> str:
    """Return a new public id for a delivery."""
    return new_public_id("e")


class Topic(models.TextChoices):
    """A kind of change that webhooks report."""

    RECEIVED = "submission.received", "a log was received"
    READ = "submission.read", "a log was read, and has a verdict"
    FAILED = "submission.failed", "a log could not be read"
    QUESTION = "submission.question", "a reviewer asks about a submission"
    DECLINED = "submission.declined", "a reviewer declined a submission"
    DEADLINE = "submission.deadline", "a deadline of a submission is near, or has passed"
    EMBARGOED = "run.embargoed", "a result was approved under embargo"
    PUBLISHED = "run.published", "a result became public"
    WITHDRAWN = "run.withdrawn", "a result was withdrawn"
    SUPERSEDED = "run.superseded", "another result replaced a result"
    CERTIFIED = "certificate.issued", "a certificate was issued"
    OBJECTION = "objection.admitted", "an objection to a result became public"


class Webhook(models.Model):
    """An address of an organisation that gets a message about each event of its topics.

    The secret signs each message; it is encrypted. The webhook with the oldest `last_attempt_at` has the next turn.
    """

    public_id = models.CharField(max_length=20, unique=True, default=new_webhook_id)
    organisation = models.ForeignKey(Organisation, models.PROTECT, related_name="webhooks")
    url = models.CharField(max_length=2000)
    topics = ArrayField(models.CharField(max_length=30, choices=Topic))
    encrypted_secret = models.TextField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="created_webhooks")
    created_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True)
    last_attempt_at = models.DateTimeField(null=True)

    class Meta:
        """A webhook has at least one topic."""

        constraints = [
            models.CheckConstraint(
                condition=Q(topics__len__gt=0, topics__contained_by=Topic.values), name="webhook_has_topics"
            )
        ]

    def __str__(self) -> str:
        return f"webhook {self.public_id} of {self.organisation}"


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    """Deliveries by whether they can be attempted now."""

    def due(self, now: datetime) -> "DeliveryQuerySet":
        """Return the deliveries to attempt, and those whose worker ended in the middle of an attempt.

        Those of one subject are delivered in order: a delivery waits for earlier ones that have not ended.
        """
        earlier = Delivery.objects.filter(
            webhook=OuterRef("webhook"), subject=OuterRef("subject"), pk__lt=OuterRef("pk"), state__in=UNFINISHED
        )
        abandoned = Q(state=Delivery.State.SENDING, claimed_at__lte=now - CLAIM)
        is_due = Q(state=Delivery.State.PENDING, next_attempt_at__lte=now) | abandoned
        return self.filter(is_due, ~Exists(earlier), webhook__ended_at__isnull=True)


class Delivery(models.Model):
    """One message to one webhook. `body` is sent as it is stored.

    `subject` is the id of its submission; of a trial, that of the webhook.
    """

    class State(models.TextChoices):
        """`sending`: a worker claimed it. `dead`: it was given up, after a day or after status 410."""

        PENDING = "pending"
        SENDING = "sending"
        DELIVERED = "delivered"
        DEAD = "dead"

    public_id = models.CharField(max_length=20, unique=True, default=new_delivery_id)
    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    event = models.ForeignKey(Event, models.PROTECT, null=True, related_name="+")  # null: a trial
    topic = models.CharField(max_length=30)
    subject = models.CharField(max_length=120)
    body = models.TextField()
    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    created_at = models.DateTimeField(default=timezone.now)
    queued_at = models.DateTimeField(default=timezone.now)  # later than created_at for a replay
    next_attempt_at = models.DateTimeField(default=timezone.now)
    claimed_at = models.DateTimeField(null=True)
    attempts_count = models.PositiveSmallIntegerField(default=0)
    ended_at = models.DateTimeField(null=True)

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        """A webhook gets one message about each event and submission; the sweep reads only unfinished ones."""

        constraints = [
            models.UniqueConstraint(fields=["webhook", "event", "subject"], name="one_delivery_of_an_event_each")
        ]
        indexes = [
            models.Index(
                fields=["webhook", "subject", "id"],
                condition=Q(state__in=["pending", "sending"]),
                name="delivery_unfinished",
            ),
            models.Index(fields=["webhook", "-id"], name="delivery_by_webhook"),
        ]

    def __str__(self) -> str:
        return f"delivery {self.public_id}: {self.state}"

    @property
    def document(self) -> Any:
        """Return the body as an object."""
        return json.loads(self.body)


UNFINISHED = (Delivery.State.PENDING, Delivery.State.SENDING)


class Attempt(models.Model):
    """One request of a delivery: the status of its response, or the code of its failure."""

    delivery = models.ForeignKey(Delivery, models.CASCADE, related_name="attempts")
    at = models.DateTimeField(default=timezone.now)
    status = models.PositiveSmallIntegerField(null=True)
    failure = models.CharField(max_length=30, blank=True)  # a code of webapp/outbound/client.py
    duration_ms = models.PositiveIntegerField(null=True)
    response = models.CharField(max_length=RESPONSE_CHARS, blank=True)

    class Meta:
        """The earliest attempt comes first."""

        verbose_name = "delivery attempt"

        ordering = ["at", "id"]

    def __str__(self) -> str:
        return f"attempt of {self.delivery_id}: {self.status or self.failure}"
