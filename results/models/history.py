"""The history of runs: events, annotations and earlier results."""

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Greatest

from results.models.evidence import Reading
from results.models.run import Run, Verdict


class Event(models.Model):
    """One change, never altered afterwards: the database refuses to update or delete a row."""

    at = models.DateTimeField(auto_now_add=True)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    kind = models.CharField(max_length=40)
    subject_type = models.CharField(max_length=40)
    subject_id = models.CharField(max_length=120)  # the longest is the slug of a product
    reason = models.TextField(blank=True)
    details = models.JSONField(default=dict)

    class Meta:
        """Indexes for queries by subject, and for the newest events."""

        ordering = ["at", "id"]
        indexes = [
            models.Index(fields=["subject_type", "subject_id", "at"], name="event_by_subject"),
            models.Index(fields=["-at", "-id"], name="event_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject_type} {self.subject_id}"


class AnnotationQuerySet(models.QuerySet["Annotation"]):
    """Queries for annotations: current ones, and the time since which each is public."""

    def with_public_since(self) -> "AnnotationQuerySet":
        """Add the column `since`, equal to the property `public_since`."""
        return self.annotate(since=Greatest("created_at", "run__published_at"))  # PostgreSQL leaves null out

    def current(self) -> "AnnotationQuerySet":
        """Return the annotations that are not retracted."""
        return self.filter(retracted_at__isnull=True)


class Annotation(models.Model):
    """A sentence that is shown with a run's figures until it is retracted; its text never changes.

    `reply` is the one public reply of the organisation that submitted the run. An imported one has no author.
    """

    run = models.ForeignKey(Run, models.PROTECT, related_name="annotations")
    text = models.TextField()
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    retracted_at = models.DateTimeField(null=True)
    reply = models.TextField(blank=True, default="", db_default="")
    replied_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    replied_at = models.DateTimeField(null=True)

    objects = AnnotationQuerySet.as_manager()

    class Meta:
        """Oldest first; a run has the same current text only once."""

        ordering = ["created_at", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "text"], condition=Q(retracted_at__isnull=True), name="annotation_stands_once"
            ),
            models.CheckConstraint(
                condition=Q(reply="", replied_at__isnull=True, replied_by__isnull=True)
                | ~Q(reply="") & Q(replied_at__isnull=False),
                name="reply_to_annotation_has_a_time",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run}: {self.text}"

    @property
    def public_since(self) -> datetime:
        """Return the time since which everyone may read it, which is not before its run was public."""
        return max(self.created_at, self.run.published_at or self.created_at)


class EarlierResult(models.Model):
    """The earlier reading of a run, stored when a re-evaluation gave a different result.

    `document` holds the run's columns and the rows below it (docs/decisions/0005); its verdict stays a row of its own.
    The database refuses to change or delete a row.
    """

    run = models.ForeignKey(Run, models.PROTECT, related_name="earlier_results")
    number = models.PositiveSmallIntegerField()
    reading = models.ForeignKey(Reading, models.PROTECT, related_name="+")
    verdict = models.OneToOneField(Verdict, models.PROTECT, null=True, related_name="earlier_result")
    document = models.JSONField()
    replaced_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """Numbered from 1, the oldest first."""

        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="earlier_result_number_unique_in_run")]

    def __str__(self) -> str:
        return f"{self.run}, earlier result {self.number}"

    @property
    def public_since(self) -> datetime:
        """Return the time since which everyone may read of the replacement, not before its run was public."""
        return max(self.replaced_at, self.run.published_at or self.replaced_at)
