"""Views of devices: add, show, refresh, rename and retire a device, and return it to service."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.html import format_html

from runners.campaigns.outcomes import with_readings
from runners.errors import HostError, RequestRefusedError
from runners.inventory.service_state import out_of_service, retired_message, retirement_of
from runners.models import Device, Dispatch, Host
from runners.models.campaign import Campaign
from runners.retention import retirement
from webapp.accounts.requests import UserRequest
from webapp.lab.devices import commands
from webapp.lab.devices.commands import BoundAlreadyError, FoundDevice
from webapp.lab.devices.forms import BindForm, DeviceForm, LabelForm, LabelTakenError
from webapp.lab.hosts.page import drives_of
from webapp.lab.hosts.views import RETURN_TO_DEVICES
from webapp.lab.shared.drive_status import availability_of, consent_context, drive_states, preparations
from webapp.lab.shared.run_results import with_results
from webapp.lab.shared.views import (
    find_device,
    operator_action,
    operator_command,
    operator_form,
    operator_page,
    render_page,
)

STATES_SHOWN = 100
LATEST_COUNT = 10


@operator_page
def detail(request: UserRequest, device_id: int) -> HttpResponse:
    """Show a device with the states of its drive on all hosts, newest first."""
    device = find_device(device_id)
    dispatches = with_readings(Dispatch.objects.filter(device=device).order_by("-ordered_at", "-pk"))
    context = {
        "states": drive_states(device)[:STATES_SHOWN],
        "preparations": preparations(device),
        "dispatches": with_results(dispatches[:LATEST_COUNT]),
        "campaigns": Campaign.objects.filter(device=device).order_by("-ordered_at", "-pk")[:LATEST_COUNT],
        "availability": availability_of(device),
        "retirement": retirement_of(device),
        "out_of_service": out_of_service(device),
    }
    return render_page(request, "lab/devices/device.html", context | consent_context(device))


@operator_command("lab-device", "The device was not refreshed:")
def refresh(request: UserRequest, device_id: int) -> str:
    """Update the identity and the recognised data of a device from its host."""
    device = find_device(device_id)
    commands.refresh(device, request.user)
    return f"Device {device} was refreshed. Its path is {device.path}."


@operator_command("lab-device", "The label was not changed.")
def rename(request: UserRequest, device_id: int) -> str:
    """Rename a device; the history records both labels."""
    device, form = find_device(device_id), LabelForm(request.POST)
    if not form.is_valid():
        raise RequestRefusedError("Enter 1 to 100 characters.")
    before, label = device.label, form.cleaned_data["label"]
    return f"Device {before} was renamed to {label}." if commands.rename(device, label, request.user) else ""


@operator_command("lab-device")
def retire_device(request: UserRequest, device_id: int) -> str:
    """Retire a device for a stated reason."""
    device = find_device(device_id)
    retirement.retire_device(device, request.user, request.POST.get("reason", ""))
    return f"Device {device} is retired. It accepts no more orders."


@operator_command("lab-device")
def restore_device(request: UserRequest, device_id: int) -> str:
    """Return a device to service."""
    device = find_device(device_id)
    commands.restore_device(device, request.user)
    return f"Device {device} is in service again."


@operator_form
def identify_device(request: UserRequest, name: str) -> HttpResponse:
    """Show the form for a path, and then the device that the host identified there."""
    host = get_object_or_404(Host, name=name)
    if retired := retired_message(host):
        messages.error(request, f"Host {host} is {retired}. Return it to service before you add a device.")
        return redirect("lab-host", name)
    form = DeviceForm(request.POST or None, host=host)
    if request.method == "POST" and form.is_valid():
        stated = form.cleaned_data
        try:
            found = commands.identify(host, stated["path"], stated["label"], stated.get("create_mib"))
            return _render_confirmation(request, host, found)
        except HostError as error:
            form.add_error("path", str(error))
        except LabelTakenError as error:
            form.add_error("label", str(error))
    context = {"host": host, "form": form, "is_remote": host.is_remote}
    context |= {"host_drives": drives_of(host), "after_check": RETURN_TO_DEVICES}
    return render_page(request, "lab/devices/find.html", context)


def _render_confirmation(request: UserRequest, host: Host, found: FoundDevice) -> HttpResponse:
    identity = found.identity
    initial = {"path": identity.path, "drive_key": identity.drive_key, "label": found.label}
    context = {
        "host": host,
        "identity": identity,
        "is_virtual": identity.kind == Device.IdentityKind.VIRTUAL,
        "objections": found.objections,
        "warnings": found.warnings,
        "known": found.known,
        "moving_objection": found.moving_objection,
        "is_renaming": found.is_renaming,
        "form": BindForm(initial=initial),
    }
    return render_page(request, "lab/devices/confirm.html", context)


@operator_action
def bind_device(request: UserRequest, name: str) -> HttpResponse:
    """Bind the device that was shown, after the host has identified it again: the path may have changed."""
    host = get_object_or_404(Host, name=name)
    form = BindForm(request.POST)
    if not form.is_valid():
        messages.error(request, "No device was added: the form is incomplete. Enter the path again.")
        return redirect("lab-device-find", name)
    try:
        device = commands.bind_confirmed(host, **form.cleaned_data, actor=request.user)
        messages.success(request, f"Device {device} was added.")
    except BoundAlreadyError as error:
        link = format_html('<a href="{}">{}</a>', reverse("lab-device", args=[error.device.pk]), error.device.label)
        sentence = "No device was added: this drive is already the device {}. Rename it on its page."
        messages.error(request, format_html(sentence, link))
    except (HostError, RequestRefusedError) as error:
        messages.error(request, f"No device was added: {error}")
    return redirect("lab")
