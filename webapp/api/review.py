"""API endpoints for reviews: the queue, approvals, declines, questions and answers.

The decisions are those of the pages (results/lifecycle). Reviewers act with their own token; with PRODUCTION, they need
a second factor, as on the pages.
"""

from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.parsers import FormParser, JSONParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from results.access.withholding import visible_verdict
from results.lifecycle.deadlines import RULES, deadline_of
from results.lifecycle.questions import answer, ask
from results.lifecycle.review import decline, retract_approval
from results.lifecycle.review_queue import with_missing
from results.lifecycle.submission_states import REVIEWABLE, StatedSubmission, in_states, with_state
from results.models import Question, Run, Submission, WaitingStep
from webapp.accounts.models import Scope
from webapp.api.authentication import ReadThrottle, SubmitThrottle, token_of
from webapp.api.pagination import OldestFirst
from webapp.api.payloads import valid_form
from webapp.api.permissions import NeedsScope, ReviewersOnly, is_reviewer, require_scope
from webapp.api.problems import Problem
from webapp.api.submissions import of_sender
from webapp.api.views import ListView, View
from webapp.submissions.approvals import UntickedError, approvals_part, approve
from webapp.submissions.forms import AnswerForm, QuestionForm, ReasonForm
from webapp.submissions.review_warnings import review_warnings

NO_SUBMISSION = "No submission is named {}."
PARSERS = [JSONParser, FormParser, MultiPartParser]


class WaitingSerializer(serializers.Serializer[Any]):
    """The next step of a submission: who must act until when, and the code of what happens then."""

    step = serializers.CharField()
    party = serializers.CharField()
    due_at = serializers.DateTimeField()
    then = serializers.CharField()
    is_overdue = serializers.BooleanField()


class ApprovalsSerializer(serializers.Serializer[Any]):
    """The approvals of the runs that wait for publication. `is_given` and `is_barred` are about the reviewer."""

    given = serializers.IntegerField()
    needed = serializers.IntegerField()
    reviewers = serializers.ListField(child=serializers.CharField())
    is_given = serializers.BooleanField()
    is_barred = serializers.BooleanField()


class QuestionSerializer(serializers.ModelSerializer[Question]):
    """A question of a reviewer and its answer. One without answered_at and lapsed_at is open."""

    class Meta:
        """Fields without the names of the reviewer and of the member who answered."""

        model = Question
        fields = ["text", "asked_at", "answer", "answered_at", "lapsed_at"]


class ReviewedRunSerializer(serializers.Serializer[Any]):
    """A run of a submission with its newest verdict."""

    id = serializers.CharField()
    member = serializers.CharField()
    visibility = serializers.CharField()
    outcome = serializers.CharField(allow_null=True)
    headline = serializers.CharField(allow_null=True)


class ReviewSerializer(serializers.Serializer[Any]):
    """The review of a submission. Warnings and approvals are null for all but reviewers."""

    id = serializers.CharField()
    url = serializers.CharField()
    state = serializers.CharField()
    organisation = serializers.CharField()
    product = serializers.CharField(allow_null=True)
    waits_for = WaitingSerializer(allow_null=True)
    runs = ReviewedRunSerializer(many=True)
    questions = QuestionSerializer(many=True)
    warnings = serializers.ListField(child=serializers.CharField(), allow_null=True)
    approvals = ApprovalsSerializer(allow_null=True)


class QueueSerializer(serializers.Serializer[Any]):
    """A submission that waits for a reviewer, and the code of what it lacks."""

    id = serializers.CharField(source="public_id")
    state = serializers.CharField()
    organisation = serializers.CharField(source="organisation.slug")
    received_at = serializers.DateTimeField()
    missing = serializers.CharField()
    approvals = serializers.IntegerField(source="approvals_given", allow_null=True)


class AcceptedSerializer(serializers.Serializer[Any]):
    """The warnings that the reviewer accepts, as the review lists them."""

    accepted_warnings = serializers.ListField(child=serializers.CharField(), required=False, default=list)


class ReasonSerializer(serializers.Serializer[Any]):
    """The reason of a decision; the organisation reads it."""

    reason = serializers.CharField()


