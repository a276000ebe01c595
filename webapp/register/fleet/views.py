"""Fleet check: the state in the register of each drive of a list. The list is read in memory and never stored."""

from collections.abc import Sequence
from math import ceil
from typing import Any

from django.core.exceptions import RequestDataTooBig, SuspiciousOperation, TooManyFilesSent
from django.core.files.uploadhandler import MemoryFileUploadHandler
from django.http import HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt
from rest_framework.request import Request
from rest_framework.views import APIView

from webapp.api.authentication import ReadThrottle
from webapp.register.fleet.answers import WORDS, FleetAnswer, State, answers, counts_by_word
from webapp.register.fleet.drives import read_drives
from webapp.register.fleet.listed_drive import FleetError
from webapp.register.fleet.loads import (
    LOAD_FIELDS,
    FleetQuestion,
    as_models,
    distinct_models,
    load_answer,
    models_at_load,
    read_question,
    usual_question,
)
from webapp.register.http.files import Value, rows_response
from webapp.register.http.query_params import ParameterError, given_of
from webapp.register.http.responses import bad_request, mark_private, public_page
from webapp.register.products.model_index import register_index

# More than 500 drives with the full output of smartctl; settings.py has the same limit for pasted text.
LIST_BYTES_MAX = 4 * 1024**2
TOO_LARGE = f"The list is larger than {LIST_BYTES_MAX:,} bytes. Split it and check the parts."
INCOMPLETE = "The form arrived incomplete. Send it again."
LENGTH_DIGITS_MAX = 20  # of Content-Length; int() refuses very long numbers


class InMemoryHandler(MemoryFileUploadHandler):
    """Receives files in memory. The register's other handlers write to disk and require a login."""

    def handle_raw_input(self, *_: Any, **__: Any) -> None:
        """Receive a file of any size: `listed_text` has checked the size of the form."""
        self.activated = True


class ListNotReceivedError(FleetError):
    """A list that did not arrive whole, with the HTTP status of the response."""

    def __init__(self, sentence: str, status: int) -> None:
        super().__init__(sentence)
        self.status = status


def listed_text(request: HttpRequest) -> str:
    """Return the list in a form, pasted or as a file. Raises FleetError if it is too large or incomplete."""
    length = str(request.META.get("CONTENT_LENGTH") or "0").strip()
    if not (length.isascii() and length.isdigit()):
        raise ListNotReceivedError(INCOMPLETE, 400)
    if len(length) > LENGTH_DIGITS_MAX or int(length) > LIST_BYTES_MAX + 1024**2:  # with form fields
        raise ListNotReceivedError(TOO_LARGE, 413)
    request.upload_handlers = [InMemoryHandler(request)]
    try:
        pasted, file = str(request.POST.get("list", "")), request.FILES.get("file")
    except (RequestDataTooBig, TooManyFilesSent) as error:
        raise ListNotReceivedError(TOO_LARGE, 413) from error
    except (MultiPartParserError, SuspiciousOperation) as error:
        raise ListNotReceivedError(INCOMPLETE, 400) from error
    if sum(each.size or 0 for _, files in request.FILES.lists() for each in files) > LIST_BYTES_MAX:
        raise ListNotReceivedError(TOO_LARGE, 413)
    if pasted.strip():
        return pasted
    return decoded(file.read()) if file else ""


def decoded(content: bytes) -> str:
    """Return bytes as text. Invalid UTF-8 is replaced, because model numbers are ASCII. UTF-16 needs its mark."""
    is_utf16 = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    return content.decode("utf-16" if is_utf16 else "utf-8", errors="replace")


SCHEMA = "drivecert.fleet-check/1"
FIELDS = (
    *("device", "vendor", "model", "firmware", "capacity_gb", "state", "sentence", "products", "is_historical"),
    *("matched_by", "nearest", "count", "publications", "next_step"),
)


