"""The lab overview: hosts, their devices and the dispatches."""

from collections import defaultdict

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render

from runners.campaigns.ladder import with_readings
from runners.errors import MachineUnknownError
from runners.inventory.devices import add_local_host
from runners.inventory.health import no_work_reasons
from runners.models import Device, Dispatch, Host
from runners.models.campaign import Campaign
from webapp.accounts.requests import UserRequest
from webapp.lab.hosts.page import outages_by_host
from webapp.lab.shared.drive_status import with_warning_labels
from webapp.lab.shared.run_results import with_results
from webapp.lab.shared.views import staff_action, staff_page

PAGE_ROWS = 50


@staff_page
def lab(request: UserRequest) -> HttpResponse:
    """Show the hosts in service with their devices, and all dispatches, newest first."""
    outages, devices = outages_by_host(), defaultdict(list)
    for device, labels in with_warning_labels(Device.objects.filter(retired_at=None).order_by("pk")):
        devices[device.host_id].append((device, labels))
    rows = Host.objects.filter(retired_at=None).order_by("name")
    hosts = [(host, no_work_reasons(host), outages.get(host.pk, {}), devices[host.pk]) for host in rows]
    dispatches = with_readings(Dispatch.objects.order_by("-ordered_at", "-pk"))
    page = Paginator(dispatches, PAGE_ROWS).get_page(request.GET.get("page"))
    context = {"hosts": hosts, "has_local": Host.objects.filter(kind=Host.Kind.LOCAL).exists(), "page": page}
    context["retired_hosts"] = Host.objects.filter(retired_at__isnull=False).order_by("name")
    context["dispatches"] = with_results(page.object_list)
    context["open_campaigns"] = Campaign.objects.filter(state__in=Campaign.OPEN_STATES)
    return render(request, "lab/overview.html", context | {"section": "lab"})


@staff_action
def add_this_machine(request: UserRequest) -> HttpResponse:
    """Add the register's own machine as a host."""
    try:
        host = add_local_host(request.user)
    except MachineUnknownError as error:
        messages.error(request, str(error))
        return redirect("lab")
    messages.success(request, f"This machine was added as host {host}. Now add a device to it.")
    return redirect("lab")