class AskSerializer(serializers.Serializer[Any]):
    """The question of a reviewer."""

    question = serializers.CharField()


class AnswerSerializer(serializers.Serializer[Any]):
    """The answer of the organisation."""

    answer = serializers.CharField()


class ReviewQueue(ListView):
    """GET returns what waits for a reviewer, oldest first. It needs the token of a reviewer.

    The field missing is one of: second-approval, approval, product, organisation, answer.
    """

    serializer_class = QueueSerializer
    permission_classes = [NeedsScope, ReviewersOnly]
    read_scope = change_scope = Scope.REVIEW
    pagination_class = OldestFirst
    throttle_classes = [ReadThrottle]

    def get_queryset(self) -> QuerySet[StatedSubmission]:
        return with_missing(in_states(Submission.objects.select_related("organisation"), REVIEWABLE))


class SubmissionReview(View):
    """GET returns the review of a submission: the next step, verdicts, questions, and for reviewers the warnings."""

    permission_classes = [NeedsScope]
    read_scope = (Scope.READ_OWN, Scope.REVIEW)
    throttle_classes = [ReadThrottle]

    @extend_schema(
        summary="Read the review of a submission",
        description=(
            "GET returns the next step of a submission with its deadline, its verdicts, and the questions of reviewers "
            "with their answers. With the token of a reviewer, it works for every organisation, and also returns the "
            "warnings and the approvals."
        ),
        responses=ReviewSerializer,
    )
    def get(self, request: Request, public_id: str) -> Response:
        return _shown(request, _readable(request, public_id))


class SubmissionApproval(View):
    """POST approves a submission, and DELETE takes the approval back. Both need the token of a reviewer."""

    permission_classes = [NeedsScope, ReviewersOnly]
    read_scope = change_scope = Scope.REVIEW
    parser_classes = PARSERS
    throttle_classes = [SubmitThrottle]

    @extend_schema(
        summary="Approve a submission",
        description=(
            "POST approves the runs of a submission that wait for review. They become public with the last approval "
            "that they need, or at the end of their embargo. The request has to repeat each warning of the review in "
            "accepted_warnings; otherwise the response is 409 with the code warnings-not-accepted. It needs the token "
            "of a reviewer."
        ),
        request=AcceptedSerializer,
        responses=ReviewSerializer,
    )
    def post(self, request: Request, public_id: str) -> Response:
        submission = _any(public_id)
        payload = AcceptedSerializer(data=request.data)
        payload.is_valid(raise_exception=True)
        try:
            approve(submission, token_of(request).user, payload.validated_data["accepted_warnings"])
        except UntickedError as error:
            sentence = "Not approved. Repeat the request with each of the warnings in accepted_warnings."
            raise Problem(409, sentence, code=error.code, warnings=error.sentences) from error
        return _shown(request, _any(public_id))

    @extend_schema(
        summary="Take back an approval",
        description="DELETE takes back your own open approval of a submission. It needs the token of a reviewer.",
        responses={200: ReviewSerializer},
    )
    def delete(self, request: Request, public_id: str) -> Response:
        retract_approval(_any(public_id), token_of(request).user)
        return _shown(request, _any(public_id))


class SubmissionDecline(View):
    """POST declines a submission with a reason, which its organisation reads."""

    permission_classes = [NeedsScope, ReviewersOnly]
    read_scope = change_scope = Scope.REVIEW
    parser_classes = PARSERS
    throttle_classes = [SubmitThrottle]

    @extend_schema(
        summary="Decline a submission",
        description="POST declines a submission with a reason. It needs the token of a reviewer.",
        request=ReasonSerializer,
        responses=ReviewSerializer,
    )
    def post(self, request: Request, public_id: str) -> Response:
        submission = _any(public_id)
        decline(submission, token_of(request).user, valid_form(ReasonForm, request).cleaned_data["reason"])
        return _shown(request, _any(public_id))


