"""Where a bound drive is now: names change hands at a reboot, identities do not."""

from dataclasses import replace

from runners.drive_keys import keys_of
from runners.errors import DeviceUnknownError
from runners.hosts.protocol import Identity, LabHost
from runners.models import Device


def look_up(device: Device, host: LabHost) -> Identity:
    """Return what is at the device's path; where that is another drive or nothing, at the path its drive has now.

    The device follows its drive only where one path is the drive and has its size; else what the old path names is
    returned, and objected to by runners/safety.py. Raises DeviceUnknownError where neither can be told.
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
    if len(paths) != 1:
        return False
    device.path = paths[0]
    Device.objects.filter(pk=device.pk).update(path=device.path)
    return True
