"""The review queue: what each submission lacks, in the order in which a reviewer can end it."""

from __future__ import annotations

from django.db import models
from django.db.models import Case, Count, Exists, OuterRef, Q, QuerySet, Subquery, Value, When

from results.lifecycle.approvals import PUBLICATION
from results.lifecycle.submission_states import StatedSubmission
from results.models import Approval, Question, Run, Visibility


class Missing(models.TextChoices):
    """What a submission lacks to be public, the nearest to publication first."""

    SECOND_APPROVAL = "second-approval", "second approval"
    APPROVAL = "approval", "approval"
    PRODUCT = "product", "product"
    ORGANISATION = "organisation", "confirmed organisation"
    ANSWER = "answer", "answer of the submitter"


def with_missing(submissions: QuerySet[StatedSubmission]) -> QuerySet[StatedSubmission]:
    """Add the column `missing`, a code of Missing, and `approvals_given`."""
    unreviewed = Run.objects.filter(submission=OuterRef("pk"), visibility=Visibility.UNREVIEWED)
    given = Approval.objects.filter(
        run__submission=OuterRef("pk"), step__in=PUBLICATION, voided_at=None, carried_out_at=None
    )
    counted = given.order_by().values("run__submission").annotate(all=Count("reviewer", distinct=True)).values("all")
    question = Question.objects.filter(submission=OuterRef("pk"), answered_at=None, lapsed_at=None)
    missing = Case(
        When(Exists(question), then=Value(Missing.ANSWER)),
        When(organisation__confirmed_at=None, then=Value(Missing.ORGANISATION)),
        When(product=None, then=Value(Missing.PRODUCT)),
        When(Exists(given) & Exists(unreviewed), then=Value(Missing.SECOND_APPROVAL)),
        default=Value(Missing.APPROVAL),
        output_field=models.CharField(),
    )
    return submissions.annotate(missing=missing, approvals_given=Subquery(counted))


def by_missing() -> Case:
    """Return the place of `missing` in the order of Missing, to sort by it."""
    return Case(*(When(missing=code, then=Value(place)) for place, code in enumerate(Missing)), default=Value(9))


def next_of(queue: QuerySet[StatedSubmission], submission: StatedSubmission) -> StatedSubmission | None:
    """Return the next submission of the queue after one, the oldest first; the first one after the last."""
    place = Q(received_at__gt=submission.received_at) | Q(received_at=submission.received_at, pk__gt=submission.pk)
    ordered = queue.exclude(pk=submission.pk).order_by("received_at", "pk")
    return ordered.filter(place).first() or ordered.first()
