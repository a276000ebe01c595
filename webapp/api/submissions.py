"""API endpoints for submissions: upload (201 for a new log, 200 for a repeated one), state, and embargo."""

from typing import Any

from django.db import transaction
from django.db.models import Prefetch, QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import FormParser, JSONParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from results.intake.submissions import Receipt, accept_submission
from results.lifecycle.embargo import change_embargo
from results.lifecycle.submission_states import StatedSubmission, with_state
from results.models import Run, Submission, SubmissionKey
from webapp.api.authentication import ReadThrottle, SubmitThrottle, token_of
from webapp.api.pagination import NewestFirst
from webapp.api.permissions import NeedsScope
from webapp.api.problems import Problem
from webapp.api.serializers import SubmissionSerializer, UploadSerializer
from webapp.api.views import DetailView, ListView, ReadOrChange, View
from webapp.submissions.uploads import LEFT_OUT, MOVED, files_complaint, is_too_large, size_complaint

KEY_CHARS = 200


def of_sender(request: Request) -> QuerySet[StatedSubmission]:
    """Return the submissions of the token's organisation with all that their serializer shows."""
    related = Submission.objects.filter(organisation=token_of(request).organisation_id).select_related(
        "organisation", "log", "side_file", "product"
    )
    return with_state(related).prefetch_related(
        "log__readings",
        "companions__evidence",
        Prefetch("runs", Run.objects.not_sequestered().with_withheld_flag()),
        "runs__shares",
        "runs__verdicts",
        "runs__product",
        "runs__ycsb__operations",
        "runs__superseded_by",
        "runs__reading__evidence",
    )


class SubmissionList(ReadOrChange, ListView):
    """GET returns the submissions of the token's organisation, newest first."""

    serializer_class = SubmissionSerializer
    permission_classes = [NeedsScope]
    parser_classes = [MultiPartParser]
    pagination_class = NewestFirst

    def get_queryset(self) -> QuerySet[StatedSubmission]:
        return of_sender(self.request)

    @extend_schema(
        summary="Submit a log",
        description=(
            "POST submits a log. The first request of your organisation with a log returns 201. A further request of "
            "your organisation with the same log returns 200 and the existing submission, which keeps the facts of "
            "the first request. If the register could not read a log, send the log again with another slice_length_s "
            "or more attached files (stderr, command line, configuration, HDR files). The register then reads the "
            "log again, with the facts of the new request. After the register has read a log, it accepts no more "
            "attached files for this log: the response is 409. If you send a known log again with an embargo_until, "
            "that time replaces the embargo of its submission; if a run of the submission was ever public, the "
            "response is 409. An Idempotency-Key "
            "belongs to one submission: if you send another log with the same key, the response is 409. A request "
            "that repeats an Idempotency-Key does not change the embargo of the submission."
        ),
        parameters=[OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER)],
        request={"multipart/form-data": UploadSerializer},
        responses={201: SubmissionSerializer, 200: OpenApiResponse(SubmissionSerializer, "the log is known")},
    )
    def post(self, request: Request) -> Response:
        """Accept a log through the one intake path."""
        refuse_size(request)
        upload = UploadSerializer(data=request.data)
        upload.is_valid(raise_exception=True)
        receipt = _accept(request, upload)
        if receipt.left_out:
            message = LEFT_OUT.format(names=", ".join(receipt.left_out))
            sentence = f"{message} {MOVED}" if receipt.is_embargo_changed else message
            raise Problem(409, sentence, code="files-left-out", submission=receipt.submission.public_id)
        shown = SubmissionSerializer(of_sender(request).get(pk=receipt.submission.pk)).data
        answer_status = status.HTTP_201_CREATED if receipt.is_new else status.HTTP_200_OK
        return Response(shown, answer_status, headers={"Location": f"/api/v1/submissions/{shown['id']}/"})


class SubmissionDetail(DetailView):
    """GET returns one submission of the token's organisation, by its id."""

    serializer_class = SubmissionSerializer
    permission_classes = [NeedsScope]
    throttle_classes = [ReadThrottle]
    lookup_field = "public_id"

    def get_queryset(self) -> QuerySet[StatedSubmission]:
        return of_sender(self.request)


def refuse_size(request: Request) -> None:
    """Raise if files are too large (parsing has skipped them), or if the intake would ignore some of them."""
    _ = request.data
    if is_too_large(request.META):
        raise Problem(413, size_complaint())
    if complaint := files_complaint(request.FILES):
        raise ValidationError({"log": [complaint]})


def _accept(request: Request, upload: UploadSerializer) -> Receipt:
    """Accept the log and bind the sender's key to it, both or neither."""
    token, key, log = token_of(request), _key_of(request), upload.validated_data["log"]
    metadata, companions = upload.facts(), upload.companion_uploads()
    with transaction.atomic():
        origin = Submission.Origin.API
        receipt = accept_submission(
            token.organisation, log, log.name, metadata, origin, token.user, companions=companions, key=key
        )
        _bind_key(receipt.submission, key)
    return receipt


def _key_of(request: Request) -> str:
    key = request.headers.get("Idempotency-Key", "")
    if len(key) > KEY_CHARS:
        raise ValidationError({"Idempotency-Key": f"Expected at most {KEY_CHARS} characters, got {len(key)}."})
    return key


def _bind_key(submission: Submission, key: str) -> None:
    """Store the key of a submission. Of two concurrent requests, the database lets only one create it."""
    if not key:
        return
    bound, _ = SubmissionKey.objects.get_or_create(
        organisation=submission.organisation, key=key, defaults={"submission": submission}
    )
    if bound.submission_id != submission.pk:
        first = bound.submission.public_id
        sentence = f"This Idempotency-Key belongs to submission {first} of other bytes. Use a new key for a new log."
        raise Problem(409, sentence, code="key-of-other-log", submission=first)


class EmbargoSerializer(serializers.Serializer[Any]):
    """The minute before which nothing of a submission is public; null ends its embargo at once."""

    embargo_until = serializers.DateTimeField(allow_null=True)


class SubmissionEmbargo(View):
    """POST sets, changes or ends the embargo of a submission.

    The field embargo_until is the time at which the embargo ends: a whole minute within the next 366 days. If
    embargo_until is null, the embargo ends at once, and the reviewed runs of the submission become public. If a run
    of the submission was ever public, its embargo cannot change, and the response is 409. The history of the
    submission records each change of its embargo.
    """

    permission_classes = [NeedsScope]
    parser_classes = [JSONParser, FormParser]
    throttle_classes = [SubmitThrottle]

    @extend_schema(
        summary="Set, change or end an embargo",
        request=EmbargoSerializer,
        responses=SubmissionSerializer,
    )
    def post(self, request: Request, public_id: str) -> Response:
        submission = get_object_or_404(of_sender(request), public_id=public_id)
        payload = EmbargoSerializer(data=request.data)
        payload.is_valid(raise_exception=True)
        change_embargo(submission, payload.validated_data["embargo_until"], token_of(request).user)
        return Response(SubmissionSerializer(of_sender(request).get(pk=submission.pk)).data)
