"""Checks for scripts that store nothing: the reading of a log, and the state of each drive of a list."""

from dataclasses import asdict
from typing import IO, Any

from django.core.files.uploadedfile import UploadedFile
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.parsers import MultiPartParser
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from results import locks
from results.reader.process import Document, FormatError, ReaderKilledError, TooManySlicesError
from results.reader.unstored import unstored_files
from webapp.api.authentication import ReadThrottle, ValidateThrottle, token_of
from webapp.api.payloads import without_bulk
from webapp.api.permissions import NeedsScope
from webapp.api.problems import Problem
from webapp.api.serializers import LogSerializer
from webapp.api.submissions import refuse_size
from webapp.api.views import View
from webapp.register.fleet.answers import answers, counts
from webapp.register.fleet.drives import read_drives
from webapp.register.fleet.listed_drive import FleetError
from webapp.register.fleet.loads import question_names, read_question
from webapp.register.fleet.views import LIST_BYTES_MAX, SCHEMA, TOO_LARGE, decoded, rows_of
from webapp.register.http.query_params import refuse_unknown
from webapp.register.http.responses import NO_STORE
from webapp.register.products.model_index import register_index
from webapp.register.trial.refusals import of_limit

ERROR_KEYS = {"id", "sentence", "line", "expected", "remedy"}  # of the reader's error, in docs/reference/formats.md


class Validation(View):
    """POST reads and judges a log, and stores nothing.

    The response to a log is the reader's JSON (docs/reference/formats.md) without histograms and slices. If the log
    cannot be read, or not within the reader's limits on output, memory and processor time, the response is 422 with
    the error. The register reads one log per organisation at a time: while it reads a log, further requests of that
    organisation get 429.
    """

    permission_classes = [NeedsScope]
    parser_classes = [MultiPartParser]
    throttle_classes = [ValidateThrottle]

    @extend_schema(
        summary="Read a log without submitting it",
        request={"multipart/form-data": LogSerializer},
        responses={200: OpenApiTypes.OBJECT},
    )
    def post(self, request: Request) -> Response:
        refuse_size(request)
        payload = LogSerializer(data=request.data)
        payload.is_valid(raise_exception=True)
        with locks.try_lock(locks.VALIDATION, token_of(request).organisation_id) as is_ours:
            if not is_ours:  # each holds a server thread and a reader's memory, which are there for everyone
                busy = "Another log of your organisation is being read. Wait for that response, or submit the log."
                raise Problem(429, busy)
            document = _read(payload.validated_data)
        return Response(without_bulk(document))


def _read(payload: dict[str, Any]) -> Document:
    with unstored_files() as files:
        _write(payload["log"], files.create_log())
        for companion in payload["companions"]:
            _write(companion, files.create_companion(companion.name))
        try:
            return files.read(payload["slice_length_s"])
        except FormatError as error:
            raise Problem(422, error.error["sentence"], error=error.error) from error
        except TooManySlicesError as error:
            remedy = "Ask for longer slices."
            details = {"id": "too-many-slices", "sentence": str(error), "line": None, "remedy": remedy}
            raise Problem(422, str(error), error=details) from error
        except ReaderKilledError as error:
            if (refusal := of_limit(error)) is None:
                raise
            details = {key: value for key, value in asdict(refusal).items() if key in ERROR_KEYS}
            raise Problem(refusal.status, refusal.sentence, error=details | {"got": refusal.found}) from error


def _write(upload: "UploadedFile[bytes]", file: IO[bytes]) -> None:
    with file:
        file.writelines(upload.chunks())


class FleetCheck(View):
    """POST returns the state of each drive of a list, and stores nothing.

    The body of the request is the output of nvme list, lsblk, smartctl -i or lshw, as plain text or JSON, or CSV with
    a column model. An optional CSV column count gives the number of drives of a row. The state of a drive is one of:
    certified; other-firmware (certified only with different firmware); tested (logs, but no certificate); published
    (only figures from publications); withdrawn (the certificate or all results were withdrawn); other-capacity (the
    register has the model with other capacities only); unknown (not in the register). With the parameters of the form,
    such as tps and limit_1ms, each drive is compared with a load and limits. If the body is not a list of drives, the
    response is 400 with the reason.
    """

    permission_classes = [AllowAny]
    throttle_classes = [ReadThrottle]
    parameters = None

    @extend_schema(
        summary="Check a list of drives",
        request={"application/json": OpenApiTypes.ANY, "text/csv": OpenApiTypes.STR, "text/plain": OpenApiTypes.STR},
        responses={200: OpenApiTypes.OBJECT},
    )
    def post(self, request: Request) -> Response:
        refuse_unknown(request.query_params, question_names())
        body = request.read(LIST_BYTES_MAX + 1)
        if len(body) > LIST_BYTES_MAX:
            raise Problem(413, TOO_LARGE)
        try:
            question = read_question(request.query_params)
            found = answers(read_drives(decoded(body)), register_index())
        except FleetError as error:
            raise Problem(400, str(error)) from error
        state = {"schema": SCHEMA, "counts": counts(found), "rows": rows_of(found, question)}
        return Response(state, headers={"Cache-Control": NO_STORE})
