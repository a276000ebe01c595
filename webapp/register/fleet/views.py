"""How a list arrives at the fleet check: in memory, bounded, kept nowhere."""

from math import ceil

from django.core.exceptions import RequestDataTooBig, SuspiciousOperation, TooManyFilesSent
from django.core.files.uploadedfile import SimpleUploadedFile, UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, StopUpload
from django.http import HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt
from rest_framework.request import Request
from rest_framework.views import APIView

from webapp.api.throttles import ReadThrottle
from webapp.register.fleet.answers import FleetAnswer, answers, counts
from webapp.register.fleet.drives import FleetError, read_drives
from webapp.register.http.error_pages import bad_request
from webapp.register.http.files import Value, rows_response
from webapp.register.http.query_params import given_of
from webapp.register.http.responses import public_page
from webapp.register.products.model_index import register_index

LIST_BYTES_MAX = (
    4 * 1024**2
)  # 500 drives as smartctl prints them whole are less; settings.py bounds a pasted text alike
TOO_LARGE = f"The list is larger than {LIST_BYTES_MAX:,} bytes: check it in parts."
CUT = "The form did not arrive whole: send it again."
MOST_DIGITS = 20  # of a length: more are too many for int(), too


class InMemoryHandler(FileUploadHandler):
    """Keeps one small file in memory: the register's own handlers would spool it, and only for those signed in."""

    def __init__(self, request: HttpRequest | None = None) -> None:
        super().__init__(request)
        self.chunks: list[bytes] = []
        self.received_bytes = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self.received_bytes += len(raw_data)
        if self.received_bytes > LIST_BYTES_MAX:
            raise StopUpload(connection_reset=True)
        self.chunks.append(raw_data)

    def file_complete(self, file_size: int) -> "UploadedFile[bytes]":
        content, self.chunks = b"".join(self.chunks), []
        return SimpleUploadedFile("list", content)


def listed_text(request: HttpRequest) -> str:
    """Return the list that a form sends, pasted or as a file. Raises FleetError where there is none, or too much."""
    told = str(request.META.get("CONTENT_LENGTH") or "0").strip()
    if not (told.isascii() and told.isdigit()):
        raise FleetError(CUT)
    if len(told) > MOST_DIGITS or int(told) > LIST_BYTES_MAX + 1024**2:  # form fields and boundaries around it
        raise FleetError(TOO_LARGE)
    handler = InMemoryHandler(request)
    request.upload_handlers = [handler]
    try:
        pasted, file = str(request.POST.get("list", "")), request.FILES.get("file")
    except (RequestDataTooBig, TooManyFilesSent) as error:
        raise FleetError(TOO_LARGE) from error
    except (MultiPartParserError, SuspiciousOperation) as error:
        raise FleetError(CUT) from error
    if handler.received_bytes > LIST_BYTES_MAX:
        raise FleetError(TOO_LARGE)
    if pasted.strip():
        return pasted
    return decoded(file.read()) if file else ""


def decoded(content: bytes) -> str:
    """Return bytes as text; what is no UTF-8 is replaced: a model number is ASCII. UTF-16 is told by its mark."""
    is_utf16 = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    return content.decode("utf-16" if is_utf16 else "utf-8", errors="replace")


SCHEMA = "drivecert.fleet-check/1"
FIELDS = (
    *("device", "vendor", "model", "firmware", "capacity_gb", "state", "sentence", "products", "is_historical"),
    *("matched_by", "nearest", "count", "publications"),
)
NO_STORE = "no-store"


@public_page
def form(request: HttpRequest) -> HttpResponse:
    given_of(request.GET, ())
    return render(request, "register/fleet/check.html", {"section": "check"})


@csrf_exempt  # a check changes nothing and knows nobody: no cookie, no token, so that the form is the same for everyone
def answer(request: HttpRequest) -> HttpResponse:
    """Answer a sent list; whoever comes without one is led to the form."""
    if request.method != "POST":
        return redirect("check")
    response = _answered(request)
    response.headers["Cache-Control"] = NO_STORE
    return response


def _answered(request: HttpRequest) -> HttpResponse:
    throttle = ReadThrottle()  # counts the form together with the API: both cost the same
    if not throttle.allow_request(Request(request), APIView()):
        return _too_many(request, ceil(throttle.wait() or 1))
    try:
        found = answers(read_drives(listed_text(request)), register_index())
    except FleetError as error:
        return _form_again(request, str(error))
    wanted = request.POST.get("format", "html")
    if wanted in {"csv", "json"}:
        return rows_response(wanted, "fleet-check", SCHEMA, FIELDS, [values_of(each) for each in found])
    total = sum(each.drive.count for each in found)
    told = {name: any(getattr(each.drive, name) for each in found) for name in ("device", "firmware")}
    context = {"section": "check", "answers": found, "counts": counts(found), "total": total, "told": told}
    return render(request, "register/fleet/answer.html", context)


def _form_again(request: HttpRequest, sentence: str) -> HttpResponse:
    """Return the form with what was pasted and what is wrong with it; nothing of a list that did not arrive."""
    arrived = sentence not in {TOO_LARGE, CUT}
    context = {"section": "check", "error": sentence, "typed": request.POST.get("list", "") if arrived else ""}
    return render(request, "register/fleet/check.html", context, status=413 if sentence == TOO_LARGE else 400)


def _too_many(request: HttpRequest, wait_s: int) -> HttpResponse:
    refused = bad_request(request, f"Too many lists: send it again in {wait_s} s.", reverse("check"))
    refused.status_code = 429
    refused.headers["Retry-After"] = str(wait_s)
    return refused


def values_of(answer: FleetAnswer) -> dict[str, Value]:
    """Return an answer as it is exported; serial numbers are not read at all."""
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
    }
