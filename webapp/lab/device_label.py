"""What the lab calls a device: changed by a form of its own, never by adding the drive again.

It is typed to consent to a drive being written over, so no two drives of a host have the same.
"""

from itertools import chain, count

from django.contrib import messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from results.models import Event
from runners.hosts.protocol import Identity
from runners.models import Device, Host
from webapp.accounts.requests import UserRequest, staff_only
from webapp.lab.forms import LabelForm


class LabelTakenError(Exception):
    """Another drive of the host has the label; the text says which."""


def refuse_taken(host: Host, label: str, device: Device | None = None) -> None:
    """Raise LabelTakenError where a drive of the host other than `device` has a label, in whatever case."""
    if (other := _named(host, label).exclude(pk=device.pk if device else 0).first()) is not None:
        raise LabelTakenError(
            f"{host} has another drive called {other.label}, {other.path} ({other.drive_key}). The label is what is "
            "typed before a drive is written over: expected one that no other drive of the host has."
        )


def first_free_label(host: Host, identity: Identity) -> str:
    """Return what a drive is called where nobody says: its model or file name, with its serial or a number if taken."""
    name = str(identity.document.get("model") or identity.path.rsplit("/", 1)[-1]).strip()
    serial = identity.document.get("serial")
    wanted = chain([name], [f"{name} {serial}"] if serial else [], (f"{name} {number}" for number in count(2)))
    return next(label for label in wanted if not _named(host, label).exists())


def _named(host: Host, label: str) -> QuerySet[Device]:
    return host.devices.filter(label__iexact=label.strip())


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
