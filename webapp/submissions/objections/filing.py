"""The form with which anyone objects to a public result, and the withdrawal of an own objection."""

import math
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from results.access.withholding import SequesteredError, refuse_sequestered
from results.errors import ReviewRefusedError
from results.evidence.store import StoreFullError, StoreUnavailableError
from results.lifecycle.objection_filing import (
    FILES_MAX,
    ObjectionQuotaError,
    file_objection,
    is_open_to_objections,
    open_objection_of,
)
from results.lifecycle.objections import RULES, withdraw
from results.models import Objection, Organisation, Run
from webapp.access_limits import process_limits
from webapp.access_limits.client_address import client_network
from webapp.access_limits.shared_limits import LimitReachedError, SharedLimit
from webapp.accounts.permissions import Action, organisations_of
from webapp.accounts.requests import UserRequest, members_only
from webapp.register.http.access import is_public
from webapp.register.http.responses import withheld_page
from webapp.register.http.store_unavailable import NO_SPACE, may_repeat
from webapp.register.objections.page import line_of
from webapp.submissions.changes import refusals_shown
from webapp.submissions.objections.forms import ObjectionForm
from webapp.submissions.uploads import is_too_large
from webapp.templatetags import units

PERIOD_S = 86_400
UNVERIFIED = "Only users with a verified mail address object to results. Verify yours on the page of your account."
FILED = "Filed as {}. A reviewer admits or refuses it. Mail about each step follows."
OF_NETWORK = "Nothing was stored. {} objections came from your network in the last 24 hours; no more are allowed."
CHOOSE_AGAIN = "Choose the files again, because browsers do not keep them."


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def object_to_run(request: UserRequest, public_id: str) -> HttpResponseBase:
    """Show the form, or file an objection. A refusal shows the form again with what was typed."""
    try:
        run = _find_run(public_id)
    except SequesteredError as error:
        return withheld_page(request, error)
    if not request.user.has_verified_address:
        raise PermissionDenied(UNVERIFIED)
    if obstacle := _obstacle(request, run):
        status, sentence = obstacle
        page = {"section": "drives", "run": run, "obstacle": sentence, "is_own": status == 403}
        return render(request, "submissions/objections/new.html", page, status=status)
    organisations = list(organisations_of(request.user, Action.READ))
    if request.method != "POST":
        return _show_form(request, run, ObjectionForm(organisations), 200)
    form = ObjectionForm(organisations, request.POST, request.FILES)
    if is_too_large(request.META):
        form.add_error(
            "attachments", f"The files have more than {units.size(settings.OBJECTION_UPLOAD_MAX_BYTES)} together."
        )
        return _show_form(request, run, form, 413)
    return _file(request, run, form) if form.is_valid() else _show_form(request, run, form, 400)


def _find_run(public_id: str) -> Run:
    run = Run.objects.select_related("product", "submission").filter(public_id=public_id).first()
    if run is not None:
        refuse_sequestered(run)
    if run is None or not is_public(run):
        raise Http404(f"No public run is named {public_id}.")
    return run


def _obstacle(request: UserRequest, run: Run) -> tuple[int, str] | None:
    """Return why the user cannot object to a result at all, with a status; None if they can."""
    if not is_open_to_objections(run):
        return 409, "Objections are possible only to a result that is public and not withdrawn, and not to an example."
    own = Organisation.objects.filter(memberships__user=request.user)
    if run.submission is not None and own.filter(pk=run.submission.organisation_id).exists():
        return 403, "Your organisation submitted this result. Withdraw it, or ask a reviewer to correct it, instead."
    return None


def _file(request: UserRequest, run: Run, form: ObjectionForm) -> HttpResponse:
    limit = SharedLimit("objections-of-network", settings.OBJECTIONS_PER_ADDRESS, PERIOD_S)
    network = client_network(request)
    try:
        use = process_limits.take(limit, network)
    except LimitReachedError as reached:
        form.add_error(
            None, f"Your network has filed {limit.most} objections in the last 24 hours. Nothing was stored."
        )
        return _show_too_many(request, run, form, reached.wait_s)
    try:
        filed = file_objection(
            run, request.user, form.cleaned_data["text"], form.chosen_organisation, form.arrived_attachments()
        )
    except StoreUnavailableError:
        process_limits.give_back(limit, network, use)
        raise
    except StoreFullError:
        process_limits.give_back(limit, network, use)
        form.add_error(None, NO_SPACE)
        return may_repeat(_show_form(request, run, form, 507))
    except ReviewRefusedError as error:
        process_limits.give_back(limit, network, use)
        form.add_error(None, str(error))
        if isinstance(error, ObjectionQuotaError):
            wait_s = (error.free_at - timezone.now()).total_seconds()
            return _show_too_many(request, run, form, max(1, math.ceil(wait_s)))
        return _show_form(request, run, form, 409)
    messages.success(request, FILED.format(filed.public_id))
    return redirect("objection", filed.public_id)


def _show_too_many(request: UserRequest, run: Run, form: ObjectionForm, wait_s: int) -> HttpResponse:
    response = _show_form(request, run, form, 429)
    response.headers["Retry-After"] = str(wait_s)
    return response


def _show_form(request: UserRequest, run: Run, form: ObjectionForm, status: int) -> HttpResponse:
    earlier = Objection.objects.filter(run=run, filed_by=request.user).select_related("run")
    page: dict[str, Any] = {
        "section": "drives",
        "run": run,
        "form": form,
        "earlier": [line_of(each) for each in earlier],
        "open_objection": open_objection_of(run, request.user),
        "own_organisations": form.organisations,
        "days_of": {state.name.lower(): rule.limit.days for state, rule in RULES.items()},
        "quotas": {"account": settings.OBJECTIONS_PER_ACCOUNT, "organisation": settings.OBJECTIONS_PER_ORGANISATION},
        "bytes_max": settings.OBJECTION_UPLOAD_MAX_BYTES,
        "files_max": FILES_MAX,
        "choose_again": CHOOSE_AGAIN if request.FILES or is_too_large(request.META) else "",
    }
    return render(request, "submissions/objections/new.html", page, status=status)


@require_POST
@members_only
def withdraw_own(request: UserRequest, public_id: str) -> HttpResponse:
    """Withdraw an objection that the user filed, before it is admitted."""
    found = Objection.objects.filter(public_id=public_id, filed_by=request.user).first()
    if found is None:
        raise Http404(f"No objection is named {public_id}.")
    with refusals_shown(request):
        withdraw(found, request.user)
        messages.success(request, "The objection is withdrawn. It never becomes public.")
    return redirect("objection", public_id)
