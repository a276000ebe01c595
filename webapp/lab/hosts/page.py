"""Contents of a host's page: its drives, the register's own machine, and dispatches whose host does not answer."""

import platform
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

from runners.dispatch.preflight import is_listed
from runners.errors import HostError
from runners.hosts import connect
from runners.hosts.drive_keys import is_same_drive
from runners.hosts.local import LocalHost, parse_drives
from runners.hosts.machine import is_this_machine
from runners.hosts.protocol import FoundDrive
from runners.inventory.enrolment import own_program_sha256
from runners.inventory.health import reported_at
from runners.inventory.ycsb_requirements import allowed_programs, missing_programs, programs_path
from runners.models import Device, Dispatch, Host
from runners.models.states import ON_HOST
from runners.monitoring.connectivity import outage_message

MINUTE_S = 60
TOO_OLD = "Its drivetest is too old to list its drives: install that of this register, and pin it."
NOT_ASKED = "Its drives are not known yet: its last check did not ask for them; look again now."
NOT_CHECKED = "Its drives are not known yet: no check has reached it."

Silence = tuple[Dispatch, str]


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
    reported_at: datetime | None = None
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
    told = reported_at(host.health)
    return told and told - timedelta(seconds=host.health["clock_offset_s"])


def _shown(host: Host, drives: list[FoundDrive]) -> list[ShownDrive]:
    devices = list(host.devices.order_by("pk"))
    return [ShownDrive(drive, _bound_as(drive, devices), is_listed(host, drive.drive_key)) for drive in drives]


def _bound_as(drive: FoundDrive, devices: list[Device]) -> Device | None:
    return next((device for device in devices if is_same_drive(device.drive_key, drive.drive_key)), None)


@dataclass(frozen=True)
class OwnMachine:
    """This machine; `programs` are those that its operator lets a sweep run, `why_no_programs` why there are none."""

    hostname: str
    kernel: str
    program_version: str
    program_path: str
    program_sha256: str
    programs_path: str
    programs: list[str] = field(default_factory=list)
    why_no_programs: str = ""


def own_machine(host: Host) -> OwnMachine | None:
    """Return what this machine is; None where the host is another one, of which it knows nothing."""
    if not is_this_machine(host.machine_id):
        return None
    path = programs_path()
    programs, why_none = _programs(host, path)
    return OwnMachine(
        platform.node(),
        platform.release(),
        _version(),
        str(settings.DRIVETEST),
        own_program_sha256(),
        str(path),
        programs,
        why_none,
    )


def _version() -> str:
    try:
        return LocalHost().version()
    except HostError as error:
        return str(error)


def _programs(host: Host, path: Path) -> tuple[list[str], str]:
    if missing := missing_programs(host):
        return [], missing
    try:
        return sorted(allowed_programs()), ""
    except PermissionError:
        return [], f"{path} may be read by root alone: what it allows, drivetest tells when a sweep starts"
    except (OSError, ValueError) as error:
        return [], f"{path}: expected drivecert.programs/1 (docs/formats.md), got none that can be read: {error}"


def silences_by_host() -> dict[int, list[Silence]]:
    """Return by the host's id the dispatches on it about which a machine gives no answer, with words that say which."""
    found: dict[int, list[Silence]] = defaultdict(list)
    for dispatch in Dispatch.objects.filter(state__in=ON_HOST).select_related("device__host", "load_host"):
        if words := outage_message(dispatch):
            for host in {dispatch.device.host, dispatch.load_host or dispatch.device.host}:
                found[host.pk].append((dispatch, words))
    return found
