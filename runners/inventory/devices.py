"""Devices: binding a drive to a host, refreshing its identity, and when it was last identified or bound."""

from datetime import datetime
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import CharField, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Cast, Coalesce

from results.history import record_event
from results.models import Event
from runners.errors import DeviceUnknownError, HostError, RequestRefusedError
from runners.hosts.drive_keys import keys_of, unmarked
from runners.hosts.local import LocalHost
from runners.hosts.machine import UNASSIGNED, is_this_machine, machine_id
from runners.hosts.protocol import Identity, LabHost
from runners.inventory.safety import identify_device, is_bound
from runners.inventory.service_state import (
    RETURNED,
    blocking_work,
    lock_host_in_service,
    record_service_event,
    returns_of,
)
from runners.models import LOST_UNCONFIRMED, Device, Dispatch, DriveState, Host
from runners.models.postgres import lock_drive
from runners.models.states import LIVE

BOUND = "device-bound"
IDENTITY_REFRESHED = "device-looked-at-again"


class RefreshRefusedError(RequestRefusedError):
    """The stored identity of a drive was not changed. The text gives the reason and the remedy."""

    code = "refresh-refused"


def refresh_identity(device: Device, host: LabHost, actor: AbstractBaseUser) -> None:
    """Store the identity that a host reports for a device's drive now. The device follows a drive that moved.

    Raise RefreshRefusedError while a run may be on the drive, and if the drive is in use, another one, or of another
    size: then it is unknown what the bound drive contains. Raise HostError if the host does not answer.
    """
    _check_nothing_runs(device)
    identity = identify_device(device, host)
    if not is_bound(device, identity) or identity.size_bytes != device.size_bytes:
        raise RefreshRefusedError(
            f"{identity.path}: expected drive {device.drive_key} of {device.size_bytes} bytes, found "
            f"{identity.drive_key} of {identity.size_bytes} bytes; add the device again"
        )
    if identity.refusals:
        raise RefreshRefusedError(f"its data was not read: {'; '.join(identity.refusals)}")
    with transaction.atomic():
        lock_drive(device.drive_key)
        _check_nothing_runs(device)
        Device.objects.filter(pk=device.pk).update(identity=dict(identity.document))
        details = {"path": identity.path, "signature": identity.document.get("signature")}
        record_event(actor, IDENTITY_REFRESHED, ("device", str(device.pk)), details=details)
    device.refresh_from_db()


def is_queried_now(host: Host) -> bool:
    """Return whether pages query a host about its drives when they are opened, instead of showing its last check.

    Only this machine is queried, and not while a run may be on one of its drives: a search for a drive would disturb
    the measurement.
    """
    if host.is_remote or host.machine_id == UNASSIGNED or not is_this_machine(host.machine_id):
        return False
    return not Dispatch.objects.filter(Q(state__in=LIVE) | LOST_UNCONFIRMED, device__host=host).exists()


def is_missing(device: Device) -> bool:
    """Return whether a host does not find a device's drive: at its last check, or now if it is this machine.

    If the host cannot answer, False.
    """
    return is_missing_now(device) if is_queried_now(device.host) else device.is_missing


def is_missing_now(device: Device) -> bool:
    """Return whether this machine does not find a device's drive now. If it cannot answer, False."""
    lab_host = LocalHost()
    try:
        if is_bound(device, lab_host.identify(device.path)):
            return False
    except DeviceUnknownError:
        pass
    except HostError:
        return False
    try:
        return not lab_host.find(device.drive_key, device.size_bytes)
    except HostError:
        return False


def _check_nothing_runs(device: Device) -> None:
    """Raise RefreshRefusedError while a run is on the drive: a request would disturb the measurement."""
    may_run = Dispatch.objects.filter(Q(state__in=LIVE) | LOST_UNCONFIRMED, drive_key=device.drive_key)
    if (dispatch := may_run.first()) is not None:
        raise RefreshRefusedError(f"{dispatch} is {dispatch.state} on it; refresh when that has ended")


class DeviceInUseError(RequestRefusedError):
    """A device cannot get another path or size while an order on it is open. The text says which order."""

    code = "device-in-use"


LOCAL_NAME = "local"  # of the host that is this machine


def add_local_host(actor: AbstractBaseUser) -> Host:
    """Return this machine as a host. The first call adds it."""
    this_machine = {"kind": Host.Kind.LOCAL, "machine_id": machine_id()}
    host, is_new = Host.objects.get_or_create(name=LOCAL_NAME, defaults=this_machine)
    if is_new:
        record_event(actor, "host-added", ("host", host.name))
    return host


def bind(host: Host, identity: Identity, label: str, actor: AbstractBaseUser) -> Device:
    """Bind a drive to a host by identity. A drive bound there before gets the new path in its row.

    A retired device returns to service. Raise OutOfServiceError if the host is retired, and DeviceInUseError if path or
    size would change under an open order.
    """
    seen = {
        "label": label,
        "identity_kind": identity.kind,
        "identity": dict(identity.document),
        "path": identity.path,
        "size_bytes": identity.size_bytes,
        "retired_at": None,
    }
    with transaction.atomic():
        key = _key_of(host, identity)
        # Lock the drive first, then its host, as an order does. Orders made meanwhile are visible below.
        lock_drive(key)
        lock_host_in_service(host)
        bound = host.devices.filter(drive_key=key).first()
        if bound and (objection := objection_to_path_change(bound, identity)):
            raise DeviceInUseError(objection)
        was_retired = bound is not None and bound.retired_at is not None
        device, _ = Device.objects.update_or_create(host=host, drive_key=key, defaults=seen)
        details = {"drive_key": identity.drive_key, "path": identity.path}
        record_event(actor, BOUND, ("device", str(device.pk)), details=details)
        if was_retired:
            record_service_event(device, RETURNED, actor, "its drive was bound again")
    return device


def _key_of(host: Host, identity: Identity) -> str:
    """Return the key to bind a drive by: its own, unless it was bound before.

    A machine may be two hosts of this register. Claims use the key, so the key that bound the drive first stays.
    """
    known = host.devices.filter(drive_key__in=keys_of(identity.drive_key)).order_by("pk").first()
    known = known or Device.objects.filter(drive_key=unmarked(identity.drive_key)).order_by("pk").first()
    return known.drive_key if known else identity.drive_key


def objection_to_path_change(device: Device, identity: Identity) -> str:
    """Return why a bound device cannot become what a path names now; empty if it can.

    All partitions and namespaces of a drive have its key, but an order is for the one that the page showed. The
    register finds a drive that its host renamed at each start (runners/inventory/safety.py).
    """
    if (device.path, device.size_bytes) == (identity.path, identity.size_bytes):
        return ""
    ordered = "; ".join(blocking_work(Q(device=device), Q(device=device)))
    if not ordered:
        return ""
    return (
        f"{device} is {device.path} of {device.size_bytes} bytes in open orders, and cannot become "
        f"{identity.path} of {identity.size_bytes} bytes before they have ended: {ordered}"
    )


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
