"""Errors of the API as problem details (RFC 9457)."""

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from django.core.exceptions import TooManyFilesSent
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler

from results.access.intervals import BusyError, NoIntervalsError, SeriesDamagedError
from results.access.withholding import HiddenError, WithheldError
from results.errors import ReviewRefusedError
from results.evidence.staging import StagedBytesLostError
from results.evidence.store import EvidenceDamagedError, StoreFullError, StoreUnavailableError
from results.intake.drafts import DraftUnreadError
from results.intake.uploads import DraftGoneError, UploadRefusedError
from results.lifecycle.embargo import MomentError
from results.products.changes import ProductChangedError
from results.reader.process import FormatError, ReaderBrokenError, ReaderKilledError
from runners.errors import HostError, HostUnavailableError, RequestRefusedError
from webapp.register.http.query_params import ParameterError
from webapp.register.http.store_unavailable import SENTENCE
from webapp.webhooks.registration import TooManyWebhooksError

CONTENT_TYPE = "application/problem+json"
# Seconds until a retry, if the error states none.
RETRY_AFTER_S = {429: 1, 503: 10, 507: 30}
UNNAMED = {"non_field_errors", "detail"}


class Problem(APIException):
    """An error with its own status and sentence. `extensions` are further members of the problem."""

    def __init__(self, status_code: int, detail: str, **extensions: Any) -> None:
        super().__init__(detail)
        self.status_code, self.extensions = status_code, extensions


Errors = type[Exception] | tuple[type[Exception], ...]
# Status, code and sentence of each error that an endpoint may raise. Without a sentence, the error's own is used.
STATUS_BY_ERROR: tuple[tuple[Errors, int, str, str], ...] = (
    (TooManyFilesSent, 400, "too-many-files", "Expected a log and at most 32 companions, got more files. Put them into "
     "one tar or zip."),
    (NoIntervalsError, 404, "no-intervals", ""),
    (ProductChangedError, 412, "product-changed", ""),
    ((ReviewRefusedError, RequestRefusedError), 409, "", ""),  # they have their own codes
    (
        BusyError,
        429,
        "busy",
        "The register is reading other logs again for their seconds. Try again in a second, or request minutes.",
    ),
    (HiddenError, 404, "not-found", ""),
    (WithheldError, 451, "withheld", ""),
    (
        (ReaderKilledError, ReaderBrokenError, FormatError, EvidenceDamagedError, SeriesDamagedError),
        503,
        "reader-failed",
        "The reader did not finish. Try again later, or submit the log to have it read in the queue.",
    ),
    (StoreFullError, 507, "store-full", "The register has no space for the log now. Nothing was stored. Try again "
     "later."),
    (StoreUnavailableError, 503, "store-unavailable", SENTENCE),
    (DraftGoneError, 404, "draft-gone", "There is no such draft or upload: it was submitted or deleted, or it has "
     "expired. Send the files again."),
    (DraftUnreadError, 409, "draft-unread", "Files of the draft are missing, or the register has not read the log yet. "
     "Request the draft until its state is read or failed, then submit it."),
    (StagedBytesLostError, 410, "bytes-lost", "The register has lost a file of this draft. Delete the draft, and send "
     "its files again."),
    (UploadRefusedError, 409, "upload-refused", ""),
    (TooManyWebhooksError, 409, "too-many-webhooks", ""),
    (HostUnavailableError, 409, "host-unavailable", ""),
    (HostError, 409, "host-refused", ""),
)  # fmt: skip


def problem_details(error: Exception, context: dict[str, Any]) -> Response | None:
    """Return an error as problem details; None for an unexpected exception, which is raised."""
    if isinstance(error, MomentError):
        error = ValidationError({"embargo_until": [str(error)]})
    if isinstance(error, ParameterError):
        error = ValidationError({error.parameter: [error.sentence]})
    for kinds, status_code, code, sentence in STATUS_BY_ERROR:
        if isinstance(error, kinds):
            own_code = error.code if isinstance(error, ReviewRefusedError | RequestRefusedError) else ""
            error = Problem(status_code, sentence or str(error), code=code or own_code)
            break
    response = exception_handler(error, context)
    if response is None:
        return None
    response.data = _problem(response.status_code, response.data) | getattr(error, "extensions", {})
    response.content_type = CONTENT_TYPE
    if response.status_code in RETRY_AFTER_S:
        response.headers.setdefault("Retry-After", str(RETRY_AFTER_S[response.status_code]))
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
        {"field": name, "detail": message}
        for field, messages in by_field.items()
        for name, message in _messages("" if field in UNNAMED else field, messages)
    ]


def _messages(field: str, detail: Any) -> Iterator[tuple[str, str]]:
    """Yield each message with its field; a message about an item of a list has its place, from 0: uploads[3]."""
    if isinstance(detail, dict):
        for key, inner in detail.items():
            own = f"[{key}]" if isinstance(key, int) else f".{key}" * (key not in UNNAMED)
            yield from _messages(f"{field}{own}", inner)
    elif isinstance(detail, list):
        for inner in detail:
            yield from _messages(field, inner)
    else:
        yield field, str(detail)
