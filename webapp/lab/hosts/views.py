"""Views of lab hosts: add a host, show and check it, state its place, retire it and return it to service."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from runners.hosts.keys import fingerprint
from runners.inventory import health
from runners.inventory.enrolment import enrol, own_program_sha256, set_location, setup_steps, teardown_steps
from runners.inventory.service_state import retired_message, retirement_of
from runners.models import Host
from runners.retention import retirement
from runners.retention.leftover_archive import unarchived_on
from webapp.accounts.requests import UserRequest, staff_only
from webapp.lab.hosts.forms import HostForm, PlaceForm
from webapp.lab.hosts.page import drives_of, own_machine, silences_by_host
from webapp.lab.shared.drive_status import with_marks

THEN_DEVICES = "devices"

GIVE_UP_FIELD = "gives_up_what_is_there"


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def add(request: UserRequest) -> HttpResponse:
    """Ask for what is pinned about a host, and enrol it."""
    form = HostForm(request.POST or None, initial={"program_sha256": own_program_sha256()})
    if request.method == "POST" and form.is_valid():
        host = enrol(form.cleaned_data["name"], form.pins(), request.user)
        messages.success(request, f"{host} is enrolled. Carry out its set-up below, then check it.")
        return redirect("lab-host", host.name)
    return render(request, "lab/hosts/add.html", {"form": form, "section": "lab"})


@require_safe
@staff_only
def detail(request: UserRequest, name: str) -> HttpResponse:
    """Show how a host is, why it gets no work where that is so, and what its operator does on it."""
    host = get_object_or_404(Host, name=name)
    return _page(request, host, PlaceForm(initial={"region": host.region, "zone": host.zone}))


@require_POST
@staff_only
def place(request: UserRequest, name: str) -> HttpResponse:
    """Keep what is stated of where a host is."""
    host = get_object_or_404(Host, name=name)
    form = PlaceForm(request.POST)
    if not form.is_valid():
        return _page(request, host, form)
    if set_location(host, form.cleaned_data["region"], form.cleaned_data["zone"], request.user):
        messages.success(request, f"Runs that {host} hands in from now on say where it is.")
    return redirect("lab-host", host.name)


def _page(request: UserRequest, host: Host, place_form: PlaceForm) -> HttpResponse:
    retirement, left = retirement_of(host), list(unarchived_on(host))
    named = retirement.details.get("given_up", []) if retirement else []
    context: dict[str, Any] = {
        "host": host,
        "is_ssh": host.kind == Host.Kind.SSH,
        "no_work": health.no_work_reasons(host),
        "silences": silences_by_host().get(host.pk, []),
        "told_at": health.reported_at(host.health),
        "devices": with_marks(host.devices.filter(retired_at=None).order_by("pk")),
        "retired_devices": host.devices.filter(retired_at__isnull=False).order_by("pk"),
        "retirement": retirement,
        "unkept": left,
        # Of a host that the register still reaches, its own machine say, what was given up is kept all the same.
        "given_up": [dispatch.public_id for dispatch in left if dispatch.public_id in named],
        "host_drives": drives_of(host),
        "place_form": place_form,
        "section": "lab",
    }
    if host.kind == Host.Kind.LOCAL:
        context["own"] = own_machine(host)
    if context["is_ssh"]:
        context |= {
            "fingerprint": fingerprint(host.host_key),
            "set_up": setup_steps(host),
            "undo": teardown_steps(host),
        }
    return render(request, "lab/hosts/host.html", context)


@require_POST
@staff_only
def check(request: UserRequest, name: str) -> HttpResponse:
    """Check a host now; the answer stands on its page, and its drives on the page that adds one."""
    host = get_object_or_404(Host, name=name, kind=Host.Kind.SSH)
    if retired := retired_message(host):
        messages.error(request, f"{host} is {retired}; it is not checked.")
    elif objections := health.check(host):
        messages.error(request, f"{host} gets no work: {'; '.join(objections)}")
    else:
        messages.success(request, f"{host} was checked and takes work.")
    return redirect("lab-device-find" if request.POST.get("then") == THEN_DEVICES else "lab-host", host.name)


@require_POST
@staff_only
def retire_host(request: UserRequest, name: str) -> HttpResponse:
    """Take a host out of service, with why."""
    host, gives_up = get_object_or_404(Host, name=name), bool(request.POST.get(GIVE_UP_FIELD))
    try:
        retirement.retire_host(host, request.user, request.POST.get("reason", ""), abandons_leftovers=gives_up)
        messages.success(request, f"{host} is retired: it is not checked and gets no work.")
    except retirement.RetireError as error:
        messages.error(request, str(error))
    return redirect("lab-host", name)


@require_POST
@staff_only
def take_host_back(request: UserRequest, name: str) -> HttpResponse:
    """Take a host back into service."""
    host = get_object_or_404(Host, name=name)
    if retirement.return_host(host, request.user):
        again = "check it now: it gets work after that" if host.kind == Host.Kind.SSH else "it takes work"
        messages.success(request, f"{host} is in service again; {again}.")
    else:
        messages.error(request, f"{host} is in service; nothing was changed.")
    return redirect("lab-host", name)
