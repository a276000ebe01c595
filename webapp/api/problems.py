"""Errors of the API as problem details (RFC 9457)."""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from django.core.exceptions import TooManyFilesSent
from rest_framework import status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.response import Response
from rest_framework.views import exception_handler

CONTENT_TYPE = "application/problem+json"
UNNAMED = {"non_field_errors", "detail"}


class TooLargeProblem(APIException):
    """The log is larger than the limit."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE


class KeyReusedProblem(APIException):
    """An Idempotency-Key was sent again with different bytes."""

    status_code = status.HTTP_409_CONFLICT
    default_detail = "This Idempotency-Key belongs to a submission of other bytes. Use a new key for a new log."


class CompanionsLateProblem(APIException):
    """The log is known and was read without the companion files that were sent now."""

    status_code = status.HTTP_409_CONFLICT

    def __init__(self, names: Iterable[str], *, is_embargo_changed: bool = False) -> None:
        moved = " The embargo was changed as stated." if is_embargo_changed else ""
        super().__init__(
            f"Not accepted: {', '.join(names)}. The log is being read, or was read, without them. Put log and files "
            f"into one tar or zip and send that as a new submission.{moved}"
        )


class RefusedProblem(APIException):
    """The request is not possible in the current state."""

    status_code = status.HTTP_409_CONFLICT


class StoreFullProblem(APIException):
    """The register has no space left; nothing was stored."""

    status_code = status.HTTP_507_INSUFFICIENT_STORAGE
    default_detail = "The register has no space for the log now. Nothing was stored. Try again later."


class ReaderProblem(APIException):
    """The reader failed for a reason of the register."""

    status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    default_detail = "The reader did not finish. Try again later, or submit the log to have it read in the queue."


class BusyProblem(APIException):
    """The organisation has reached its limit of concurrent readings."""

    status_code = status.HTTP_429_TOO_MANY_REQUESTS
    default_detail = "Another log of your organisation is being read. Wait for that response, or submit the log."


class SlotsProblem(APIException):
    """The limit of logs that are read again at the same time is reached."""

    status_code = status.HTTP_429_TOO_MANY_REQUESTS
    default_detail = "Other logs are being read for their seconds now. Try again in a second, or request minutes."


class WithheldProblem(APIException):
    """The log is sequestered."""

    status_code = 451  # unavailable for legal reasons: the framework has no name for it


class UnreadableProblem(APIException):
    """The log cannot be read; `error` is the reader's own object (docs/reference/formats.md)."""

    status_code = status.HTTP_422_UNPROCESSABLE_ENTITY

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(error["sentence"])
        self.error = error


def problem_details(error: Exception, context: dict[str, Any]) -> Response | None:
    """Return an error as problem details; None for an unexpected exception, which is raised."""
    if isinstance(error, TooManyFilesSent):
        error = ParseError("Expected a log and at most 32 companions, got more files. Put them into one tar or zip.")
    response = exception_handler(error, context)
    if response is None:
        return None
    response.data = _problem(response.status_code, response.data)
    if isinstance(error, UnreadableProblem):
        response.data["error"] = error.error
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
