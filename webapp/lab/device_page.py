"""One device: what the lab recorded of its drive over time, and what can be ordered on it."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from results.models import Preparation
from runners.campaigns.ladder import with_what_was_read
from runners.dispatch.orders import Order
from runners.errors import HostError
from runners.hosts import connect
from runners.inventory.devices import LookAgainError, look_again
from runners.inventory.service_state import out_of_service, retirement_of
from runners.inventory.ycsb_requirements import missing_programs
from runners.models import Device, Dispatch, DriveState, Host
from runners.models.campaign import Campaign
from webapp.accounts.requests import UserRequest, staff_only
from webapp.lab.consent import asked_of
from webapp.lab.dispatches import lab_of, objection_to_order, order_foreseen
from webapp.lab.drive_now import drive_now
from webapp.lab.found import found_by
from webapp.lab.ycsb_form import YcsbForm, lines_of_presets

STATES_SHOWN = 100
LATEST_COUNT = 10


@require_safe
@staff_only
def detail(request: UserRequest, device_id: int) -> HttpResponse:
    """Show a device with the history of its drive's states, newest first, wherever the drive was then."""
    device = _find(device_id)
    dispatches = with_what_was_read(Dispatch.objects.filter(device=device).order_by("-ordered_at", "-pk"))
    states = DriveState.objects.filter(drive_key=device.drive_key).select_related("dispatch")
    context = {
        "states": states.order_by("-at", "-id")[:STATES_SHOWN],
        "preparations": Preparation.objects.filter(drive_key=device.drive_key).order_by("-finished_at"),
        "dispatches": found_by(dispatches[:LATEST_COUNT]),
        "campaigns": Campaign.objects.filter(device=device).order_by("-ordered_at", "-pk")[:LATEST_COUNT],
        "now": drive_now(device),
        "may_certify": device.may_certify,
        "retirement": retirement_of(device),
        "out_of_service": out_of_service(device),
        "may_be_swept": device.host.kind == Host.Kind.LOCAL,
        "section": "lab",
    }
    return render(request, "lab/device.html", context | asked_of(device))


@require_POST
@staff_only
def look(request: UserRequest, device_id: int) -> HttpResponse:
    """Ask the host what the drive is and holds now."""
    device = _find(device_id)
    if retired := out_of_service(device):
        messages.error(request, retired)
        return redirect("lab-device", device_id)
    try:
        look_again(device, connect(device.host), request.user)
        messages.success(request, f"{device} was looked at again, at {device.path}.")
    except (LookAgainError, HostError) as error:
        messages.error(request, f"Not looked at again: {error}")
    return redirect("lab-device", device_id)


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
    return render(request, "lab/ycsb_order.html", context | asked_of(device) | {"section": "lab"})


def _objection_to_sweep(device: Device) -> str:
    """A host over SSH formats, mounts and starts nothing for a register."""
    if device.host.kind == Host.Kind.LOCAL:
        return ""
    return f"Host {device.host.name} is reached over SSH and runs no YCSB sweep; the register's own machine does."


def _find(device_id: int) -> Device:
    return get_object_or_404(Device.objects.select_related("host"), pk=device_id)
