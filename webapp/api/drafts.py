"""API endpoints for drafts: gather uploaded files, read the preview, submit it or delete it.

They call the functions of the pages (results/intake/drafts.py, webapp/submissions/drafts). The files arrive by tus at
/uploads/.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from django.conf import settings
from django.utils import timezone
from drf_spectacular.utils import OpenApiResponse, extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.parsers import FormParser, JSONParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from results.intake.archive_logs import submissions_of, submit_logs
from results.intake.drafts import (
    change_draft_slices,
    delete_draft,
    gather_files,
    state_of,
    submit_draft,
)
from results.intake.submissions import COMPANIONS_MAX, Receipt, SubmissionMetadata
from results.intake.uploads import complete, draft_usage, open_drafts
from results.models import Draft, DraftFile, Submission
from webapp.api.authentication import SubmitThrottle, token_of
from webapp.api.payloads import fields_of_form, valid_fields, valid_form, without_bulk
from webapp.api.permissions import NeedsScope
from webapp.api.problems import Problem
from webapp.api.serializers import SubmissionSerializer
from webapp.api.submissions import of_sender
from webapp.api.views import ReadOrChange, View
from webapp.submissions.drafts.forms import FactsForm
from webapp.submissions.drafts.preview import DraftPreview, preview_of
from webapp.submissions.drafts.receipts import notes_of
from webapp.submissions.drafts.senders import find_draft
from webapp.submissions.forms import SLICE_LENGTH_MAX_S, SlicesForm

NO_DRAFT = "No draft of your organisation is named {}. It was deleted, or has expired after 7 days."
SUBMITTED = "The draft is submitted as {}. Its files can no longer be changed or deleted."
UPLOAD_CHARS = 200


class UploadsSerializer(serializers.Serializer[Any]):
    """Addresses of files at /uploads/, the log first, and the slice length for their reading."""

    uploads = serializers.ListField(
        child=serializers.CharField(max_length=UPLOAD_CHARS), min_length=1, max_length=COMPANIONS_MAX + 1
    )
    slice_length_s = serializers.IntegerField(min_value=1, max_value=SLICE_LENGTH_MAX_S, required=False)

    def keys(self) -> list[str]:
        """Return the keys of the files: the last part of each address."""
        return [address.rstrip("/").rsplit("/", 1)[-1] for address in self.validated_data["uploads"]]


class DraftFileSerializer(serializers.ModelSerializer[DraftFile]):
    """A file of a draft. `sha256` is empty until all bytes have arrived."""

    upload = serializers.SerializerMethodField()
    role = serializers.CharField()

    class Meta:
        """Fields without the storage location."""

        model = DraftFile
        fields = ["upload", "filename", "role", "size_bytes", "received_bytes", "sha256"]

    def get_upload(self, file: DraftFile) -> str:
        return f"/uploads/{file.key}/"


class DraftSerializer(serializers.ModelSerializer[Draft]):
    """A draft as lists have it. `submission` is the id of the submission that it became."""

    id = serializers.CharField(source="public_id")
    url = serializers.SerializerMethodField()
    organisation = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    state = serializers.SerializerMethodField()
    submission = serializers.SlugRelatedField[Any](slug_field="public_id", read_only=True, allow_null=True)
    files = DraftFileSerializer(many=True)

    class Meta:
        """Fields of every draft."""

        model = Draft
        fields = [
            "id", "url", "organisation", "state", "created_at", "expires_at", "slice_length_s", "submission", "files",
        ]  # fmt: skip

    def get_url(self, draft: Draft) -> str:
        return f"/submit/{draft.public_id}/"

    def get_state(self, draft: Draft) -> str:
        return state_of(draft, list(draft.files.all()), getattr(draft, "reading", None)).value


class NoteSerializer(serializers.Serializer[Any]):
    """Something that the sender has to know, and of which submission: a code, and the sentence that pages show."""

    code = serializers.CharField()
    detail = serializers.CharField()
    submission = serializers.CharField(required=False)


class MemberSerializer(serializers.Serializer[Any]):
    """A log that another submission of the organisation has; `member` is empty for a plain log."""

    member = serializers.CharField()
    submission = serializers.CharField()


class LogFactsSerializer(serializers.Serializer[Any]):
    """A log of an archive of several logs, with the facts that the files state about its drive."""

    member = serializers.CharField()
    facts = serializers.DictField()


class PreviewSerializer(DraftSerializer):
    """A draft with its preview. `document` is the reader's JSON, as `POST /api/v1/validate/` returns it."""

    reading = serializers.DictField(allow_null=True, required=False)
    document = serializers.DictField(allow_null=True, required=False)
    certificate = serializers.DictField(allow_null=True, required=False)
    facts = serializers.DictField(required=False)
    facts_origin = NoteSerializer(required=False)
    makers = serializers.ListField(child=serializers.CharField(), required=False)
    models = serializers.ListField(child=serializers.CharField(), required=False)
    known_as = serializers.CharField(allow_null=True, required=False)
    known_logs = MemberSerializer(many=True, required=False)
    logs = LogFactsSerializer(many=True, required=False)
    notes = NoteSerializer(many=True, required=False)

    class Meta(DraftSerializer.Meta):
        """The fields of a list, and those of the preview."""

        fields = [
            *DraftSerializer.Meta.fields, "reading", "document", "certificate", "facts", "facts_origin", "makers",
            "models", "known_as", "known_logs", "logs", "notes",
        ]  # fmt: skip

    def to_representation(self, draft: Draft) -> dict[str, Any]:
        """Return the draft; with its preview until it is submitted."""
        shown = DraftSerializer(draft).data
        return shown if draft.submission_id is not None else shown | _preview(preview_of(draft))