@public_page
def form(request: HttpRequest) -> HttpResponse:
    given_of(request.GET, ())
    return render(request, "register/fleet/check.html", _form_context(usual_question()))


def _form_context(question: FleetQuestion) -> dict[str, Any]:
    return {"section": "check", "question": question, "limits": question.limits}


@csrf_exempt  # a check is read-only and uses no session, so the form needs no token
def answer(request: HttpRequest) -> HttpResponseBase:
    """Check a submitted list; redirect other requests to the form."""
    if request.method != "POST":
        return redirect("check")
    # Only the browser of the user may keep the answer. Without a copy, Back shows an error, because no browser sends a
    # form again on its own.
    return mark_private(_check(request))


def _check(request: HttpRequest) -> HttpResponse:
    throttle = ReadThrottle()  # one limit for the form and the API, which cost the same
    if not throttle.allow_request(Request(request), APIView()):
        return _too_many(request, ceil(throttle.wait() or 1))
    question = usual_question()
    try:
        text = listed_text(request)
        question = read_question(request.POST)
        found = answers(read_drives(text), register_index())
    except ParameterError as error:
        return _refused(request, question, error.sentence, request.POST.get("list", ""))
    except FleetError as error:
        # Reading a form that did not arrive again would raise the same error.
        is_received = not isinstance(error, ListNotReceivedError)
        typed = request.POST.get("list", "") if is_received else ""
        return _refused(request, question, str(error), typed, error.status)
    wanted = request.POST.get("format", "html")
    if wanted in {"csv", "json"}:
        return rows_response(wanted, "fleet-check", SCHEMA, (*FIELDS, *LOAD_FIELDS), rows_of(found, question))
    return render(request, "register/fleet/answer.html", _form_context(question) | _answer_context(found, question))


def _answer_context(found: list[FleetAnswer], question: FleetQuestion) -> dict[str, Any]:
    models = distinct_models(models_at_load(found, question))
    return {
        "answers": as_models(found),
        "models": models,
        "load_answer": load_answer(models),
        "columns": {name: any(getattr(each.drive, name) for each in found) for name in ("device", "firmware")},
        "counts": counts_by_word(found),
        "known": sum(each.drive.count for each in found if each.products or each.state == State.OTHER_CAPACITY),
        "words": WORDS.items(),
        "total": sum(each.drive.count for each in found),
    }


def _refused(request: HttpRequest, question: FleetQuestion, error: str, typed: str, status: int = 400) -> HttpResponse:
    context = _form_context(question) | {"error": error, "typed": typed}
    return render(request, "register/fleet/check.html", context, status=status)


def _too_many(request: HttpRequest, wait_s: int) -> HttpResponse:
    refused = bad_request(request, f"Too many lists. Send it again in {wait_s} s.", reverse("check"))
    refused.status_code = 429
    refused.headers["Retry-After"] = str(wait_s)
    return refused


def rows_of(found: Sequence[FleetAnswer], question: FleetQuestion) -> list[dict[str, Value]]:
    """Return the rows of the export and of the API: a drive of the list, and what is known of it at the load."""
    loads = models_at_load(found, question)
    return [_values_of(each) | load.values for each, load in zip(found, loads, strict=True)]


def _values_of(answer: FleetAnswer) -> dict[str, Value]:
    """Return the fields of a drive. Serial numbers are never read."""
    drive = answer.drive
    return {
        "device": drive.device or None,
        "vendor": drive.vendor or None,
        "model": drive.model or None,
        "firmware": drive.firmware or None,
        "capacity_gb": None if drive.capacity_gb is None else round(drive.capacity_gb),
        "state": answer.state.value,
        "sentence": answer.sentence,
        "products": " ".join(each.slug for each in answer.products) or None,
        "is_historical": answer.is_historical,
        "matched_by": answer.matched_by or None,
        "nearest": " ".join(each.slug for each in answer.nearest) or None,
        "count": drive.count,
        "publications": " ".join(answer.publications) or None,
        "next_step": answer.next_step.value,
    }
