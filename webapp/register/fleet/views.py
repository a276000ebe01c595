"""The fleet check: which drives of a list the register knows, and as what. Nothing of the list is stored."""

from math import ceil

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt
from rest_framework.request import Request
from rest_framework.views import APIView

from webapp.api.throttles import ReadThrottle
from webapp.register.fleet.answers import FleetAnswer, answers, counts
from webapp.register.fleet.drives import FleetError, read_drives
from webapp.register.fleet.uploads import CUT, TOO_LARGE, listed_text
from webapp.register.http.error_pages import bad_request
from webapp.register.http.files import Value, rows_response
from webapp.register.http.query_params import given_of
from webapp.register.http.responses import public_page
from webapp.register.products.model_index import register_index

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
