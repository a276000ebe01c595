"""Views of a device: its page, refresh, rename, retirement and return to service."""

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from results.history import record_event
from results.models import Preparation
from runners.campaigns.ladder import with_readings
from runners.errors import HostError
from runners.hosts import connect
from runners.inventory.devices import RefreshRefusedError, refresh_identity
from runners.inventory.service_state import out_of_service, retirement_of
from runners.models import Device, Dispatch, DriveState, Host
from runners.models.campaign import Campaign
from runners.retention import retirement
from webapp.accounts.requests import UserRequest
from webapp.lab.devices.forms import LabelForm, LabelTakenError, require_free_label
from webapp.lab.shared.consent import consent_context
from webapp.lab.shared.drive_status import availability_of
from webapp.lab.shared.run_results import with_results
from webapp.lab.shared.views import report, staff_action, staff_page

STATES_SHOWN = 100
LATEST_COUNT = 10


@staff_page
def detail(request: UserRequest, device_id: int) -> HttpResponse:
    """Show a device with the states of its drive on all hosts, newest first."""
    device = _find(device_id)
    dispatches = with_readings(Dispatch.objects.filter(device=device).order_by("-ordered_at", "-pk"))
    states = DriveState.objects.filter(drive_key=device.drive_key).select_related("dispatch")
    context = {
        "states": states.order_by("-at", "-id")[:STATES_SHOWN],
        "preparations": Preparation.objects.filter(drive_key=device.drive_key).order_by("-finished_at"),
        "dispatches": with_results(dispatches[:LATEST_COUNT]),
        "campaigns": Campaign.objects.filter(device=device).order_by("-ordered_at", "-pk")[:LATEST_COUNT],
        "availability": availability_of(device),
        "may_certify": device.may_certify,
        "retirement": retirement_of(device),
        "out_of_service": out_of_service(device),
        "may_be_swept": device.host.kind == Host.Kind.LOCAL,
        "section": "lab",
    }
    return render(request, "lab/devices/device.html", context | consent_context(device))


@staff_action
def refresh(request: UserRequest, device_id: int) -> HttpResponse:
    """Update the identity and the recognised data of a device from its host."""
    device = _find(device_id)
    if retired := out_of_service(device):
        messages.error(request, retired)
        return redirect("lab-device", device_id)
    try:
        refresh_identity(device, connect(device.host), request.user)
        messages.success(request, f"Device {device} was refreshed. Its path is {device.path}.")
    except (RefreshRefusedError, HostError) as error:
        messages.error(request, f"Device {device} was not refreshed: {error}")
    return redirect("lab-device", device_id)


@staff_action
def rename(request: UserRequest, device_id: int) -> HttpResponse:
    """Rename a device; the history records both labels."""
    device, form = get_object_or_404(Device, pk=device_id), LabelForm(request.POST)
    if not form.is_valid():
        messages.error(request, "The label was not changed. Enter 1 to 100 characters.")
        return redirect("lab-device", device_id)
    before, label = device.label, form.cleaned_data["label"]
    try:
        require_free_label(device.host, label, device)
    except LabelTakenError as error:
        messages.error(request, f"The label was not changed. {error}")
        return redirect("lab-device", device_id)
    if before != label:
        with transaction.atomic():
            Device.objects.filter(pk=device.pk).update(label=label)
            details = {"label": label, "before": before}
            record_event(request.user, "device-renamed", ("device", str(device.pk)), details=details)
        messages.success(request, f"Device {before} was renamed to {label}.")
    return redirect("lab-device", device_id)


@staff_action
def retire_device(request: UserRequest, device_id: int) -> HttpResponse:
    """Retire a device for a stated reason."""
    device = _find(device_id)
    try:
        retirement.retire_device(device, request.user, request.POST.get("reason", ""))
        messages.success(request, f"Device {device} is retired. It accepts no more orders.")
    except retirement.RetireError as error:
        messages.error(request, str(error))
    return redirect("lab-device", device_id)


@staff_action
def restore_device(request: UserRequest, device_id: int) -> HttpResponse:
    """Return a device to service."""
    device = _find(device_id)
    is_back = retirement.return_to_service(device, request.user)
    report(request, is_back, f"Device {device} is in service again.", f"Device {device} is already in service.")
    return redirect("lab-device", device_id)


def _find(device_id: int) -> Device:
    return get_object_or_404(Device.objects.select_related("host"), pk=device_id)
