"""Views of a device: its page, refresh, rename, retirement and return to service."""

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from results.models import Event, Preparation
from runners.campaigns.ladder import with_readings
from runners.errors import HostError
from runners.hosts import connect
from runners.inventory.devices import RefreshRefusedError, refresh_identity
from runners.inventory.service_state import out_of_service, retirement_of
from runners.models import Device, Dispatch, DriveState, Host
from runners.models.campaign import Campaign
from runners.retention import retirement
from webapp.accounts.requests import UserRequest, staff_only
from webapp.lab.devices.forms import LabelForm, LabelTakenError, refuse_taken
from webapp.lab.shared.consent import asked_of
from webapp.lab.shared.drive_status import drive_now
from webapp.lab.shared.run_results import found_by

STATES_SHOWN = 100
LATEST_COUNT = 10


@require_safe
@staff_only
def detail(request: UserRequest, device_id: int) -> HttpResponse:
    """Show a device with the history of its drive's states, newest first, wherever the drive was then."""
    device = _find(device_id)
    dispatches = with_readings(Dispatch.objects.filter(device=device).order_by("-ordered_at", "-pk"))
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
    return render(request, "lab/devices/device.html", context | asked_of(device))


@require_POST
@staff_only
def look(request: UserRequest, device_id: int) -> HttpResponse:
    """Ask the host what the drive is and holds now."""
    device = _find(device_id)
    if retired := out_of_service(device):
        messages.error(request, retired)
        return redirect("lab-device", device_id)
    try:
        refresh_identity(device, connect(device.host), request.user)
        messages.success(request, f"{device} was looked at again, at {device.path}.")
    except (RefreshRefusedError, HostError) as error:
        messages.error(request, f"Not looked at again: {error}")
    return redirect("lab-device", device_id)


@require_POST
@staff_only
def rename(request: UserRequest, device_id: int) -> HttpResponse:
    """Give a device another label; the history keeps both."""
    device, form = get_object_or_404(Device, pk=device_id), LabelForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Nothing was changed: expected a label of 1 to 100 characters.")
        return redirect("lab-device", device_id)
    before, label = device.label, form.cleaned_data["label"]
    try:
        refuse_taken(device.host, label, device)
    except LabelTakenError as error:
        messages.error(request, f"Nothing was changed: {error}")
        return redirect("lab-device", device_id)
    if before != label:
        _keep(request, device, label)
        messages.success(request, f"{before} is called {label} now.")
    return redirect("lab-device", device_id)


def _keep(request: UserRequest, device: Device, label: str) -> None:
    details = {"label": label, "before": device.label}
    with transaction.atomic():
        Device.objects.filter(pk=device.pk).update(label=label)
        subject = {"subject_type": "device", "subject_id": str(device.pk)}
        Event.objects.create(actor=request.user, kind="device-renamed", details=details, **subject)


@require_POST
@staff_only
def retire_device(request: UserRequest, device_id: int) -> HttpResponse:
    """Take a device out of service, with why."""
    device = _find(device_id)
    try:
        retirement.retire_device(device, request.user, request.POST.get("reason", ""))
        messages.success(request, f"{device} is retired: it takes no order.")
    except retirement.RetireError as error:
        messages.error(request, str(error))
    return redirect("lab-device", device_id)


@require_POST
@staff_only
def take_device_back(request: UserRequest, device_id: int) -> HttpResponse:
    """Take a device back into service."""
    device = _find(device_id)
    if retirement.return_device(device, request.user):
        messages.success(request, f"{device} is in service again.")
    else:
        messages.error(request, f"{device} is in service; nothing was changed.")
    return redirect("lab-device", device_id)


def _find(device_id: int) -> Device:
    return get_object_or_404(Device.objects.select_related("host"), pk=device_id)
