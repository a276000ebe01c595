"""Errors of the API as problem details (RFC 9457)."""

from http import HTTPStatus
from typing import Any

from django.core.exceptions import TooManyFilesSent
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler

from results.access.intervals import BusyError, NoIntervalsError, SeriesDamagedError
from results.access.withholding import HiddenError, WithheldError
from results.errors import ReviewRefusedError
from results.evidence.store import EvidenceDamagedError, StoreFullError
from results.lifecycle.embargo import MomentError
from results.products.changes import ProductChangedError
from results.reader.process import FormatError, ReaderBrokenError, ReaderKilledError

CONTENT_TYPE = "application/problem+json"
UNNAMED = {"non_field_errors", "detail"}


class Problem(APIException):
    """An error with its own status and sentence. `extensions` are further members of the problem."""

    def __init__(self, status_code: int, detail: str, **extensions: Any) -> None:
        super().__init__(detail)
        self.status_code, self.extensions = status_code, extensions


# The status and the sentence of each error that an endpoint may raise. Without a sentence, the error's own is used.
STATUS_BY_ERROR: tuple[tuple[type[Exception] | tuple[type[Exception], ...], int, str], ...] = (
    (TooManyFilesSent, 400, "Expected a log and at most 32 companions, got more files. Put them into one tar or zip."),
    (NoIntervalsError, 404, ""),
    (ProductChangedError, 412, ""),
    (ReviewRefusedError, 409, ""),
    (
        BusyError,
        429,
        "The register is reading other logs again for their seconds. Try again in a second, or request minutes.",
    ),
    (HiddenError, 404, ""),
    (WithheldError, 451, ""),
    (
        (ReaderKilledError, ReaderBrokenError, FormatError, EvidenceDamagedError, SeriesDamagedError),
        503,
        "The reader did not finish. Try again later, or submit the log to have it read in the queue.",
    ),
    (StoreFullError, 507, "The register has no space for the log now. Nothing was stored. Try again later."),
)


def problem_details(error: Exception, context: dict[str, Any]) -> Response | None:
    """Return an error as problem details; None for an unexpected exception, which is raised."""
    if isinstance(error, MomentError):
        error = ValidationError({"embargo_until": [str(error)]})
    for kinds, status_code, sentence in STATUS_BY_ERROR:
        if isinstance(error, kinds):
            error = Problem(status_code, sentence or str(error))
    response = exception_handler(error, context)
    if response is None:
        return None
    response.data = _problem(response.status_code, response.data) | getattr(error, "extensions", {})
    response.content_type = CONTENT_TYPE
    return response


def _problem(status_code: int, detail: Any) -> dict[str, Any]:
    phrase = HTTPStatus(status_code).phrase
    problem: dict[str, Any] = {"type": "about:blank", "title": phrase, "status": status_code}
    if isinstance(detail, dict) and set(detail) == {"detail"}:
        return problem | {"detail": str(detail["detail"])}
    errors = list(_failing_fields(detail))
    return problem | {"detail": "; ".join(error["detail"] for error in errors), "errors": errors}


def _failing_fields(detail: Any) -> list[dict[str, str]]:
    """Return one entry per message, each with the name of its field if it has one."""
    by_field = detail if isinstance(detail, dict) else {"": detail}
    return [
        {"field": "" if field in UNNAMED else field, "detail": str(message)}
        for field, messages in by_field.items()
        for message in (messages if isinstance(messages, list) else [messages])
    ]
