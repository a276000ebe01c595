"""Ordering a run, watching it, cancelling it."""

from dataclasses import replace

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from results.models import Organisation
from runners.campaigns.commands import open_on
from runners.dispatch import orders
from runners.dispatch.orders import Order
from runners.dispatch.preflight import refusal_foreseen
from runners.inventory.service_state import out_of_service
from runners.models import Device, Dispatch
from runners.retention import leftover_archive
from webapp.accounts.models import User
from webapp.accounts.requests import UserRequest, staff_only
from webapp.lab.confirming import ask, of_cancel, of_retry
from webapp.lab.consent import asked_of, consented
from webapp.lab.drive_now import drive_now
from webapp.lab.forms import OrderForm
from webapp.lab.live import describe, version_of_dispatch
from webapp.lab.renewal import is_known, renewed, unchanged

NO_LAB = "You act for no lab: ask an operator to make you a member of an organisation of the kind lab."


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def order_run(request: UserRequest, device_id: int) -> HttpResponse:
    """Order an ACT storage run on a device, for the lab that the orderer belongs to."""
    device = get_object_or_404(Device.objects.select_related("host"), pk=device_id)
    organisation = lab_of(request.user)
    form = OrderForm(request.POST or None)
    if request.method == "POST" and (objection := objection_to_order(device, organisation)):
        form.add_error(None, objection)
    if request.method == "POST" and organisation is not None and form.is_valid():
        try:
            dispatch = order_foreseen(request, device, organisation, form.order())
            return redirect("dispatch-detail", dispatch.public_id)
        except ValueError as error:
            form.add_error(None, str(error))
    context = {"form": form, "organisation": organisation, "may_certify": device.may_certify, "now": drive_now(device)}
    return render(request, "lab/order.html", context | asked_of(device) | {"section": "lab"})


def order_foreseen(request: UserRequest, device: Device, organisation: Organisation, asked: Order) -> Dispatch:
    """Order what a page asked for, with the consent that it sent.

    Raises ValueError without that consent, and where the order would be refused by what is known already: nothing is
    left behind then.
    """
    return orders.order(device, organisation, _foreseen(request, device, asked), request.user)


def _foreseen(request: UserRequest, device: Device, asked: Order) -> Order:
    """Return what is asked for with its consent. Raises ValueError, as above."""
    asked = replace(asked, options=consented(device, request.POST, asked.options))
    if refusal := refusal_foreseen(device, asked):
        raise ValueError(refusal)
    return asked


def objection_to_order(device: Device, organisation: Organisation | None) -> str:
    """Say why nothing can be ordered on a device now; empty where it can."""
    if organisation is None:
        return NO_LAB
    if retired := out_of_service(device):
        return retired
    campaign = open_on(device.drive_key)
    return f"Campaign {campaign} has this drive. Wait for its end, or cancel it." if campaign else ""


def lab_of(user: User) -> Organisation | None:
    """Return the lab that a person orders for: the first that they joined."""
    memberships = user.memberships.filter(organisation__kind=Organisation.Kind.LAB).select_related("organisation")
    first = memberships.order_by("pk").first()
    return first.organisation if first else None


@require_safe
@staff_only
def detail(request: UserRequest, public_id: str) -> HttpResponse:
    """Show a dispatch; the live part renews itself."""
    return renewed(request, "lab/dispatch.html", describe(_find(public_id)) | {"section": "lab"})


@require_safe
@staff_only
def live(request: UserRequest, public_id: str) -> HttpResponse:
    """Answer with the part of the page that changes, and with 204 while it has not."""
    dispatch = _find(public_id)
    if is_known(request, version_of_dispatch(dispatch)):
        return unchanged()
    return renewed(request, "lab/live.html", describe(dispatch))


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
        leftover_archive.ask(_find(public_id), request.user)
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
        new = orders.retry(old, _foreseen(request, old.device, orders.asked_of(old)), request.user)
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
