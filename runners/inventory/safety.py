"""The register's own checks before a drive is written to. The host and drivetest check again.

The first check is that of the identity: paths change hands at a reboot, identities do not. A device follows its drive
to a new path.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from results.history import record_event
from results.models import Event
from runners.errors import DeviceUnknownError
from runners.hosts.drive_keys import keys_of
from runners.hosts.protocol import Identity, LabHost
from runners.models import Device, Dispatch, Host
from runners.models.dispatch import CONSENT_OPTION

FOLLOWED = "device-followed"

# The part of a drive that a path names: its partition, and for NVMe its namespace.
# Source: Linux, block/partitions/core.c (a p where the drive's name ends in a digit) and udev's persistent names.
PARTITION = re.compile(r".*\dp([0-9]+)|.*/(?:s|v|xv)d[a-z]+([0-9]+)|.*-part([0-9]+)")
NAMESPACE = re.compile(r".*/nvme[0-9]+n([0-9]+)(?:p[0-9]+)?")


def identify_device(device: Device, host: LabHost) -> Identity:
    """Return the identity at the device's path, or at its drive's new path if another drive or none is there now.

    The device follows its drive only if exactly one path is the drive, has its size and names the same part of it.
    Otherwise the identity at the old path is returned, and `objections_to_start` objects to it. Raise
    DeviceUnknownError if neither can be identified.
    """
    try:
        identity = _identify(device, host)
    except DeviceUnknownError as error:
        paths = host.find(device.drive_key, device.size_bytes)
        if not paths:
            raise DeviceUnknownError(
                f"{device.host} does not find drive {device.drive_key}, last seen at {device.path} ({error}); "
                "attach it, check the host on its page, and order again"
            ) from error
        if not follow_drive(device, paths):
            raise
        return _identify(device, host)
    if identity.drive_key == device.drive_key:
        return identity
    is_found = follow_drive(device, host.find(device.drive_key, device.size_bytes))
    return _identify(device, host) if is_found else identity


def _identify(device: Device, host: LabHost) -> Identity:
    """Return the identity at the device's path. The bound drive gets the key that it was bound by."""
    identity = host.identify(device.path)
    return replace(identity, drive_key=device.drive_key) if is_bound(device, identity) else identity


def is_bound(device: Device, identity: Identity) -> bool:
    """Return whether an identity is that of a device's drive."""
    return device.drive_key in keys_of(identity.drive_key)


def follow_drive(device: Device, paths: Sequence[str]) -> bool:
    """Set a device's path to the one path where its host found the drive, and return whether that was possible.

    The change is an event: the history of a dispatch ordered under the earlier path shows it
    (runners/dispatch/steps.py).
    """
    if len(paths) != 1 or not is_same_part(device.path, paths[0]):
        return False
    before, device.path = device.path, paths[0]
    with transaction.atomic():
        if Device.objects.filter(pk=device.pk, path=before).update(path=device.path):
            details = {"drive_key": device.drive_key, "from": before, "to": device.path}
            record_event(None, FOLLOWED, ("device", str(device.pk)), details=details)
    return True


def ordered_path(dispatch: Dispatch) -> str:
    """Return the path of a device when a dispatch was ordered: the earliest that it has left since."""
    left = Event.objects.filter(kind=FOLLOWED, subject_type="device", subject_id=str(dispatch.device_id))
    first = left.filter(at__gte=dispatch.ordered_at).order_by("at", "pk").first()
    return dispatch.device.path if first is None else str(first.details["from"])


def is_same_part(one: str, other: str) -> bool:
    """Return whether two paths of a drive may name the same part: the same partition and the same namespace.

    A path without a namespace (/dev/disk/by-id/...) may name any.
    """
    namespaces = {found[1] for path in (one, other) if (found := NAMESPACE.fullmatch(path))}
    return _partition(one) == _partition(other) and len(namespaces) < 2


def _partition(path: str) -> str:
    """Return the number of the partition that a path names; empty if it names none."""
    found = PARTITION.fullmatch(path)
    return next(filter(None, found.groups()), "") if found else ""


MIB_BYTES = 1024 * 1024


def is_plain_file(path: str) -> bool:
    """Return whether a device is a plain file, whose size ACT needs in whole MiB. Device nodes are in /dev."""
    return not path.startswith("/dev/")


def holds_file(drive_key: str, document: Mapping[str, Any]) -> bool:
    """Return whether a bound device is a plain file, by its key and drivecert.identity/1."""
    return drive_key.startswith("file:") and not document.get("backing")


