"""What the lab calls a device: changed by a form of its own, never by adding the drive again."""

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from results.models import Event
from runners.models import Device
from webapp.accounts.requests import UserRequest, staff_only
from webapp.lab.forms import LabelForm


@require_POST
@staff_only
def rename(request: UserRequest, device_id: int) -> HttpResponse:
    """Give a device another label; the history keeps both."""
    device, form = get_object_or_404(Device, pk=device_id), LabelForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Nothing was changed: expected a label of 1 to 100 characters.")
        return redirect("lab-device", device_id)
    before, label = device.label, form.cleaned_data["label"]
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
