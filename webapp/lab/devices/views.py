"""Views of devices: add, show, refresh, rename and retire a device, and return it to service."""

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.html import format_html

from results.history import record_event
from results.models import Preparation
from runners.campaigns.outcomes import with_readings
from runners.errors import HostError, RequestRefusedError
from runners.hosts import connect
from runners.hosts.drive_keys import keys_of
from runners.hosts.protocol import Identity
from runners.inventory.devices import RefreshRefusedError, bind, objection_to_path_change, refresh_identity
from runners.inventory.safety import MIB_BYTES, SIGNATURE, is_signature_reported, objections_to_binding
from runners.inventory.service_state import out_of_service, retired_message, retirement_of
from runners.models import Device, Dispatch, DriveState, Host
from runners.models.campaign import Campaign
from runners.retention import retirement
from webapp.accounts.requests import UserRequest
from webapp.lab.devices.forms import BindForm, DeviceForm, LabelForm, LabelTakenError, default_label, require_free_label
from webapp.lab.hosts.page import drives_of
from webapp.lab.hosts.views import RETURN_TO_DEVICES
from webapp.lab.shared.drive_status import availability_of, binding_warnings, consent_context
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
    states = DriveState.objects.filter(drive_key=device.drive_key).select_related("dispatch")
    context = {
        "states": states.order_by("-at", "-id")[:STATES_SHOWN],
        "preparations": Preparation.objects.filter(drive_key=device.drive_key).order_by("-finished_at"),
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
    if retired := out_of_service(device):
        raise RefreshRefusedError(retired)
    refresh_identity(device, connect(device.host), request.user)
    return f"Device {device} was refreshed. Its path is {device.path}."


@operator_command("lab-device", "The label was not changed.")
def rename(request: UserRequest, device_id: int) -> str:
    """Rename a device; the history records both labels."""
    device, form = find_device(device_id), LabelForm(request.POST)
    if not form.is_valid():
        raise RequestRefusedError("Enter 1 to 100 characters.")
    before, label = device.label, form.cleaned_data["label"]
    require_free_label(device.host, label, device)
    if before == label:
        return ""
    with transaction.atomic():
        Device.objects.filter(pk=device.pk).update(label=label)
        details = {"label": label, "before": before}
        record_event(request.user, "device-renamed", ("device", str(device.pk)), details=details)
    return f"Device {before} was renamed to {label}."


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
    if not retirement.return_to_service(device, request.user):
        raise RequestRefusedError(f"Device {device} is already in service.")
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
        try:
            return _render_confirmation(request, host, form, _identify(host, form))
        except HostError as error:
            form.add_error("path", str(error))
        except LabelTakenError as error:
            form.add_error("label", str(error))
    context = {"host": host, "form": form, "is_remote": host.is_remote}
    context |= {"host_drives": drives_of(host), "after_check": RETURN_TO_DEVICES}
    return render_page(request, "lab/devices/find.html", context)


def _identify(host: Host, form: DeviceForm) -> Identity:
    path, create_mib = form.cleaned_data["path"], form.cleaned_data.get("create_mib")
    lab_host = connect(host)
    if create_mib:
        require_free_label(host, form.cleaned_data["label"])
        lab_host.create_file(path, create_mib * MIB_BYTES)
    return lab_host.identify(path)


def _render_confirmation(request: UserRequest, host: Host, form: DeviceForm, identity: Identity) -> HttpResponse:
    known = bound_device(host, identity)
    label = form.cleaned_data["label"] or (known.label if known else default_label(host, identity))
    require_free_label(host, label, known)
    is_in_use = SIGNATURE in identity.document and not is_signature_reported(identity.document)
    initial = {"path": identity.path, "drive_key": identity.drive_key, "label": label}
    context = {
        "host": host,
        "identity": identity,
        "is_virtual": identity.kind == Device.IdentityKind.VIRTUAL,
        "objections": objections_to_binding(host, connect(host), identity),
        "warnings": binding_warnings(host, identity.path, identity.drive_key, identity.document, is_in_use=is_in_use),
        "known": known,
        "moving_objection": objection_to_path_change(known, identity) if known else "",
        "is_renaming": known is not None and known.label != label,
        "form": BindForm(initial=initial),
    }
    return render_page(request, "lab/devices/confirm.html", context)


def bound_device(host: Host, identity: Identity) -> Device | None:
    """Return the device of this host that has this drive; None if there is none."""
    return host.devices.filter(drive_key__in=keys_of(identity.drive_key)).order_by("pk").first()


@operator_action
def bind_device(request: UserRequest, name: str) -> HttpResponse:
    """Bind the device that was shown, after the host has identified it again: the path may have changed."""
    host = get_object_or_404(Host, name=name)
    form = BindForm(request.POST)
    if not form.is_valid():
        messages.error(request, "No device was added: the form is incomplete. Enter the path again.")
        return redirect("lab-device-find", name)
    try:
        device = _bind_confirmed(request, host, form.cleaned_data)
        messages.success(request, f"Device {device} was added.")
    except (HostError, RequestRefusedError) as error:
        messages.error(request, format_html("No device was added: {}", error.args[0]))
    return redirect("lab")


def _bind_confirmed(request: UserRequest, host: Host, shown: dict[str, str]) -> Device:
    """Bind the device that was shown. Raises RequestRefusedError or HostError if it must not be bound."""
    lab_host = connect(host)
    identity = lab_host.identify(shown["path"])
    if identity.drive_key != shown["drive_key"]:
        raise RequestRefusedError(
            f"{identity.path} was drive {shown['drive_key']} on the page and is now drive {identity.drive_key}. "
            "Identify the path again."
        )
    if objections := objections_to_binding(host, lab_host, identity):
        raise RequestRefusedError("; ".join(objections))
    known = bound_device(host, identity)
    if known is not None and known.label != shown["label"]:
        link = format_html('<a href="{}">{}</a>', reverse("lab-device", args=[known.pk]), known.label)
        raise RequestRefusedError(format_html("this drive is already the device {}. Rename it on its page.", link))
    require_free_label(host, shown["label"], known)
    return bind(host, identity, shown["label"], request.user)
