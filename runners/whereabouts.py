"""Where a bound drive is now: names change hands at a reboot, identities do not."""

import re
from dataclasses import replace

from runners.drive_keys import keys_of
from runners.errors import DeviceUnknownError
from runners.hosts.protocol import Identity, LabHost
from runners.models import Device

# Which part of its drive a name says that it is: its partition, and of NVMe its namespace.
# Source: Linux, block/partitions/core.c (a p where the drive's name ends in a digit) and udev's persistent names.
PARTITION = re.compile(r".*\dp([0-9]+)|.*/(?:s|v|xv)d[a-z]+([0-9]+)|.*-part([0-9]+)")
NAMESPACE = re.compile(r".*/nvme[0-9]+n([0-9]+)(?:p[0-9]+)?")


def look_up(device: Device, host: LabHost) -> Identity:
    """Return what is at the device's path; where that is another drive or nothing, at the path its drive has now.

    The device follows its drive only where one path is the drive, has its size and names the same part of it; else what
    the old path names is returned, and objected to by runners/safety.py. Raises DeviceUnknownError where neither can be
    told.
    """
    try:
        identity = _identify(device, host)
    except DeviceUnknownError:
        if not _follow(device, host):
            raise
        return _identify(device, host)
    if identity.drive_key != device.drive_key and _follow(device, host):
        return _identify(device, host)
    return identity


def _identify(device: Device, host: LabHost) -> Identity:
    """Return what is at the device's path, a drive that is the bound one under the key that it was bound by."""
    identity = host.identify(device.path)
    return replace(identity, drive_key=device.drive_key) if is_bound(device, identity) else identity


def is_bound(device: Device, identity: Identity) -> bool:
    """Tell whether an identity is that of a device's drive."""
    return device.drive_key in keys_of(identity.drive_key)


def _follow(device: Device, host: LabHost) -> bool:
    paths = host.find(device.drive_key, device.size_bytes)
    if len(paths) != 1 or not is_same_part(device.path, paths[0]):
        return False
    device.path = paths[0]
    Device.objects.filter(pk=device.pk).update(path=device.path)
    return True


def is_same_part(one: str, other: str) -> bool:
    """Tell whether two names of a drive may be of the same part: not another partition, nor another namespace.

    A name that tells no namespace (/dev/disk/by-id/...) may be of any.
    """
    namespaces = {found[1] for path in (one, other) if (found := NAMESPACE.fullmatch(path))}
    return _partition(one) == _partition(other) and len(namespaces) < 2


def _partition(path: str) -> str:
    """Return the number of the partition that a name says; empty where it says none."""
    found = PARTITION.fullmatch(path)
    return next(filter(None, found.groups()), "") if found else ""
