"""Views of a dispatch: its page and live part, cancellation, leftover files and retry."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect

from runners.dispatch import orders
from runners.models import Dispatch
from runners.retention import leftover_archive
from webapp.accounts.requests import UserRequest
from webapp.lab.dispatches.orders import NotOrderableError, check_order, check_orderable
from webapp.lab.dispatches.page import dispatch_context, version_of_dispatch
from webapp.lab.shared.confirmation import cancel_question, confirmation_page, retry_question
from webapp.lab.shared.consent import consent_context
from webapp.lab.shared.views import live_response, render_live, report, staff_action, staff_page


@staff_page
def detail(request: UserRequest, public_id: str) -> HttpResponse:
    """Show a dispatch; its live part refreshes itself."""
    return render_live(request, "lab/dispatches/dispatch.html", dispatch_context(_find(public_id)) | {"section": "lab"})


@staff_page
def live(request: UserRequest, public_id: str) -> HttpResponse:
    """Return the live part of the page, or 204 if it has not changed."""
    dispatch = _find(public_id)
    version = version_of_dispatch(dispatch)
    return live_response(request, version, "lab/dispatches/live.html", lambda: dispatch_context(dispatch))


@staff_action
def cancel_dispatch(request: UserRequest, public_id: str) -> HttpResponse:
    """Request the cancellation of a dispatch."""
    is_requested = orders.cancel(_find(public_id), request.user, request.POST.get("reason", ""))
    success = "Cancellation requested. This page shows when the host has stopped the program."
    failure = "Not cancelled: the run has already ended, or its cancellation was already requested."
    report(request, is_requested, success, failure)
    return redirect("dispatch-detail", public_id)


@staff_page
def confirm_cancel(request: UserRequest, public_id: str) -> HttpResponse:
    """Ask for confirmation before a run is cancelled."""
    return confirmation_page(request, cancel_question(_find(public_id)))


@staff_action
def declare_ended(request: UserRequest, public_id: str) -> HttpResponse:
    """Record that a person confirmed that a lost dispatch no longer runs, with their reason."""
    reason = request.POST.get("reason", "")
    if not reason.strip():
        messages.error(request, "Enter how you verified that the program does not run. The history shows it.")
        return redirect("dispatch-detail", public_id)
    success = "The drive is free. Your statement is shown in the steps of the dispatch."
    failure = "Nothing was changed: the dispatch is not lost, or its end was already confirmed."
    report(request, orders.declare_ended(_find(public_id), request.user, reason), success, failure)
    return redirect("dispatch-detail", public_id)


@staff_action
def archive_leftovers(request: UserRequest, public_id: str) -> HttpResponse:
    """Request that the leftover files of an ended dispatch are archived soon, not only before they are removed."""
    try:
        leftover_archive.request_fetch(_find(public_id), request.user)
    except leftover_archive.FetchRefusedError as error:
        messages.error(request, f"The leftover files are not archived: {error}")
    return redirect("dispatch-detail", public_id)


@staff_page
def confirm_retry(request: UserRequest, public_id: str) -> HttpResponse:
    """Ask for confirmation before a run is ordered again; like an order, it may need the label."""
    old = _find(public_id)
    return confirmation_page(request, retry_question(old), **consent_context(old.device))


@staff_action
def retry_dispatch(request: UserRequest, public_id: str) -> HttpResponse:
    """Order the same run again, linked to the old one; it needs a new consent to overwrite data."""
    old = _find(public_id)
    try:
        check_orderable(old.device, old.organisation)
        new = orders.retry(old, check_order(request, old.device, orders.order_of(old)), request.user)
        if new is not None:
            return redirect("dispatch-detail", new.public_id)
        messages.error(
            request, "The run was not ordered again: its state does not allow it, or it was already ordered again."
        )
    except NotOrderableError as objection:
        messages.error(request, str(objection))
    except ValueError as error:
        messages.error(request, f"The run was not ordered again. {error}")
    return redirect("dispatch-detail", public_id)


def _find(public_id: str) -> Dispatch:
    related = Dispatch.objects.select_related(
        "device__host", "organisation", "ordered_by", "submission__log", "campaign", "retry_of", "retry"
    )
    return get_object_or_404(related, public_id=public_id)
