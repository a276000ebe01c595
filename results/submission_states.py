"""Where a submission stands. Nothing stores it: it is what reading, product, runs and events say together."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from django.db import models
from django.db.models import Case, Exists, OuterRef, Q, QuerySet, Subquery, Value, When

from results.models import Event, Reading, Run, Submission, Visibility

if TYPE_CHECKING:
    from django_stubs_ext import WithAnnotations

DECLINED_KIND = "submission-declined"


class SubmissionState(models.TextChoices):
    """In the order they are passed; failed, declined, published and withdrawn end it."""

    RECEIVED = "received", "received"
    READING = "reading", "reading"
    FAILED = "failed", "could not be read"
    AWAITING_IDENTITY = "awaiting-identity", "awaiting identity"
    IN_REVIEW = "in-review", "in review"
    DECLINED = "declined", "declined"
    PUBLISHED = "published", "published"
    WITHDRAWN = "withdrawn", "withdrawn"


UNFINISHED = frozenset({SubmissionState.RECEIVED, SubmissionState.READING})
REVIEWABLE = frozenset({SubmissionState.AWAITING_IDENTITY, SubmissionState.IN_REVIEW})


class StateColumn(TypedDict):
    """What with_state() adds to a row."""

    state: str


if TYPE_CHECKING:
    StatedSubmission = WithAnnotations[Submission, StateColumn]
else:
    StatedSubmission = Submission


def with_state(submissions: QuerySet[Submission]) -> QuerySet[StatedSubmission]:
    """Return the submissions with `state`, a SubmissionState, in the same query."""
    readings = Reading.objects.filter(evidence=OuterRef("log")).order_by("-created_at", "-pk")
    runs = Run.objects.filter(submission=OuterRef("pk"))
    declined = Event.objects.filter(subject_type="submission", subject_id=OuterRef("public_id"), kind=DECLINED_KIND)
    return submissions.annotate(
        reading_state=Subquery(readings.values("state")[:1]),
        is_published=Exists(runs.filter(visibility__in=[Visibility.PUBLIC, Visibility.SUPERSEDED])),
        is_withdrawn=Exists(runs.filter(visibility=Visibility.WITHDRAWN)),
        is_declined=Exists(declined),
    ).annotate(state=_state())


def _state() -> Case:
    """The first that holds; a run that is public outweighs that an earlier look declined it."""
    return Case(
        When(reading_state=Reading.State.PENDING, then=Value(SubmissionState.RECEIVED)),
        When(reading_state=Reading.State.READING, then=Value(SubmissionState.READING)),
        When(reading_state=Reading.State.FAILED, then=Value(SubmissionState.FAILED)),
        When(Q(is_published=True), then=Value(SubmissionState.PUBLISHED)),
        When(Q(is_withdrawn=True), then=Value(SubmissionState.WITHDRAWN)),
        When(Q(is_declined=True), then=Value(SubmissionState.DECLINED)),
        When(product__isnull=True, then=Value(SubmissionState.AWAITING_IDENTITY)),
        default=Value(SubmissionState.IN_REVIEW),
        output_field=models.CharField(),
    )
