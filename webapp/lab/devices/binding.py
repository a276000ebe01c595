"""Views that add a device: the host identifies it, the operator confirms it, and it is bound by its drive key."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.html import format_html

from runners.errors import HostError
from runners.hosts import connect
from runners.hosts.drive_keys import keys_of
from runners.hosts.protocol import Identity
from runners.inventory.devices import DeviceInUseError, bind, objection_to_path_change
from runners.inventory.safety import MIB_BYTES, SIGNATURE, is_signature_reported, objections_to_binding
from runners.inventory.service_state import OutOfServiceError, retired_message
from runners.models import Device, Host
from webapp.accounts.requests import UserRequest
from webapp.lab.devices.forms import BindForm, DeviceForm, LabelTakenError, default_label, require_free_label
from webapp.lab.hosts.page import drives_of
from webapp.lab.hosts.views import RETURN_TO_DEVICES
from webapp.lab.shared.drive_status import binding_warnings
from webapp.lab.shared.views import staff_action, staff_form


@staff_form
def find_device(request: UserRequest, name: str) -> HttpResponse:
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
    context = {"host": host, "form": form, "is_ssh": host.kind == Host.Kind.SSH, "section": "lab"}
    context |= {"host_drives": drives_of(host), "after_check": RETURN_TO_DEVICES}
    return render(request, "lab/devices/find.html", context)


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
        "section": "lab",
    }
    return render(request, "lab/devices/confirm.html", context)


def bound_device(host: Host, identity: Identity) -> Device | None:
    """Return the device of this host that has this drive; None if there is none."""
    return host.devices.filter(drive_key__in=keys_of(identity.drive_key)).order_by("pk").first()


class BindRefusedError(ValueError):
    """The device that was shown must not be bound. The text gives the reason."""


@staff_action
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
    except (HostError, LabelTakenError, OutOfServiceError, DeviceInUseError, BindRefusedError) as error:
        messages.error(request, format_html("No device was added: {}", error.args[0]))
    return redirect("lab")


def _bind_confirmed(request: UserRequest, host: Host, shown: dict[str, str]) -> Device:
    """Bind the device that was shown. Raises an error with the reason if it must not be bound."""
    lab_host = connect(host)
    identity = lab_host.identify(shown["path"])
    if identity.drive_key != shown["drive_key"]:
        raise BindRefusedError(
            f"{identity.path} was drive {shown['drive_key']} on the page and is now drive {identity.drive_key}. "
            "Identify the path again."
        )
    if objections := objections_to_binding(host, lab_host, identity):
        raise BindRefusedError("; ".join(objections))
    known = bound_device(host, identity)
    if known is not None and known.label != shown["label"]:
        link = format_html('<a href="{}">{}</a>', reverse("lab-device", args=[known.pk]), known.label)
        raise BindRefusedError(format_html("this drive is already the device {}. Rename it on its page.", link))
    require_free_label(host, shown["label"], known)
    return bind(host, identity, shown["label"], request.user)
