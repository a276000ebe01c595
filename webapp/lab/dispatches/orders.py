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
from webapp.lab.dispatches.forms import OrderForm, YcsbForm, preset_commands
from webapp.lab.shared.consent import consent_context, options_with_consent
from webapp.lab.shared.drive_status import availability_of

NO_LAB_MESSAGE = "You are not a member of a lab. Ask an operator to add you to an organisation of the kind lab."


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def order_run(request: UserRequest, device_id: int) -> HttpResponse:
    """Order an ACT run on a device, for the lab of the orderer."""
    device = get_object_or_404(Device.objects.select_related("host"), pk=device_id)
    organisation = lab_of(request.user)
    form = OrderForm(request.POST or None)
    if request.method == "POST" and (objection := objection_to_order(device, organisation)):
        form.add_error(None, objection)
    if request.method == "POST" and organisation is not None and form.is_valid():
        try:
            dispatch = place_order(request, device, organisation, form.order())
            return redirect("dispatch-detail", dispatch.public_id)
        except ValueError as error:
            form.add_error(None, str(error))
    context = {
        "form": form,
        "organisation": organisation,
        "may_certify": device.may_certify,
        "availability": availability_of(device),
    }
    return render(request, "lab/dispatches/order.html", context | consent_context(device) | {"section": "lab"})


@require_POST
@staff_only
def prepare(request: UserRequest, device_id: int) -> HttpResponse:
    """Order the preparation of a drive."""
    device, organisation = _find(device_id), lab_of(request.user)
    objection = objection_to_order(device, organisation)
    if organisation is None or objection:
        messages.error(request, objection)
        return redirect("lab-device", device_id)
    try:
        dispatch = place_order(request, device, organisation, Order(recipe="prep"))
    except ValueError as error:
        messages.error(request, f"The preparation was not ordered. {error}")
        return redirect("lab-device", device_id)
    return redirect("dispatch-detail", dispatch.public_id)


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def order_ycsb(request: UserRequest, device_id: int) -> HttpResponse:
    """Order a YCSB sweep from a preset; the page shows the command lines of each preset."""
    device, organisation = _find(device_id), lab_of(request.user)
    form = YcsbForm(request.POST or None)
    if request.method == "POST" and (
        objection := _objection_to_sweep(device) or objection_to_order(device, organisation)
    ):
        form.add_error(None, objection)
    if request.method == "POST" and organisation is not None and form.is_valid():
        order = Order(recipe="ycsb", options=form.options(), load_host=form.cleaned_data["load_host"])
        try:
            dispatch = place_order(request, device, organisation, order)
        except ValueError as error:
            form.add_error(None, str(error))
        else:
            return redirect("dispatch-detail", dispatch.public_id)
    context = {"form": form, "presets": preset_commands(), "organisation": organisation}
    context |= {"missing_programs": missing_programs(device.host), "availability": availability_of(device)}
    return render(request, "lab/dispatches/order_ycsb.html", context | consent_context(device) | {"section": "lab"})


def _objection_to_sweep(device: Device) -> str:
    """Return why a sweep cannot be ordered; hosts over SSH do not format, mount or start databases for a register."""
    if device.host.kind == Host.Kind.LOCAL:
        return ""
    return f"Host {device.host.name} is a host over SSH. YCSB sweeps run only on the register's own machine."


def _find(device_id: int) -> Device:
    return get_object_or_404(Device.objects.select_related("host"), pk=device_id)


def place_order(request: UserRequest, device: Device, organisation: Organisation, order: Order) -> Dispatch:
    """Create a dispatch from an order of a page.

    Raises ValueError, before anything is stored, if the consent is missing or the order would be refused.
    """
    return orders.order(device, organisation, check_order(request, device, order), request.user)


def check_order(request: UserRequest, device: Device, order: Order) -> Order:
    """Return an order with the consent of the page.

    Raises ValueError if the consent is missing or the order would be refused.
    """
    order = replace(order, options=options_with_consent(device, request.POST, order.options))
    if refusal := expected_refusal(device, order):
        raise ValueError(refusal)
    return order


def objection_to_order(device: Device, organisation: Organisation | None) -> str:
    """Return why no run can be ordered on a device now; empty if it can."""
    if organisation is None:
        return NO_LAB_MESSAGE
    if retired := out_of_service(device):
        return retired
    campaign = open_on(device.drive_key)
    return f"Campaign {campaign} uses this drive. Wait until it ends, or cancel it." if campaign else ""


def lab_of(user: User) -> Organisation | None:
    """Return the lab of a user: the first one that they joined."""
    memberships = user.memberships.filter(organisation__kind=Organisation.Kind.LAB).select_related("organisation")
    first = memberships.order_by("pk").first()
    return first.organisation if first else None
