"""What an order would be refused for by what its hosts have told already: said before anything is queued."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db.models import CharField, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Cast, Coalesce

from results.models import Event
from runners.dispatch.orders import Order
from runners.hosts.drive_keys import is_among
from runners.inventory.devices import BOUND, LOOKED_AGAIN
from runners.inventory.health import told_at
from runners.inventory.safety import may_be_told_to_destroy, signature_of
from runners.inventory.service_state import returns_of
from runners.inventory.ycsb_requirements import objection_to_programs
from runners.models import Device, Dispatch, DriveState, Host
from runners.models.dispatch import DESTROY
from runners.recipes import ycsb
from runners.recipes.base import YCSB, Role


def refusal_foreseen(device: Device, asked: Order) -> str:
    """Return why an order would be refused, with the remedy; empty where nothing that was told speaks against it.

    Raises SetupError for a YCSB sweep that cannot be run as it is.
    """
    return " ".join([*_by_last_check(device), *_for_data(device, asked), *_for_programs(device, asked)])


def last_identified(device: Device) -> tuple[dict[str, Any], datetime]:
    """Return what the host told of the drive last, and when: as it was bound, looked at again, or as a run found it."""
    return all_last_identified(Device.objects.filter(pk=device.pk))[device.pk]


def all_last_identified(devices: QuerySet[Device]) -> dict[int, tuple[dict[str, Any], datetime]]:
    """Return the same of many devices by their keys, in one query."""
    about = Event.objects.filter(subject_type="device", subject_id=Cast(OuterRef("pk"), CharField()))
    asked = about.filter(kind__in=[BOUND, LOOKED_AGAIN]).order_by("-at")
    since = {"drive_key": OuterRef("drive_key"), "dispatch__device": OuterRef("pk"), "at__gt": OuterRef("asked_at")}
    looks = DriveState.objects.filter(**since).exclude(document={}).order_by("-at", "-pk")
    found = devices.annotate(asked_at=Coalesce(Subquery(asked.values("at")[:1]), F("added_at"))).annotate(
        told=Subquery(looks.values("document")[:1]), told_at=Subquery(looks.values("at")[:1])
    )
    return {
        pk: (identity, asked_at) if told is None else (told, told_at)
        for pk, identity, asked_at, told, told_at in found.values_list("pk", "identity", "asked_at", "told", "told_at")
    }


def last_bound_at(device: Device) -> datetime:
    """Return when somebody bound the device last."""
    return _last_at(_bindings_of(device)) or device.added_at


def in_service_since(device: Device) -> datetime:
    """Return when a device was bound or taken back last, with its host or alone: others may have used it before."""
    return _last_at(_bindings_of(device) | returns_of(device)) or device.added_at


def _bindings_of(device: Device) -> Q:
    return Q(kind=BOUND, subject_type="device", subject_id=str(device.pk))


def _last_at(events: Q) -> datetime | None:
    return Event.objects.filter(events).order_by("-at").values_list("at", flat=True).first()


def is_listed(host: Host, drive_key: str) -> bool | None:
    """Tell whether a host's operator lets a drive be loaded; None where the host never told, and where all are."""
    listed = host.health.get("drives")
    if host.kind != Host.Kind.SSH or listed is None:
        return None
    return is_among(drive_key, listed)


def _by_last_check(device: Device) -> Iterator[str]:
    host = device.host
    if host.kind != Host.Kind.SSH:
        return
    when = f"as it told on {_when(host)}" if told_at(host.health) else "as it told at its last check"
    if is_listed(host, device.drive_key) is False:
        yield (
            f"Host {host} would refuse it: its operator has not listed drive {device.drive_key}, {when}. Have it "
            "listed in /etc/drivecert/host.toml there, check the host on its page, and order again."
        )
    elif device.is_away:
        yield (
            f"Host {host} does not find drive {device.drive_key}, {when}. Attach it, check the host on its page, and "
            "order again."
        )


def _for_data(device: Device, asked: Order) -> Iterator[str]:
    """Recognised data is written over where the order says so, and over SSH never: its operator alone may."""
    document, at = last_identified(device)
    signature = signature_of(document)
    if not signature or asked.options.get(DESTROY):
        return
    holds = f"{device.path} holds {signature}, as its host told on {at:%-d %B %Y, %H:%M} UTC"
    if may_be_told_to_destroy(device):
        yield f"{holds}: order on the device's page, where typing its label says that this is written over."
    else:
        yield (
            f"{holds}, and refuses to write over it. Its operator wipes it there with the command on the device's "
            "page; then look again there."
        )


def _for_programs(device: Device, asked: Order) -> Iterator[str]:
    """A sweep runs what its hosts' operators allow by name, and stops at the first program that is not."""
    if asked.recipe != YCSB:
        return
    sweep = Dispatch(device=device, drive_key=device.drive_key, recipe=YCSB, options=asked.options)
    sweep.load_host = asked.load_host
    for role, host in ((Role.DATABASE, device.host), (Role.LOAD, asked.load_host)):
        if host is not None and (objection := objection_to_programs(host, ycsb.programs(sweep, role))):
            yield f"A sweep would be refused: {objection}."


def _when(host: Host) -> str:
    return f"{told_at(host.health):%-d %B %Y, %H:%M} UTC"
