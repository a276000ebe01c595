"""Preflight of an order: refusals that the hosts' last reports predict, shown before anything is queued."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db.models import CharField, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Cast, Coalesce

from results.models import Event
from runners.dispatch.orders import Order
from runners.hosts.drive_keys import is_among
from runners.inventory.devices import BOUND, IDENTITY_REFRESHED
from runners.inventory.health import reported_at
from runners.inventory.safety import may_consent_on_page, signature_of
from runners.inventory.service_state import returns_of
from runners.inventory.ycsb_requirements import objection_to_programs
from runners.models import Device, Dispatch, DriveState, Host
from runners.models.dispatch import CONSENT_OPTION
from runners.recipes import ycsb
from runners.recipes.base import YCSB, Role


def expected_refusal(device: Device, requested: Order) -> str:
    """Return why an order would be refused, with the remedy; empty if no report predicts a refusal.

    Raise SetupError for a YCSB sweep that cannot run as ordered.
    """
    refusals = [*_refusal_by_last_check(device), *_refusal_for_data(device, requested)]
    return " ".join([*refusals, *_refusal_for_programs(device, requested)])


def last_identified(device: Device) -> tuple[dict[str, Any], datetime]:
    """Return the latest identity of a drive and its time: from its binding, a refresh, or a run."""
    return all_last_identified(Device.objects.filter(pk=device.pk))[device.pk]


def all_last_identified(devices: QuerySet[Device]) -> dict[int, tuple[dict[str, Any], datetime]]:
    """Return the same for many devices by their keys, in one query."""
    about = Event.objects.filter(subject_type="device", subject_id=Cast(OuterRef("pk"), CharField()))
    requests = about.filter(kind__in=[BOUND, IDENTITY_REFRESHED]).order_by("-at")
    of_drive = DriveState.objects.filter(drive_key=OuterRef("drive_key"), dispatch__device=OuterRef("pk"))
    seen = of_drive.filter(at__gt=OuterRef("identified_at")).exclude(document={}).order_by("-at", "-pk")
    found = devices.annotate(identified_at=Coalesce(Subquery(requests.values("at")[:1]), F("added_at")))
    latest = found.annotate(document=Subquery(seen.values("document")[:1]), seen_at=Subquery(seen.values("at")[:1]))
    return {
        each.pk: (each.identity, each.identified_at) if each.document is None else (each.document, each.seen_at)
        for each in latest
    }


def in_service_since(device: Device) -> datetime:
    """Return when a device was last bound or returned to service: others may have used it before."""
    bindings = Q(kind=BOUND, subject_type="device", subject_id=str(device.pk))
    times = Event.objects.filter(bindings | returns_of(device)).order_by("-at").values_list("at", flat=True)
    return times.first() or device.added_at


def is_listed(host: Host, drive_key: str) -> bool | None:
    """Return whether a host's operator lists a drive as loadable; None if not reported, and on hosts without a list."""
    listed = host.health.get("drives")
    if host.kind != Host.Kind.SSH or listed is None:
        return None
    return is_among(drive_key, listed)


def _refusal_by_last_check(device: Device) -> Iterator[str]:
    host = device.host
    if host.kind != Host.Kind.SSH:
        return
    at = reported_at(host.health)
    when = f"as reported on {at:%-d %B %Y, %H:%M} UTC" if at else "as reported at its last check"
    if is_listed(host, device.drive_key) is False:
        yield (
            f"Host {host} would refuse it: its operator has not listed drive {device.drive_key}, {when}. List it "
            "in /etc/drivecert/host.toml there, check the host on its page, and order again."
        )
    elif device.is_missing:
        yield (
            f"Host {host} does not find drive {device.drive_key}, {when}. Attach it, check the host on its page, and "
            "order again."
        )


def _refusal_for_data(device: Device, requested: Order) -> Iterator[str]:
    """Yield a refusal for recognised data. Overwriting needs consent; on SSH hosts only the operator gives it."""
    document, at = last_identified(device)
    signature = signature_of(document)
    if not signature or requested.options.get(CONSENT_OPTION):
        return
    holds = f"{device.path} holds {signature}, as its host reported on {at:%-d %B %Y, %H:%M} UTC"
    if may_consent_on_page(device):
        yield f"{holds}: order on the device's page and type its label to confirm that the data is overwritten."
    else:
        yield (
            f"{holds}, and refuses to overwrite it. Its operator wipes it there with the command on the device's "
            "page. Then refresh the device on its page."
        )


def _refusal_for_programs(device: Device, requested: Order) -> Iterator[str]:
    """Yield a refusal for programs that a sweep needs and a host's operator does not allow by name."""
    if requested.recipe != YCSB:
        return
    sweep = Dispatch(device=device, drive_key=device.drive_key, recipe=YCSB, options=requested.options)
    sweep.load_host = requested.load_host
    for role, host in ((Role.DATABASE, device.host), (Role.LOAD, requested.load_host)):
        if host is not None and (objection := objection_to_programs(host, ycsb.programs(sweep, role))):
            yield f"A sweep would be refused: {objection}."
