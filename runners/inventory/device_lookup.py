"""The current path of a bound drive: paths change hands at a reboot, identities do not."""

import re
from collections.abc import Sequence
from dataclasses import replace

from django.db import transaction

from results.history import record_event
from results.models import Event
from runners.errors import DeviceUnknownError
from runners.hosts.drive_keys import keys_of
from runners.hosts.protocol import Identity, LabHost
from runners.models import Device, Dispatch

FOLLOWED = "device-followed"

# The part of a drive that a path names: its partition, and for NVMe its namespace.
# Source: Linux, block/partitions/core.c (a p where the drive's name ends in a digit) and udev's persistent names.
PARTITION = re.compile(r".*\dp([0-9]+)|.*/(?:s|v|xv)d[a-z]+([0-9]+)|.*-part([0-9]+)")
NAMESPACE = re.compile(r".*/nvme[0-9]+n([0-9]+)(?:p[0-9]+)?")


def identify_device(device: Device, host: LabHost) -> Identity:
    """Return the identity at the device's path, or at its drive's new path if another drive or none is there now.

    The device follows its drive only if exactly one path is the drive, has its size and names the same part of it.
    Otherwise the identity at the old path is returned, and runners/inventory/safety.py objects to it. Raise
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
