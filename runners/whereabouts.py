"""Where a bound drive is now: names change hands at a reboot, identities do not."""

from runners.errors import DeviceUnknownError
from runners.hosts.protocol import Identity, LabHost
from runners.models import Device


def look_up(device: Device, host: LabHost) -> Identity:
    """Return what is at the device's path; where that is another drive or nothing, at the path its drive has now.

    The device follows its drive only where one path is the drive and has its size; else what the old path names is
    returned, and objected to by runners/safety.py. Raises DeviceUnknownError where neither can be told.
    """
    try:
        identity = host.identify(device.path)
    except DeviceUnknownError:
        if not _follow(device, host):
            raise
        return host.identify(device.path)
    if identity.drive_key != device.drive_key and _follow(device, host):
        return host.identify(device.path)
    return identity


def _follow(device: Device, host: LabHost) -> bool:
    paths = host.find(device.drive_key, device.size_bytes)
    if len(paths) != 1:
        return False
    device.path = paths[0]
    Device.objects.filter(pk=device.pk).update(path=device.path)
    return True