class SubmissionQuestions(View):
    """POST asks the organisation of a submission under review."""

    permission_classes = [NeedsScope, ReviewersOnly]
    read_scope = change_scope = Scope.REVIEW
    parser_classes = PARSERS
    throttle_classes = [SubmitThrottle]

    @extend_schema(
        summary="Ask a question about a submission",
        description=(
            "POST asks the organisation of a submission under review. While a question is open, no one can ask another "
            "one or approve the submission. It needs the token of a reviewer."
        ),
        request=AskSerializer,
        responses={201: ReviewSerializer},
    )
    def post(self, request: Request, public_id: str) -> Response:
        submission = _any(public_id)
        ask(submission, token_of(request).user, valid_form(QuestionForm, request).cleaned_data["question"])
        return _shown(request, _any(public_id), 201)


class SubmissionAnswer(View):
    """POST answers the open question about a submission of the token's organisation."""

    permission_classes = [NeedsScope]
    parser_classes = PARSERS
    throttle_classes = [SubmitThrottle]

    @extend_schema(
        summary="Answer a question about a submission",
        description="POST answers the open question of a reviewer for the organisation of the token.",
        request=AnswerSerializer,
        responses=ReviewSerializer,
    )
    def post(self, request: Request, public_id: str) -> Response:
        submission = _own(request, public_id)
        answer(submission, token_of(request).user, valid_form(AnswerForm, request).cleaned_data["answer"])
        return _shown(request, _own(request, public_id))


def _any(public_id: str) -> StatedSubmission:
    """Return a submission of any organisation, for a view that is only for reviewers. Raises NotFound."""
    return _named(with_state(Submission.objects.select_related("organisation", "product")), public_id)


def _own(request: Request, public_id: str) -> StatedSubmission:
    return _named(of_sender(request), public_id)


def _readable(request: Request, public_id: str) -> StatedSubmission:
    if is_reviewer(request):
        return _any(public_id)
    require_scope(request, Scope.READ_OWN)
    return _own(request, public_id)


def _named(submissions: QuerySet[StatedSubmission], public_id: str) -> StatedSubmission:
    found = submissions.filter(public_id=public_id).first()
    if found is None:
        raise NotFound(NO_SUBMISSION.format(public_id))
    return found


def _shown(request: Request, submission: StatedSubmission, status: int = 200) -> Response:
    runs = list(
        Run.objects.not_sequestered()
        .filter(submission=submission)
        .with_withheld_flag()
        .select_related("reading__evidence")
        .prefetch_related("verdicts", "findings")
        .order_by("pk")
    )
    part = review_part(request, submission, runs) if is_reviewer(request) else {"warnings": None, "approvals": None}
    review = {
        "id": submission.public_id,
        "url": f"/submissions/{submission.public_id}/",
        "state": submission.state,
        "organisation": submission.organisation.slug,
        "product": submission.product.slug if submission.product else None,
        "waits_for": _waits_for(submission),
        "runs": [_run(run) for run in runs],
        "questions": submission.questions.all(),
        **part,
    }
    return Response(ReviewSerializer(review).data, status)


def review_part(request: Request, submission: StatedSubmission, runs: list[Run]) -> dict[str, Any]:
    """Return what only reviewers read: the warnings to accept, and the approvals."""
    found = approvals_part(submission, runs, token_of(request).user)
    approvals = found and {"given": found["progress"].given, "needed": found["progress"].needed, **found}
    return {"warnings": review_warnings(submission, runs), "approvals": approvals}


def _waits_for(submission: StatedSubmission) -> dict[str, Any] | None:
    deadline = deadline_of(submission)
    if deadline is None:
        return None
    rule = RULES[WaitingStep(deadline.step)]
    return {
        "step": deadline.step,
        "party": rule.party,
        "due_at": deadline.due_at,
        "then": rule.then,
        "is_overdue": deadline.due_at <= timezone.now(),
    }


def _run(run: Run) -> dict[str, Any]:
    newest = next(iter(run.verdicts.all()), None)
    verdict = visible_verdict(run, newest) if newest else None
    return {
        "id": run.public_id,
        "member": run.member,
        "visibility": run.visibility,
        "outcome": verdict and verdict.outcome,
        "headline": verdict and verdict.headline,
    }
