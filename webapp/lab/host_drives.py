"""Which drives a host has, as its page and the page that adds one list them: nobody types a path from memory."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from runners.dispatch.preflight import is_listed
from runners.errors import HostError
from runners.hosts import connect
from runners.hosts.drive_keys import is_same_drive
from runners.hosts.local import parse_drives
from runners.hosts.protocol import FoundDrive
from runners.inventory.health import told_at
from runners.models import Device, Host

MINUTE_S = 60
TOO_OLD = "Its drivetest is too old to list its drives: install that of this register, and pin it."
NOT_ASKED = "Its drives are not known yet: its last check did not ask for them; look again now."
NOT_CHECKED = "Its drives are not known yet: no check has reached it."


@dataclass(frozen=True)
class ShownDrive:
    """A drive, as which device it is bound, and whether its operator lets it be loaded; None where nobody lists."""

    found: FoundDrive
    device: Device | None
    is_listed: bool | None

    @property
    def is_device(self) -> bool:
        """Tell whether what is bound is what stands at this path: all namespaces of a drive have its key."""
        return self.device is not None and self.device.path == self.found.path


@dataclass(frozen=True)
class HostDrives:
    """The drives of a host as it told them `age_s` seconds ago; `why_none` says why they are not known."""

    rows: list[ShownDrive]
    told_at: datetime | None = None
    age_s: int = 0
    why_none: str = ""


def drives_of(host: Host) -> HostDrives:
    """Return the drives of a host: this machine is asked now, another one told them at its last check."""
    if host.kind == Host.Kind.LOCAL:
        return _asked_now(host)
    found, told = host.health.get("found"), _told_at(host)
    if found is None or told is None:
        return HostDrives([], why_none=_why_not_known(host.health))
    try:
        return HostDrives(_shown(host, parse_drives({"drives": found})), told, _age_s(told))
    except HostError as error:  # kept by an earlier version, which took what it was told
        return HostDrives([], why_none=_not_listed(host, error))


def _why_not_known(health: dict[str, Any]) -> str:
    """Return why a host's drives are not known: a check of an earlier version of the register asked for none."""
    if not health:
        return NOT_CHECKED
    return TOO_OLD if "found" in health else NOT_ASKED


def _asked_now(host: Host) -> HostDrives:
    try:
        return HostDrives(_shown(host, connect(host).list_drives()), timezone.now())
    except HostError as error:
        return HostDrives([], why_none=_not_listed(host, error))


def _not_listed(host: Host, error: HostError) -> str:
    return f"The drives of {host} cannot be listed: {error}"


def _age_s(told: datetime) -> int:
    """Return how long ago that was; whole minutes from the first on."""
    age_s = max(0, round((timezone.now() - told).total_seconds()))
    return age_s if age_s < MINUTE_S else age_s - age_s % MINUTE_S


def _told_at(host: Host) -> datetime | None:
    """Return when the host told, by the register's clock."""
    told = told_at(host.health)
    return told and told - timedelta(seconds=host.health["clock_offset_s"])


def _shown(host: Host, drives: list[FoundDrive]) -> list[ShownDrive]:
    devices = list(host.devices.order_by("pk"))
    return [ShownDrive(drive, _bound_as(drive, devices), is_listed(host, drive.drive_key)) for drive in drives]


def _bound_as(drive: FoundDrive, devices: list[Device]) -> Device | None:
    return next((device for device in devices if is_same_drive(device.drive_key, drive.drive_key)), None)
