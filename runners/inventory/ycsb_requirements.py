"""Where a YCSB sweep can be carried out: its programs are allowed by name on the register's own machine only."""

import json
from collections.abc import Set
from pathlib import Path

from django.conf import settings

from runners.hosts.machine import is_here
from runners.models import Host

# The default path of the operator's list. Source: runners/drivetest/crates/telemetry/src/allowlist.rs, DEFAULT_FILE.
PROGRAMS_FILE = "/etc/drivecert/programs.json"
SCHEMA = "drivecert.programs/1"


def objection_to_hosts(drive_host: Host, load_host: Host | None) -> str:
    """Say why a sweep cannot use these hosts; empty where it can. `load_host` is None where it is the drive's own."""
    for host in filter(None, [drive_host, load_host]):
        if host.kind == Host.Kind.SSH:
            return (
                f"{host} is reached over SSH: such a host starts ACT loads and preparations only, no YCSB; "
                "expected this machine"
            )
    if load_host is not None and load_host.machine_id != drive_host.machine_id:
        return f"{load_host} is another machine than {drive_host}; no worker can ask both; expected one machine"
    return ""


def programs_path() -> Path:
    """Return where the operator of this machine lists what a sweep may run."""
    return Path(settings.LAB_PROGRAMS or PROGRAMS_FILE)


def missing_programs(host: Host) -> str:
    """Say that a host has no list of programs that a sweep may run; empty where it has, or where that is not known."""
    path = programs_path()
    if not _is_ours(host) or not _is_missing(path):
        return ""
    return f"{path} is not there: the operator of {host} lists in it which programs a sweep may run (docs/lab.md)"


def objection_to_programs(host: Host, needed: Set[str]) -> str:
    """Say which of these programs a host's operator does not allow; empty where all are, or where that is not known.

    A file that only root may read is for drivetest alone; the host then has the word.
    """
    missing = missing_programs(host)
    if missing or not _is_ours(host):
        return missing
    try:
        allowed = allowed_programs()
    except PermissionError:
        return ""
    except (OSError, ValueError) as error:
        return f"{programs_path()}: cannot be read as {SCHEMA}: {error}"
    if not (lacking := sorted(needed - allowed)):
        return ""
    there = ", ".join(sorted(allowed)) or "nothing"
    allows = f"{programs_path()} allows no {', '.join(lacking)}; it allows {there}"
    return f"{allows}; the operator of {host} adds them (docs/lab.md)"


def allowed_programs() -> set[str]:
    """Return the programs that this machine's operator allows.

    Raises OSError where the list cannot be read, PermissionError where only root may, and ValueError where it is none.
    """
    document = json.loads(programs_path().read_bytes())
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise ValueError("it is another document")
    programs = document.get("programs")
    if not isinstance(programs, dict):
        raise ValueError(f"programs: expected an object, got {type(programs).__name__}")  # noqa: TRY004 - of a file
    return set(programs)


def _is_missing(path: Path) -> bool:
    """Tell whether a file is certainly not there; of one in a directory of root alone nobody else knows."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except PermissionError:
        return False
    return False


def _is_ours(host: Host) -> bool:
    return host.kind == Host.Kind.LOCAL and is_here(host.machine_id)