def _preview(found: DraftPreview) -> dict[str, Any]:
    needs = found.trial["needs"] if found.trial else None
    return {
        "files": [DraftFileSerializer(file).data | {"role": role} for file, role in found.files],
        "reading": _reading(found),
        "document": without_bulk(found.document) if found.document else None,
        "certificate": needs
        and {
            "sentence": needs["sentence"],
            "attempts": [
                {"title": each["title"], "device_count": each["device_count"], **each["document"]}
                for each in needs["attempts"]
            ],
        },
        "facts": found.facts,
        "facts_origin": {"code": found.facts_origin.value, "detail": found.facts_origin.label},
        "makers": found.makers,
        "models": found.models,
        "known_as": found.known_as and found.known_as.public_id,
        "known_logs": [
            {"member": member, "submission": submission.public_id} for member, submission in found.known_logs.items()
        ],
        "logs": [{"member": name, "facts": facts} for name, facts in found.log_facts().items()],
        "notes": [
            {"code": code, "detail": sentence}
            for code, sentence in (("number-too-large", found.problem), ("several-drives", found.several_drives))
            if sentence
        ],
    }


def _reading(found: DraftPreview) -> dict[str, Any] | None:
    reading = found.reading
    if reading is None:
        return None
    return {
        "state": reading.state,
        "attempts": reading.attempts,
        "error": reading.error,
        "started_at": reading.started_at,
        "finished_at": reading.finished_at,
    }


class QuotaSerializer(serializers.Serializer[Any]):
    """What the open drafts of the organisation use, and their limits. Announced bytes count."""

    files_count = serializers.IntegerField()
    files_max = serializers.IntegerField()
    total_bytes = serializers.IntegerField()
    bytes_max = serializers.IntegerField()
    first_ends_at = serializers.DateTimeField(allow_null=True)


class DraftListSerializer(serializers.Serializer[Any]):
    """The open drafts of an organisation, the newest first, and their quota."""

    quota = QuotaSerializer()
    results = DraftSerializer(many=True)


class ReceiptSerializer(serializers.Serializer[Any]):
    """The submission that a draft became, and notes about one that was known before."""

    submission = SubmissionSerializer()
    notes = NoteSerializer(many=True)
    submissions = SubmissionSerializer(many=True, required=False)


