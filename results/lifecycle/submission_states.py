"""The state of a submission, derived from its reading, product, runs and events; it is not stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from django.db import models
from django.db.models import Case, F, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce

from results.models import Event, Reading, Run, Submission, Visibility

if TYPE_CHECKING:
    from collections.abc import Collection

    from django_stubs_ext import WithAnnotations

DECLINED_KIND = "submission-declined"
RECALLED_KIND = "run-recalled"


class SubmissionState(models.TextChoices):
    """In the order they are passed.

    The submission ends with failed, declined, published, withdrawn, sequestered, retracted and example.
    """

    RECEIVED = "received", "received"
    READING = "reading", "reading"
    FAILED = "failed", "could not be read"
    AWAITING_IDENTITY = "awaiting-identity", "awaiting identity"
    IN_REVIEW = "in-review", "in review"
    DECLINED = "declined", "declined"
    EMBARGOED = "embargoed", "under embargo"
    PUBLISHED = "published", "published"
    WITHDRAWN = "withdrawn", "withdrawn"
    SEQUESTERED = "sequestered", "withheld for legal reasons"
    RETRACTED = "retracted", "withdrawn by its sender"
    EXAMPLE = "example", "example of the register"


UNFINISHED = frozenset({SubmissionState.RECEIVED, SubmissionState.READING})
# Nothing of these is published, unless a reviewer or the sender acts.
NEVER_PUBLIC = frozenset({SubmissionState.FAILED, SubmissionState.DECLINED, SubmissionState.RETRACTED})
REVIEWABLE = frozenset({SubmissionState.AWAITING_IDENTITY, SubmissionState.IN_REVIEW})
INDEXED = UNFINISHED | REVIEWABLE | {SubmissionState.EMBARGOED}


class StateColumn(TypedDict):
    """The columns that with_state() adds; `has_unreviewed` means runs without an approval."""

    state: str
    is_published: bool
    has_unreviewed: bool


if TYPE_CHECKING:
    StatedSubmission = WithAnnotations[Submission, StateColumn]
else:
    StatedSubmission = Submission


def in_states(submissions: QuerySet[Submission], states: Collection[SubmissionState]) -> QuerySet[StatedSubmission]:
    """Return the submissions in some states, with the columns of with_state().

    If all states are in INDEXED, the database reads only rows that partial indexes find: most submissions of a register
    have ended. Otherwise it reads all.
    """
    is_indexed = bool(states) and INDEXED.issuperset(states)
    found = submissions.filter(pk__in=_candidates(frozenset(states))) if is_indexed else submissions
    return with_state(found).filter(state__in=states)


def _candidates(states: frozenset[SubmissionState]) -> QuerySet[Any]:
    """Return the keys of every submission in one of the states, which are in INDEXED, and of some others."""
    keys: list[QuerySet[Any]] = []
    if states & UNFINISHED:
        keys.append(Submission.objects.filter(log__in=Reading.objects.unfinished().values("evidence")).values("pk"))
    if states & REVIEWABLE:
        keys.append(Run.objects.filter(visibility=Visibility.UNREVIEWED).values("submission"))
        keys.append(Submission.objects.filter(has_runs=False).values("pk"))
    if SubmissionState.EMBARGOED in states:
        keys.append(Run.objects.filter(visibility=Visibility.EMBARGOED).values("submission"))
    first, *others = keys
    return first.union(*others) if others else first


def with_state(submissions: QuerySet[Submission]) -> QuerySet[StatedSubmission]:
    """Return the submissions with `state`, a SubmissionState, in the same query."""
    readings = Reading.objects.filter(evidence=OuterRef("log")).order_by("-created_at", "-pk")
    runs = Run.objects.filter(submission=OuterRef("pk"))
    declined = Event.objects.filter(subject_type="submission", subject_id=OuterRef("public_id"), kind=DECLINED_KIND)
    unreviewed = runs.filter(visibility=Visibility.UNREVIEWED)
    of_submission = Run.objects.filter(visibility=Visibility.UNREVIEWED, submission=OuterRef(OuterRef("pk")))
    recalls = Event.objects.filter(
        subject_type="run", kind=RECALLED_KIND, subject_id__in=of_submission.values("public_id")
    )
    used = submissions.alias(
        reading_state=Subquery(readings.values("state")[:1]),
        is_withdrawn=_has(runs.filter(visibility=Visibility.WITHDRAWN)),
        is_sequestered=_has(runs.filter(visibility=Visibility.SEQUESTERED)),
        is_embargoed=_has(runs.filter(visibility=Visibility.EMBARGOED)),
        is_retracted=_has(runs.filter(visibility=Visibility.RETRACTED)),
        declined_by=Subquery(declined.order_by("-pk").values("pk")[:1]),
        recalled_by=Subquery(recalls.order_by("-pk").values("pk")[:1]),
    )
    return used.annotate(
        is_published=_has(runs.filter(visibility__in=[Visibility.PUBLIC, Visibility.SUPERSEDED])),
        has_unreviewed=_has(unreviewed),
    ).annotate(state=_state())


def _has(rows: QuerySet[Any]) -> Coalesce:
    """Return an expression that is true if there is one of these rows for the outer row.

    PostgreSQL then uses an index for each outer row. For EXISTS, it may read the whole table for a page of a hundred.
    """
    first = Subquery(rows.values_list(Value(True))[:1], output_field=models.BooleanField())
    return Coalesce(first, Value(False))


def _state() -> Case:
    """Return the first matching state. A run that waits for a reviewer outweighs the state of the other runs.

    It waits no more where it was declined; it does again where it was recalled after that.
    """
    is_declined = Q(declined_by__isnull=False) & Q(declined_by__gt=Coalesce(F("recalled_by"), 0))
    was_public = Q(is_published=True) | Q(is_withdrawn=True) | Q(is_sequestered=True)
    is_past_review = was_public | Q(is_embargoed=True)
    return Case(
        When(reading_state=Reading.State.PENDING, then=Value(SubmissionState.RECEIVED)),
        When(reading_state=Reading.State.READING, then=Value(SubmissionState.READING)),
        When(reading_state=Reading.State.FAILED, then=Value(SubmissionState.FAILED)),
        When(~Q(demo_run_id=""), then=Value(SubmissionState.EXAMPLE)),
        When(is_past_review & Q(has_unreviewed=True) & ~is_declined, then=Value(SubmissionState.IN_REVIEW)),
        When(Q(is_published=True), then=Value(SubmissionState.PUBLISHED)),
        When(Q(is_withdrawn=True), then=Value(SubmissionState.WITHDRAWN)),
        When(Q(is_sequestered=True), then=Value(SubmissionState.SEQUESTERED)),
        When(Q(is_embargoed=True), then=Value(SubmissionState.EMBARGOED)),
        When(Q(is_retracted=True, has_unreviewed=False), then=Value(SubmissionState.RETRACTED)),
        When(is_declined, then=Value(SubmissionState.DECLINED)),
        When(product__isnull=True, then=Value(SubmissionState.AWAITING_IDENTITY)),
        default=Value(SubmissionState.IN_REVIEW),
        output_field=models.CharField(),
    )
