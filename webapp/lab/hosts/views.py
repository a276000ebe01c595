"""Views of the lab and its hosts: the overview; add, show, check and retire a host, and return it to service."""

from collections import defaultdict
from typing import Any
from urllib.parse import urlparse

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone

from runners.campaigns.outcomes import with_readings
from runners.errors import RequestRefusedError
from runners.hosts.ssh_connection import fingerprint
from runners.inventory import agents, health
from runners.inventory import maintenance_windows as windows
from runners.inventory.devices import add_local_host
from runners.inventory.enrolment import enrol, own_program_sha256, set_location, setup_steps, teardown_steps
from runners.inventory.service_state import OutOfServiceError, retirement_of
from runners.models import Device, Dispatch, Host, MaintenanceWindow
from runners.models.campaign import Campaign
from runners.retention import retirement
from runners.retention.leftover_archive import unarchived_on
from webapp.accounts.requests import UserRequest
from webapp.lab.hosts import commands
from webapp.lab.hosts.forms import AgentHostForm, HostForm, MaintenanceForm, PlaceForm
from webapp.lab.hosts.page import agent_of, drives_of, outages_by_host, own_machine
from webapp.lab.shared.drive_status import with_warning_codes
from webapp.lab.shared.run_results import with_results
from webapp.lab.shared.views import (
    PAGE_ROWS,
    operator_action,
    operator_command,
    operator_form,
    operator_page,
    render_page,
)

RETURN_TO_DEVICES = "devices"
DISCARD_FIELD = "gives_up_what_is_there"
HOSTS_SHOWN = 25  # of the overview, each with a table of its devices


@operator_page
def overview(request: UserRequest) -> HttpResponse:
    """Show some hosts in service with their devices, by name from the one after `after`, and the newest dispatches."""
    outages, devices = outages_by_host(), defaultdict(list)
    after = request.GET.get("after", "").replace("\0", "")  # no name has this character
    following = Host.objects.filter(retired_at=None, name__gt=after).order_by("name")
    rows = list(following[: HOSTS_SHOWN + 1])
    last_host = rows[HOSTS_SHOWN - 1].name if len(rows) > HOSTS_SHOWN else ""
    rows = rows[:HOSTS_SHOWN]
    for device, codes in with_warning_codes(Device.objects.filter(retired_at=None, host__in=rows).order_by("pk")):
        devices[device.host_id].append((device, codes))
    hosts = [(host, health.no_work_reasons(host), outages.get(host.pk, {}), devices[host.pk]) for host in rows]
    dispatches = with_readings(Dispatch.objects.order_by("-ordered_at", "-pk"))
    page = Paginator(dispatches, PAGE_ROWS).get_page(request.GET.get("page"))
    context = {"hosts": hosts, "has_local": Host.objects.filter(kind=Host.Kind.LOCAL).exists(), "page": page}
    context |= {"last_host": last_host, "is_first": "after" not in request.GET}
    context["retired_hosts"] = Host.objects.filter(retired_at__isnull=False).order_by("name")
    context["dispatches"] = with_results(page.object_list)
    context["pause"] = windows.current_pause()
    context["open_campaigns"] = Campaign.objects.filter(state__in=Campaign.OPEN_STATES)
    return render_page(request, "lab/overview.html", context)


@operator_command("lab")
def add_this_machine(request: UserRequest) -> str:
    """Add the register's own machine as a host."""
    return f"This machine was added as host {add_local_host(request.user)}. Now add a device to it."