class DraftList(ReadOrChange):
    """The drafts of the token's organisation."""

    permission_classes = [NeedsScope]
    parser_classes = [JSONParser, FormParser, MultiPartParser]

    @extend_schema(
        operation_id="drafts_list",
        summary="List the drafts",
        description=(
            "GET returns the open drafts of the token's organisation, newest first, each with its files and the time "
            "at which it expires, and the quota of the organisation."
        ),
        responses=DraftListSerializer,
    )
    def get(self, request: Request) -> Response:
        drafts = open_drafts().filter(organisation=token_of(request).organisation_id)
        rows = drafts.select_related("organisation", "submission", "reading").prefetch_related("files")
        used = draft_usage(token_of(request).organisation_id)
        quota = {
            "files_count": used.files_count,
            "files_max": settings.DRAFT_FILES_MAX,
            "total_bytes": used.total_bytes,
            "bytes_max": settings.DRAFT_BYTES_MAX,
            "first_ends_at": used.first_ends_at,
        }
        return Response({"quota": QuotaSerializer(quota).data, "results": DraftSerializer(rows, many=True).data})

    @extend_schema(
        summary="Create a draft of uploaded files",
        description=(
            "POST gathers files that were uploaded to /uploads/ one by one into one draft. The field uploads has their "
            "addresses, the log first. The other files belong to the log. The draft is that of the log; the drafts of "
            "the other files are deleted. If you repeat the request, it changes nothing. An upload that is in no open "
            "draft of your organisation gives 404. If a draft would keep other files, the response is 409."
        ),
        request=UploadsSerializer,
        responses=PreviewSerializer,
    )
    def post(self, request: Request) -> Response:
        payload = UploadsSerializer(data=request.data)
        payload.is_valid(raise_exception=True)
        draft = gather_files(token_of(request).organisation, payload.keys())
        if slice_length_s := payload.validated_data.get("slice_length_s"):
            change_draft_slices(draft, slice_length_s)
        return Response(PreviewSerializer(_find(request, draft.public_id)).data)


class DraftDetail(ReadOrChange):
    """A draft of the token's organisation, by its id."""

    permission_classes = [NeedsScope]
    parser_classes = [JSONParser, FormParser, MultiPartParser]

    @extend_schema(
        summary="Read the preview of a draft",
        description=(
            "GET returns a draft with its preview: the state of its reading, verdicts and findings, the requirements "
            "that a certificate still needs, the facts that the files state about the drive, and the makers and models "
            "that your organisation may know of. Request it until its state is read or failed. If the draft is "
            "submitted, the response names the submission and has no preview."
        ),
        responses=PreviewSerializer,
    )
    def get(self, request: Request, public_id: str) -> Response:
        draft = _find(request, public_id)
        if draft.submission_id is None:
            complete(draft)  # if the process that received the last byte ended before it queued the reading
        return Response(PreviewSerializer(draft).data)

    @extend_schema(
        summary="Read a draft in other slices",
        description="PATCH changes the slice length of a draft. The register then reads the log again.",
        request=inline_serializer("DraftSlices", {"slice_length_s": serializers.IntegerField()}),
        responses=PreviewSerializer,
    )
    def patch(self, request: Request, public_id: str) -> Response:
        draft = _open(request, public_id)
        change_draft_slices(draft, valid_form(SlicesForm, request).cleaned_data["slice_length_s"])
        return Response(PreviewSerializer(_find(request, public_id)).data)

    @extend_schema(
        summary="Delete a draft",
        description="DELETE deletes a draft with its files. If the draft is submitted, the response is 409.",
        responses={204: OpenApiResponse(description="the draft and its files are deleted")},
    )
    def delete(self, request: Request, public_id: str) -> Response:
        delete_draft(_open(request, public_id))
        return Response(status=204)


