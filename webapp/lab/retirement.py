"""Taking hosts and devices out of service, and back, by a form on their pages."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from runners.models import Device, Host
from runners.retention import retirement
from webapp.accounts.requests import UserRequest, staff_only

GIVE_UP_FIELD = "gives_up_what_is_there"


@require_POST
@staff_only
def retire_host(request: UserRequest, name: str) -> HttpResponse:
    """Take a host out of service, with why."""
    host, gives_up = get_object_or_404(Host, name=name), bool(request.POST.get(GIVE_UP_FIELD))
    try:
        retirement.retire_host(host, request.user, request.POST.get("reason", ""), gives_up_what_is_there=gives_up)
        messages.success(request, f"{host} is retired: it is not checked and gets no work.")
    except retirement.RetireError as error:
        messages.error(request, str(error))
    return redirect("lab-host", name)


@require_POST
@staff_only
def retire_device(request: UserRequest, device_id: int) -> HttpResponse:
    """Take a device out of service, with why."""
    device = _device(device_id)
    try:
        retirement.retire_device(device, request.user, request.POST.get("reason", ""))
        messages.success(request, f"{device} is retired: it takes no order.")
    except retirement.RetireError as error:
        messages.error(request, str(error))
    return redirect("lab-device", device_id)


@require_POST
@staff_only
def take_host_back(request: UserRequest, name: str) -> HttpResponse:
    """Take a host back into service."""
    host = get_object_or_404(Host, name=name)
    if retirement.take_host_back(host, request.user):
        again = "check it now: it gets work after that" if host.kind == Host.Kind.SSH else "it takes work"
        messages.success(request, f"{host} is in service again; {again}.")
    else:
        messages.error(request, f"{host} is in service; nothing was changed.")
    return redirect("lab-host", name)


@require_POST
@staff_only
def take_device_back(request: UserRequest, device_id: int) -> HttpResponse:
    """Take a device back into service."""
    device = _device(device_id)
    if retirement.take_device_back(device, request.user):
        messages.success(request, f"{device} is in service again.")
    else:
        messages.error(request, f"{device} is in service; nothing was changed.")
    return redirect("lab-device", device_id)


def _device(device_id: int) -> Device:
    return get_object_or_404(Device.objects.select_related("host"), pk=device_id)