@operator_form
def add(request: UserRequest) -> HttpResponse:
    """Show the forms that add a host, by its agent or over SSH, and enrol the host.

    The page of a host with an agent has the join code in the response to this request, and nowhere else.
    """
    is_agent = request.POST.get("by") == Host.Kind.AGENT
    agent_form = AgentHostForm(request.POST if is_agent else None, auto_id="id_agent_%s")
    form = HostForm(None if is_agent else request.POST or None, initial={"program_sha256": own_program_sha256()})
    if is_agent and agent_form.is_valid():
        try:
            host, code = agents.enrol_agent_host(agent_form.cleaned_data["name"], request.user)
        except RequestRefusedError as error:  # another operator has added a host with this name meanwhile
            agent_form.add_error("name", str(error))
        else:
            return _render_host(request, host, PlaceForm(), code)
    if request.method == "POST" and not is_agent and form.is_valid():
        host = enrol(form.cleaned_data["name"], form.pins(), request.user)
        messages.success(request, f"Host {host} was added. Carry out the set-up below, then check the host.")
        return redirect("lab-host", host.name)
    return render_page(request, "lab/hosts/add.html", {"form": form, "agent_form": agent_form} | _address())


@operator_page
def detail(request: UserRequest, name: str) -> HttpResponse:
    """Show a host: its health, why it gets no work, its drives and its set-up."""
    host = get_object_or_404(Host, name=name)
    return _render_host(request, host, PlaceForm(initial={"region": host.region, "zone": host.zone}))


@operator_action
def place(request: UserRequest, name: str) -> HttpResponse:
    """Save the region and zone of a host."""
    host = get_object_or_404(Host, name=name)
    form = PlaceForm(request.POST)
    if not form.is_valid():
        return _render_host(request, host, form)
    if set_location(host, form.cleaned_data["region"], form.cleaned_data["zone"], request.user):
        messages.success(request, f"Saved. New runs of {host} show this location.")
    return redirect("lab-host", host.name)


def _render_host(request: UserRequest, host: Host, place_form: PlaceForm, code: str = "") -> HttpResponse:
    """Render the page of a host; with a new join code, also the command that contains it."""
    last_retirement, leftovers = retirement_of(host), list(unarchived_on(host))
    discarded_ids = last_retirement.details.get("given_up", []) if last_retirement else []
    context: dict[str, Any] = {
        "host": host,
        "is_ssh": host.kind == Host.Kind.SSH,
        "is_remote": host.is_remote,
        "no_work": health.no_work_reasons(host),
        "outages": outages_by_host().get(host.pk, {}),
        "reported_at": health.reported_at(host.health),
        "devices": with_warning_codes(host.devices.filter(retired_at=None).order_by("pk")),
        "retired_devices": host.devices.filter(retired_at__isnull=False).order_by("pk"),
        "retirement": last_retirement,
        "leftovers": leftovers,
        # The register may archive discarded files after all if it still reaches the host, for example its own machine.
        "discarded": [dispatch.public_id for dispatch in leftovers if dispatch.public_id in discarded_ids],
        "host_drives": drives_of(host),
        "place_form": place_form,
        "windows": windows.current_and_planned(host),
        "maintenance_form": MaintenanceForm(auto_id="id_maintenance_%s"),
    }
    if host.is_remote:
        context |= {"set_up_steps": setup_steps(host, code), "teardown_steps": teardown_steps(host)}
    else:
        context["own"] = own_machine(host)
    if context["is_ssh"]:
        context["fingerprint"] = fingerprint(host.host_key)
    else:
        context |= {"joining": agent_of(host), "has_new_code": bool(code)} | _address()
    return render_page(request, "lab/hosts/host.html", context)


def _address() -> dict[str, Any]:
    """Return the address of the register as hosts reach it, and whether agents refuse it."""
    return {"public_url": settings.PUBLIC_URL, "is_without_tls": urlparse(settings.PUBLIC_URL).scheme != "https"}


@operator_action
def check(request: UserRequest, name: str) -> HttpResponse:
    """Check a host now, then show its page or the page that adds a device."""
    host = get_object_or_404(Host.objects.filter(kind__in=Host.REMOTE_KINDS), name=name)
    try:
        objections = commands.check_host(host)
    except OutOfServiceError as error:
        messages.error(request, str(error))
    else:
        if objections:
            messages.error(request, f"Host {host} gets no work: {'; '.join(objections)}")
        else:
            messages.success(request, f"Host {host} was checked. It is ready for work.")
    return redirect("lab-device-find" if request.POST.get("then") == RETURN_TO_DEVICES else "lab-host", host.name)


