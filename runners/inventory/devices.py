"""Asking again what a bound drive is and holds, because a person has changed something there: has wiped it, say."""

from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import Q

from results.models import Event
from runners.hosts.drive_keys import keys_of, unmarked
from runners.hosts.machine import machine_id
from runners.hosts.protocol import Identity, LabHost
from runners.inventory.device_lookup import is_bound, look_up
from runners.inventory.service_state import BACK, hold_host_in_service, record, under_way
from runners.locks import hold_drive
from runners.models import UNCONFIRMED, Device, Dispatch, Host
from runners.models.states import LIVE

BOUND = "device-bound"

LOOKED_AGAIN = "device-looked-at-again"


class LookAgainError(ValueError):
    """What is known of a drive stays as it was; the text says why, and the remedy."""


def look_again(device: Device, host: LabHost, actor: AbstractBaseUser) -> None:
    """Keep what a host tells of a device's drive now; the device follows a drive that has another name.

    Raises LookAgainError while a run may be on the drive, and where the drive is in use, another one, or of another
    size: nobody can tell then what the bound one holds. Raises HostError where the host gives no answer.
    """
    _check_nothing_runs(device)
    identity = look_up(device, host)
    if not is_bound(device, identity) or identity.size_bytes != device.size_bytes:
        raise LookAgainError(
            f"{identity.path}: expected drive {device.drive_key} of {device.size_bytes} bytes, found "
            f"{identity.drive_key} of {identity.size_bytes} bytes; add the device again"
        )
    if identity.refusals:
        raise LookAgainError(f"what it holds was not looked at: {'; '.join(identity.refusals)}")
    with transaction.atomic():
        hold_drive(device.drive_key)
        _check_nothing_runs(device)
        Device.objects.filter(pk=device.pk).update(identity=dict(identity.document))
        details = {"path": identity.path, "signature": identity.document.get("signature")}
        _record(actor, LOOKED_AGAIN, ("device", str(device.pk)), details)
    device.refresh_from_db()


def _check_nothing_runs(device: Device) -> None:
    """Raise LookAgainError while a run is on the drive: it is in use, and a question would disturb what is measured."""
    may_run = Dispatch.objects.filter(Q(state__in=LIVE) | UNCONFIRMED, drive_key=device.drive_key)
    if (dispatch := may_run.first()) is not None:
        raise LookAgainError(f"{dispatch} is {dispatch.state} on it; look again when that has ended")


class DeviceInUseError(ValueError):
    """A device cannot take another path or size while something that was ordered on it is open; the text says what."""


def add_local_host(actor: AbstractBaseUser) -> Host:
    """Return this machine as a host, added at the first call."""
    this_machine = {"kind": Host.Kind.LOCAL, "machine_id": machine_id()}
    host, is_new = Host.objects.get_or_create(name="local", defaults=this_machine)
    if is_new:
        _record(actor, "host-added", ("host", host.name), {})
    return host


def bind(host: Host, identity: Identity, label: str, actor: AbstractBaseUser) -> Device:
    """Bind a drive to a host by identity; a drive seen there before keeps its row and gets the new path.

    One that was retired is in service again with that. Raises OutOfServiceError where the host is retired, and
    DeviceInUseError where path or size would change under what was ordered on the device.
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
        # The drive first, then its host, as an order holds them: what was ordered meanwhile is seen below.
        hold_drive(key)
        hold_host_in_service(host)
        bound = host.devices.filter(drive_key=key).first()
        if bound and (objection := objection_to_moving(bound, identity)):
            raise DeviceInUseError(objection)
        was_retired = host.devices.filter(drive_key=key, retired_at__isnull=False).exists()
        device, _ = Device.objects.update_or_create(host=host, drive_key=key, defaults=seen)
        details = {"drive_key": identity.drive_key, "path": identity.path}
        _record(actor, BOUND, ("device", str(device.pk)), details)
        if was_retired:
            record(device, BACK, actor, "its drive was bound again")
    return device


def _key_of(host: Host, identity: Identity) -> str:
    """Return the key that a drive is bound by, its own where it never was.

    On a machine that is two hosts here claims hold by the key, so the drive keeps the one it was bound by before.
    """
    known = host.devices.filter(drive_key__in=keys_of(identity.drive_key)).order_by("pk").first()
    known = known or Device.objects.filter(drive_key=unmarked(identity.drive_key)).order_by("pk").first()
    return known.drive_key if known else identity.drive_key


def objection_to_moving(device: Device, identity: Identity) -> str:
    """Say why a bound device cannot be taken for what a path names now; empty where it can.

    All partitions and namespaces of a drive have its key: an order was given for the one that the page showed. A drive
    that its host renamed is found at each start by itself (runners/inventory/device_lookup.py).
    """
    if (device.path, device.size_bytes) == (identity.path, identity.size_bytes):
        return ""
    ordered = "; ".join(under_way(Q(device=device), Q(device=device)))
    if not ordered:
        return ""
    return (
        f"{device} is {device.path} of {device.size_bytes} bytes for what was ordered on it, and cannot become "
        f"{identity.path} of {identity.size_bytes} bytes before that has ended: {ordered}"
    )


def _record(actor: AbstractBaseUser, kind: str, subject: tuple[str, str], details: dict[str, Any]) -> None:
    subject_type, subject_id = subject
    Event.objects.create(
        actor_id=actor.pk, kind=kind, subject_type=subject_type, subject_id=subject_id, details=details
    )
