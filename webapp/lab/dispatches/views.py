"""Views of a dispatch: its page and live part, cancellation, leftover files and retry."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST, require_safe

from runners.dispatch import orders
from runners.models import Dispatch
from runners.retention import leftover_archive
from webapp.accounts.requests import UserRequest, staff_only
from webapp.lab.dispatches.orders import _foreseen, objection_to_order
from webapp.lab.dispatches.page import describe, version_of_dispatch
from webapp.lab.shared.confirmation import ask, of_cancel, of_retry
from webapp.lab.shared.consent import asked_of
from webapp.lab.shared.live_part import is_known, renewed, unchanged


@require_safe
@staff_only
def detail(request: UserRequest, public_id: str) -> HttpResponse:
    """Show a dispatch; the live part renews itself."""
    return renewed(request, "lab/dispatches/dispatch.html", describe(_find(public_id)) | {"section": "lab"})


@require_safe
@staff_only
def live(request: UserRequest, public_id: str) -> HttpResponse:
    """Answer with the part of the page that changes, and with 204 while it has not."""
    dispatch = _find(public_id)
    if is_known(request, version_of_dispatch(dispatch)):
        return unchanged()
    return renewed(request, "lab/dispatches/live.html", describe(dispatch))


@require_POST
@staff_only
def cancel_dispatch(request: UserRequest, public_id: str) -> HttpResponse:
    """Ask for a dispatch to be cancelled."""
    if orders.cancel(_find(public_id), request.user, request.POST.get("reason", "")):
        messages.success(request, "Cancel asked for. The worker ends the program and says here when it has ended.")
    else:
        messages.error(request, "Nothing to cancel: it has ended, or a cancel was asked for before.")
    return redirect("dispatch-detail", public_id)


@require_safe
@staff_only
def confirm_cancel(request: UserRequest, public_id: str) -> HttpResponse:
    """Ask once before the program is ended."""
    return ask(request, of_cancel(_find(public_id)))


@require_POST
@staff_only
def declare_ended(request: UserRequest, public_id: str) -> HttpResponse:
    """Take a person's word that nothing of a lost dispatch runs, with how they know."""
    reason = request.POST.get("reason", "")
    if not reason.strip():
        messages.error(request, "Say how you know that nothing of it runs; the history keeps it.")
    elif orders.declare_ended(_find(public_id), request.user, reason):
        messages.success(request, "The drive is free. What you said stands in the steps of the dispatch.")
    else:
        messages.error(request, "Nothing to say: it is not lost, or it is known already that nothing of it runs.")
    return redirect("dispatch-detail", public_id)


@require_POST
@staff_only
def fetch_left(request: UserRequest, public_id: str) -> HttpResponse:
    """Have what an ended dispatch left on its host kept soon, which is kept before it is removed otherwise."""
    try:
        leftover_archive.request_fetch(_find(public_id), request.user)
    except leftover_archive.FetchRefusedError as error:
        messages.error(request, f"Not fetched: {error}")
    return redirect("dispatch-detail", public_id)


@require_safe
@staff_only
def confirm_retry(request: UserRequest, public_id: str) -> HttpResponse:
    """Ask once before the drive is written over again, for its label too where an order would."""
    old = _find(public_id)
    return ask(request, of_retry(old), **asked_of(old.device))


@require_POST
@staff_only
def retry_dispatch(request: UserRequest, public_id: str) -> HttpResponse:
    """Order the same again, linked to the old one; a consent to write over data is asked for anew."""
    old = _find(public_id)
    if objection := objection_to_order(old.device, old.organisation):
        messages.error(request, objection)
        return redirect("dispatch-detail", public_id)
    try:
        new = orders.retry(old, _foreseen(request, old.device, orders.order_of(old)), request.user)
    except ValueError as error:
        messages.error(request, f"Not ordered again: {error}")
        return redirect("dispatch-detail", public_id)
    if new is None:
        messages.error(request, "Nothing to order again: it has not ended so, or it was ordered again before.")
        return redirect("dispatch-detail", public_id)
    return redirect("dispatch-detail", new.public_id)


def _find(public_id: str) -> Dispatch:
    related = Dispatch.objects.select_related(
        "device__host", "organisation", "ordered_by", "submission__log", "campaign", "retry_of", "retry"
    )
    return get_object_or_404(related, public_id=public_id)