@operator_action
def print_join_command(request: UserRequest, name: str) -> HttpResponse:
    """Show the page of a host with a new command for its agent, in the response to this request and nowhere else."""
    host = get_object_or_404(Host, name=name, kind=Host.Kind.AGENT)
    try:
        code = commands.new_join_code(host, request.user)
    except RequestRefusedError as error:
        messages.error(request, f"No command was printed: {error}.")
        return redirect("lab-host", host.name)
    return _render_host(request, host, PlaceForm(initial={"region": host.region, "zone": host.zone}), code)


@operator_command("lab-host", "Nothing was pinned:")
def pin_own_program(request: UserRequest, name: str) -> str:
    """Pin the register's own drivetest on a host whose agent can fetch it from the register."""
    host = get_object_or_404(Host, name=name, kind=Host.Kind.AGENT)
    own = commands.pin_own_program(host, request.user)
    return f"The drivetest with SHA-256 {own} is pinned. Host {host} gets work when it has this program."


@operator_command("lab-host")
def revoke_agent(request: UserRequest, name: str) -> str:
    """End the secret of a host's agent at once, and a join code that was not used."""
    host = get_object_or_404(Host, name=name, kind=Host.Kind.AGENT)
    commands.revoke_agent(host, request.user)
    return f"The agent of host {host} is revoked: it gets no more requests. Runs that it has started continue."


@operator_command("lab-host")
def retire_host(request: UserRequest, name: str) -> str:
    """Retire a host for a stated reason."""
    host, discards = get_object_or_404(Host, name=name), bool(request.POST.get(DISCARD_FIELD))
    retirement.retire_host(host, request.user, request.POST.get("reason", ""), abandons_leftovers=discards)
    return f"Host {host} is retired. The register no longer checks this host and gives it no work."


@operator_command("lab-host")
def restore_host(request: UserRequest, name: str) -> str:
    """Return a host to service."""
    host = get_object_or_404(Host, name=name)
    commands.restore_host(host, request.user)
    next_step = "Check the host now: it gets work after the check." if host.is_remote else "The host is ready for work."
    return f"Host {host} is in service again. {next_step}"


@operator_command("lab-host", "No maintenance was planned.")
def plan_maintenance(request: UserRequest, name: str) -> str:
    """Plan a maintenance window of a host."""
    host, form = get_object_or_404(Host, name=name), MaintenanceForm(request.POST)
    if not form.is_valid():
        found = "; ".join(f"{form[field].label}: {errors[0]}" for field, errors in form.errors.items())
        raise RequestRefusedError(found, "fields-invalid")
    stated = form.cleaned_data
    starts_at = stated["starts_at"] or timezone.now()
    windows.plan_window(host, starts_at, stated["ends_at"], stated["reason"], request.user)
    return f"Maintenance of host {host} is planned. Runs that have started continue to their end."


@operator_command("lab", "The lab was not paused.")
def pause_lab(request: UserRequest) -> str:
    """Let no run start on any host until the lab is resumed."""
    if windows.current_pause():
        raise RequestRefusedError("It is paused already.", "paused-already")
    windows.plan_window(None, timezone.now(), None, request.POST.get("reason", ""), request.user)
    return "The lab is paused. Runs that have started continue to their end; no other run starts."


@operator_action
def end_maintenance(request: UserRequest, window_id: int) -> HttpResponse:
    """End a maintenance window, or resume the lab; then show the host, or the overview."""
    window = get_object_or_404(MaintenanceWindow.objects.select_related("host"), pk=window_id)
    if windows.end_window(window, request.user):
        ended = f"The maintenance of {window.host or 'all hosts'} has ended."
        messages.success(request, f"{ended} Runs that waited only for its end start now.")
    else:
        messages.error(request, f"The maintenance of {window.host or 'all hosts'} had ended already.")
    return redirect("lab") if window.host is None else redirect("lab-host", window.host.name)