SIGNATURE, SIGNATURE_ERROR = "signature", "signature_error"
# Refusals for a drive that is in use or cannot be opened: its data is not read then.
# Source: runners/drivetest/crates/device/src/identity/mod.rs, IN_USE.
IN_USE = frozenset({"mounted", "boot", "held", "swap", "claimed", "no-access", "open", "busy"})


def is_signature_reported(document: Mapping[str, Any]) -> bool:
    """Return whether a host looked for data on a drive and reported the result, even if it found none."""
    if SIGNATURE not in document or document[SIGNATURE] is not None:
        return SIGNATURE in document
    if document.get(SIGNATURE_ERROR):  # a read error; earlier programs report it like an empty drive
        return False
    return IN_USE.isdisjoint(refusal["id"] for refusal in document.get("refusals") or ())


def signature_of(document: Mapping[str, Any]) -> str:
    """Return the data recognised on a drive; empty for none, and if the host did not report it."""
    return document.get(SIGNATURE) or ""


# act_storage works in large blocks of 128 KiB and needs at least one; below this many a run would only hit a cache.
LARGE_BLOCK_BYTES = 128 * 1024
MIN_DEVICE_BYTES = 64 * LARGE_BLOCK_BYTES


def may_consent_on_page(device: Device) -> bool:
    """Return whether an order may allow recognised data to be overwritten. On remote hosts only the operator may."""
    return not device.host.is_remote


def objections_to_device(identity: Identity) -> list[str]:
    """Return, as sentences, why a device must not be written to; empty if it may be."""
    objections = list(identity.refusals)
    if identity.size_bytes < MIN_DEVICE_BYTES:
        objections.append(
            f"{identity.path}: {identity.size_bytes} bytes; expected at least {MIN_DEVICE_BYTES}; "
            "choose a larger device"
        )
    if is_plain_file(identity.path) and identity.size_bytes % MIB_BYTES:
        objections.append(
            f"{identity.path}: {identity.size_bytes} bytes; expected whole MiB: ACT takes a file's size in MiB"
        )
    return objections + _objections_to_location(identity)


def _objections_to_location(identity: Identity) -> list[str]:
    """Return objections to the register's own files: neither they nor loop devices over them are drives."""
    paths = [identity.path, identity.document.get("backing") or ""]
    data = settings.DATA_DIR.resolve()
    ours = [path for path in paths if path and Path(path).resolve().is_relative_to(data)]
    return [
        f"{path}: is in the register's data directory {data}; expected another location; nothing there is loaded"
        for path in ours
    ]


def objections_to_binding(host: Host, lab_host: LabHost, identity: Identity) -> list[str]:
    """Return, as sentences, why a path's device must not be bound in the register."""
    objections = objections_to_device(identity)
    # A bound file was checked at binding, and may contain what runs have written since.
    is_known = Device.objects.filter(host=host, drive_key__in=keys_of(identity.drive_key)).exists()
    if (
        holds_file(identity.drive_key, identity.document)
        and not is_known
        and any(lab_host.first_bytes(identity.path, MIB_BYTES))
    ):
        objections.append(
            f"{identity.path}: expected a file that is empty or zero in its first MiB, as one created here is; "
            "found data; name a new file and give a size"
        )
    return objections


def objections_to_start(dispatch: Dispatch, identity: Identity) -> list[str]:
    """Return, as sentences, why the ordered load must not start on the device at the path now."""
    if identity.drive_key != dispatch.drive_key:
        return [
            f"{identity.path}: expected drive {dispatch.drive_key}, found {identity.drive_key}; "
            "nothing was written; add the device again and repeat the order"
        ]
    objections = objections_to_device(identity)
    if identity.size_bytes != dispatch.device.size_bytes:
        objections.append(
            f"{identity.path}: expected {dispatch.device.size_bytes} bytes, found {identity.size_bytes}; "
            "add the device again"
        )
    return objections + _objections_to_consent(dispatch, identity)


def _objections_to_consent(dispatch: Dispatch, identity: Identity) -> list[str]:
    """Return an objection if the drive has other data than the order's consent names.

    Without a consent, drivetest refuses all recognised data. Orders of earlier versions store True: what their page
    showed is not known, so they cover no data.
    """
    consented, found = dispatch.options.get(CONSENT_OPTION), signature_of(identity.document)
    if not consented or not found or found == consented:
        return []
    shown = consented if isinstance(consented, str) else "data that the order did not record"
    return [
        f"{identity.path}: expected {shown}, which the order may write over, found {found}; nothing was written; "
        "check the device's page and repeat the order"
    ]
