"""What the register's own machine is as a lab host: its program, and what a YCSB sweep may run there."""

import platform
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings

from runners.errors import HostError
from runners.hosts.local import LocalHost
from runners.hosts.machine import is_here
from runners.inventory.enrolment import own_program_sha256
from runners.inventory.ycsb_requirements import allowed_programs, missing_programs, programs_path
from runners.models import Host


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
    if not is_here(host.machine_id):
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
