"""`/try/`: the form, and the result of a reading that is stored nowhere."""

from decimal import InvalidOperation

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from results.models.evidence import SLICE_LENGTH_DEFAULT_S
from webapp.register.http.query_params import given_of
from webapp.register.http.responses import public_form, public_page
from webapp.register.runs.example import example_log_address
from webapp.register.trial import refusals
from webapp.register.trial.page import trial_page
from webapp.register.trial.readings import read_trial
from webapp.register.trial.refusals import Refusal, TrialRefusedError
from webapp.register.trial.uploads import SLICE_LENGTH_MAX_S

SECTION = {"section": "try"}


@public_page
def form(request: HttpRequest) -> HttpResponse:
    given_of(request.GET, ())
    return _form(request, None)


def read(request: HttpRequest) -> HttpResponse:
    """Read the log in the form and show the result, or the form with the reason of a refusal."""
    try:
        reading = read_trial(request)
        page = trial_page(reading.document, reading.judged)
    except TrialRefusedError as error:
        return _refused(request, error.refusal)
    except InvalidOperation as error:  # a number that no column of the register holds
        return _refused(request, refusals.of_reader(error))
    return render(request, "register/trial/result.html", SECTION | _limits() | page | {"fitting_s": reading.fitting_s})


def _refused(request: HttpRequest, refusal: Refusal) -> HttpResponse:
    response = _form(request, refusal)
    response.status_code = refusal.status
    if refusal.wait_s is not None:
        response.headers["Retry-After"] = str(refusal.wait_s)
    return response


def _form(request: HttpRequest, refusal: Refusal | None) -> HttpResponse:
    return render(request, "register/trial/form_page.html", SECTION | _limits() | {"refusal": refusal})


def _limits() -> dict[str, object]:
    """Return the limits that the form states."""
    return {
        "example_log": example_log_address(),
        "upload_most": refusals.upload_most(),
        "readings_per_hour": settings.TRIAL_READINGS_PER_HOUR,
        "cpu_s": settings.TRIAL_CPU_S,
        "slice_length_default_s": SLICE_LENGTH_DEFAULT_S,
        "slice_length_max_s": SLICE_LENGTH_MAX_S,
    }


try_log = public_form(form, read)
