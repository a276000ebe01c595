"""Views that order a dispatch: an ACT run, a preparation or a YCSB sweep."""

from dataclasses import replace

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from results.models import Organisation
from runners.campaigns.commands import open_on
from runners.dispatch import orders
from runners.dispatch.orders import Order
from runners.dispatch.preflight import expected_refusal
from runners.inventory.service_state import out_of_service
from runners.inventory.ycsb_requirements import missing_programs
from runners.models import Device, Dispatch, Host
from webapp.accounts.models import User
from webapp.accounts.requests import UserRequest, staff_only
from webapp.lab.dispatches.forms import OrderForm, YcsbForm, lines_of_presets
from webapp.lab.shared.consent import asked_of, consented
from webapp.lab.shared.drive_status import drive_now

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
    return render(request, "lab/dispatches/order.html", context | asked_of(device) | {"section": "lab"})


@require_POST
@staff_only
def prepare(request: UserRequest, device_id: int) -> HttpResponse:
    """Order a preparation."""
    device, organisation = _find(device_id), lab_of(request.user)
    objection = objection_to_order(device, organisation)
    if organisation is None or objection:
        messages.error(request, objection)
        return redirect("lab-device", device_id)
    try:
        dispatch = order_foreseen(request, device, organisation, Order(recipe="prep"))
    except ValueError as error:
        messages.error(request, f"Not ordered: {error}")
        return redirect("lab-device", device_id)
    return redirect("dispatch-detail", dispatch.public_id)


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def order_ycsb(request: UserRequest, device_id: int) -> HttpResponse:
    """Order a YCSB sweep by a preset; each preset shows the command lines that it comes to."""
    device, organisation = _find(device_id), lab_of(request.user)
    form = YcsbForm(request.POST or None)
    if request.method == "POST" and (
        objection := _objection_to_sweep(device) or objection_to_order(device, organisation)
    ):
        form.add_error(None, objection)
    if request.method == "POST" and organisation is not None and form.is_valid():
        asked = Order(recipe="ycsb", options=form.options(), load_host=form.cleaned_data["load_host"])
        try:
            dispatch = order_foreseen(request, device, organisation, asked)
        except ValueError as error:
            form.add_error(None, str(error))
        else:
            return redirect("dispatch-detail", dispatch.public_id)
    context = {"form": form, "presets": lines_of_presets(), "organisation": organisation}
    context |= {"missing_programs": missing_programs(device.host), "now": drive_now(device)}
    return render(request, "lab/dispatches/order_ycsb.html", context | asked_of(device) | {"section": "lab"})


def _objection_to_sweep(device: Device) -> str:
    """A host over SSH formats, mounts and starts nothing for a register."""
    if device.host.kind == Host.Kind.LOCAL:
        return ""
    return f"Host {device.host.name} is reached over SSH and runs no YCSB sweep; the register's own machine does."


def _find(device_id: int) -> Device:
    return get_object_or_404(Device.objects.select_related("host"), pk=device_id)


def order_foreseen(request: UserRequest, device: Device, organisation: Organisation, asked: Order) -> Dispatch:
    """Order what a page asked for, with the consent that it sent.

    Raises ValueError without that consent, and where the order would be refused by what is known already: nothing is
    left behind then.
    """
    return orders.order(device, organisation, _foreseen(request, device, asked), request.user)


def _foreseen(request: UserRequest, device: Device, asked: Order) -> Order:
    """Return what is asked for with its consent. Raises ValueError, as above."""
    asked = replace(asked, options=consented(device, request.POST, asked.options))
    if refusal := expected_refusal(device, asked):
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