class DraftSubmission(View):
    """POST submits a draft with the facts about its drive."""

    permission_classes = [NeedsScope]
    parser_classes = [JSONParser, FormParser, MultiPartParser]
    throttle_classes = [SubmitThrottle]

    @extend_schema(
        summary="Submit a draft",
        description=(
            "POST submits a draft with the facts about its drive, which are those of the form at /submit/. The first "
            "request returns 201. A further request returns 200 and the same submission, which keeps its facts. If "
            "files are missing, or if the log was not read yet, the response is 409 with the code draft-unread. For an "
            "archive with logs of several drives, send logs instead: a list with the member and the facts of each log. "
            "Each log becomes a submission of its own, and the response lists them as submissions."
        ),
        request=inline_serializer("DraftFacts", fields_of_form(FactsForm)),
        responses={201: ReceiptSerializer, 200: OpenApiResponse(ReceiptSerializer, "the draft or its log is known")},
    )
    def post(self, request: Request, public_id: str) -> Response:
        draft = _find(request, public_id)
        if submitted := submissions_of(draft):
            return _receipts(request, [Receipt(submission, is_new=False) for submission in submitted])
        token = token_of(request)
        if isinstance(request.data, Mapping) and "logs" in request.data:
            stated = _facts_of_logs(request.data)
            return _receipts(request, submit_logs(draft, stated, token.user, Submission.Origin.API))
        form = valid_form(FactsForm, request)
        return _receipt(request, submit_draft(draft, form.facts(), token.user, Submission.Origin.API))


def _facts_of_logs(data: Mapping[str, Any]) -> dict[str, SubmissionMetadata]:
    """Return the facts of each log by its name. Raises ValidationError."""
    logs = data["logs"]
    if set(data) != {"logs"} or not isinstance(logs, list) or not all(isinstance(each, Mapping) for each in logs):
        raise serializers.ValidationError({"logs": ["Expected only a list of objects, one for each log."]})
    found: dict[str, SubmissionMetadata] = {}
    errors: dict[str, list[str]] = {}
    for index, each in enumerate(logs):
        member, about = str(each.get("member", "")), f"logs[{index}]"
        if not member or member in found:
            reason = f"{member} is named twice." if member else "Expected the name of a log, as the preview lists it."
            errors[f"{about}.member"] = [reason]
            continue
        try:
            form = valid_fields(FactsForm, {name: value for name, value in each.items() if name != "member"})
        except serializers.ValidationError as error:
            for name, texts in cast("dict[str, list[str]]", error.detail).items():
                errors[f"{about}.{name}"] = [f"{member}: {text}" for text in texts]
        else:
            found[member] = form.facts()
    if errors:
        raise serializers.ValidationError(errors)
    return found


def _receipts(request: Request, receipts: Sequence[Receipt]) -> Response:
    """Return the receipt of the first submission; of several, all submissions, and the notes of each."""
    response = _receipt(request, receipts[0])
    if len(receipts) > 1:
        shown = {each.pk: each for each in of_sender(request).filter(pk__in=[each.submission.pk for each in receipts])}
        rows = [shown[each.submission.pk] for each in receipts]
        response.data["notes"] = [note for receipt in receipts for note in _notes(receipt)]
        response.data["submissions"] = SubmissionSerializer(rows, many=True).data
        if any(receipt.is_new for receipt in receipts):
            response.status_code = 201
    return response


def _receipt(request: Request, receipt: Receipt) -> Response:
    shown = SubmissionSerializer(of_sender(request).get(pk=receipt.submission.pk)).data
    headers = {"Location": f"/api/v1/submissions/{shown['id']}/"}
    answer = {"submission": shown, "notes": _notes(receipt)}
    return Response(answer, 201 if receipt.is_new else 200, headers=headers)


def _notes(receipt: Receipt) -> list[dict[str, str]]:
    about = receipt.submission.public_id
    return [{"code": note.value, "detail": sentence, "submission": about} for note, sentence in notes_of(receipt)]


def _find(request: Request, public_id: str) -> Draft:
    """Return a draft of the token's organisation that has not expired. Raises NotFound."""
    found = find_draft([token_of(request).organisation], public_id)
    if found is None or (found.submission_id is None and found.expires_at <= timezone.now()):
        raise NotFound(NO_DRAFT.format(public_id))
    return found


def _open(request: Request, public_id: str) -> Draft:
    """Return a draft that is not submitted. Raises NotFound, and Problem for a submitted one."""
    found = _find(request, public_id)
    if found.submission is not None:
        sentence = SUBMITTED.format(found.submission.public_id)
        raise Problem(409, sentence, code="draft-submitted", submission=found.submission.public_id)
    return found
