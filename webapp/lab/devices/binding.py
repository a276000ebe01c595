"""Adding a device: the host says what it is, a person looks at that, and it is bound by its identity."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods, require_POST

from runners.errors import HostError
from runners.hosts import connect
from runners.hosts.drive_keys import keys_of
from runners.hosts.protocol import Identity
from runners.inventory.devices import DeviceInUseError, bind, objection_to_path_change
from runners.inventory.safety import MIB_BYTES, SIGNATURE, is_signature_reported, objections_to_binding
from runners.inventory.service_state import OutOfServiceError, retired_message
from runners.models import Device, Host
from webapp.accounts.requests import UserRequest, staff_only
from webapp.lab.devices.forms import BindForm, DeviceForm, LabelTakenError, first_free_label, refuse_taken
from webapp.lab.hosts.page import drives_of
from webapp.lab.hosts.views import THEN_DEVICES
from webapp.lab.shared.drive_status import cautions_at_binding


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def find(request: UserRequest, name: str) -> HttpResponse:
    """Ask for a path, and show what the host finds there."""
    host = get_object_or_404(Host, name=name)
    if retired := retired_message(host):
        messages.error(request, f"{host} is {retired}; take it back into service before you add a device.")
        return redirect("lab-host", name)
    form = DeviceForm(request.POST or None, host=host)
    if request.method == "POST" and form.is_valid():
        try:
            return _show(request, host, form, _identify(host, form))
        except HostError as error:
            form.add_error("path", str(error))
        except LabelTakenError as error:
            form.add_error("label", str(error))
    context = {"host": host, "form": form, "is_ssh": host.kind == Host.Kind.SSH, "section": "lab"}
    context |= {"host_drives": drives_of(host), "looks_again_at": THEN_DEVICES}
    return render(request, "lab/devices/find.html", context)


def _identify(host: Host, form: DeviceForm) -> Identity:
    path, create_mib = form.cleaned_data["path"], form.cleaned_data.get("create_mib")
    lab_host = connect(host)
    if create_mib:
        refuse_taken(host, form.cleaned_data["label"])
        lab_host.create_file(path, create_mib * MIB_BYTES)
    return lab_host.identify(path)


def _show(request: UserRequest, host: Host, form: DeviceForm, identity: Identity) -> HttpResponse:
    known = bound_as(host, identity)
    label = form.cleaned_data["label"] or (known.label if known else first_free_label(host, identity))
    refuse_taken(host, label, known)
    is_in_use = SIGNATURE in identity.document and not is_signature_reported(identity.document)
    asked = {"path": identity.path, "drive_key": identity.drive_key, "label": label}
    context = {
        "host": host,
        "identity": identity,
        "is_virtual": identity.kind == Device.IdentityKind.VIRTUAL,
        "objections": objections_to_binding(host, connect(host), identity),
        "cautions": cautions_at_binding(
            host, identity.path, identity.drive_key, identity.document, is_in_use=is_in_use
        ),
        "known": known,
        "stays_where_it_is": objection_to_path_change(known, identity) if known else "",
        "is_renaming": known is not None and known.label != label,
        "form": BindForm(initial=asked),
        "section": "lab",
    }
    return render(request, "lab/devices/confirm.html", context)


def bound_as(host: Host, identity: Identity) -> Device | None:
    """Return the device as which a drive is bound to this host already."""
    return host.devices.filter(drive_key__in=keys_of(identity.drive_key)).order_by("pk").first()


@require_POST
@staff_only
def bind_found(request: UserRequest, name: str) -> HttpResponse:
    """Bind what was shown; the host is asked again, since the path may name another drive by now."""
    host = get_object_or_404(Host, name=name)
    form = BindForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Nothing was added: the form came incomplete. Start again from the path.")
        return redirect("lab-device-find", name)
    try:
        _bind_same(request, host, form)
    except (HostError, OutOfServiceError, DeviceInUseError, LabelTakenError) as error:
        messages.error(request, f"Nothing was added: {error}")
    return redirect("lab")


def _bind_same(request: UserRequest, host: Host, form: BindForm) -> None:
    shown = form.cleaned_data
    lab_host = connect(host)
    identity = lab_host.identify(shown["path"])
    if identity.drive_key != shown["drive_key"]:
        messages.error(
            request,
            f"Nothing was added: {identity.path} was {shown['drive_key']} when it was shown and is "
            f"{identity.drive_key} now. Look again.",
        )
        return
    if objections := objections_to_binding(host, lab_host, identity):
        messages.error(request, f"Nothing was added: {'; '.join(objections)}")
        return
    known = bound_as(host, identity)
    if known is not None and known.label != shown["label"]:
        messages.error(request, _already_bound(known))
        return
    refuse_taken(host, shown["label"], known)
    device = bind(host, identity, shown["label"], request.user)
    messages.success(request, f"{device} is added.")


def _already_bound(known: Device) -> str:
    link = format_html('<a href="{}">{}</a>', reverse("lab-device", args=[known.pk]), known.label)
    return format_html("Nothing was added: the drive is already bound as {}. Its page has a form to rename it.", link)
