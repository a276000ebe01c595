"""Validation of a log without storing it, with the same reader and verdict as for a submission."""

import tempfile
from pathlib import Path
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.parsers import MultiPartParser
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from results import locks
from results.evidence.names import file_name
from results.ingest.queue import judging_profile
from results.reader import process as reader_process
from results.reader.process import Document, FormatError, ReaderBrokenError, ReaderKilledError, TooManySlicesError
from webapp.api.authentication import ValidateThrottle, token_of
from webapp.api.problems import BusyProblem, ReaderProblem, UnreadableProblem
from webapp.api.serializers import LogSerializer
from webapp.api.submissions import refuse_size

BULKY = {"histograms", "slices", "series"}


class Validation(APIView):
    """A reading that only the sender sees."""

    permission_classes = [IsAuthenticated]
    parser_classes = [MultiPartParser]
    throttle_classes = [ValidateThrottle]

    @extend_schema(
        summary="Read a log without submitting it",
        description="The response is the reader's JSON (docs/reference/formats.md) without histograms and slices. "
        "Nothing is stored. Each organisation has one reading at a time; meanwhile, other requests get 429.",
        request={"multipart/form-data": LogSerializer},
        responses={200: OpenApiTypes.OBJECT},
    )
    def post(self, request: Request) -> Response:
        """Read and judge a log; respond with 422 and the reader's error object if the log cannot be read."""
        refuse_size(request)
        payload = LogSerializer(data=request.data)
        payload.is_valid(raise_exception=True)
        with locks.try_lock(locks.VALIDATION, token_of(request).organisation_id) as is_ours:
            if not is_ours:  # each holds a server thread and a reader's memory, which are there for everyone
                raise BusyProblem
            document = _read(payload.validated_data)
        runs = [{key: value for key, value in run.items() if key not in BULKY} for run in document["runs"]]
        return Response(document | {"runs": runs})


def _read(payload: dict[str, Any]) -> Document:
    with tempfile.TemporaryDirectory(prefix="drivecert-validate-") as directory:
        path = _written(payload["log"], Path(directory), "log")
        companions = [
            _written(each, Path(directory) / str(n), each.name) for n, each in enumerate(payload["companions"])
        ]
        try:
            return reader_process.read(path, payload["slice_length_s"], judging_profile().document, companions)
        except FormatError as error:
            raise UnreadableProblem(error.error) from error
        except TooManySlicesError as error:
            raise UnreadableProblem(_too_many(error)) from error
        except (ReaderKilledError, ReaderBrokenError) as error:
            raise ReaderProblem from error


def _written(upload: "UploadedFile[bytes]", directory: Path, name: str) -> Path:
    """Write an upload under a safe name in a directory of its own, because two uploads may have the same name."""
    directory.mkdir(exist_ok=True)
    path = directory / file_name(name)
    with path.open("wb") as file:
        file.writelines(upload.chunks())
    return path


def _too_many(error: TooManySlicesError) -> dict[str, Any]:
    return {"id": "too-many-slices", "sentence": f"{error}", "line": None, "remedy": "Ask for longer slices."}
