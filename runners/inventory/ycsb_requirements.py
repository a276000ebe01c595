"""Requirements of a YCSB sweep: its programs are allowed by name, on the register's own machine only."""

import json
import shutil
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any

from django.conf import settings

from runners.hosts.machine import is_this_machine
from runners.models import Host

# The default path of the operator's list. Source: runners/drivetest/crates/telemetry/src/allowlist.rs, DEFAULT_FILE.
PROGRAMS_FILE = "/etc/drivecert/programs.json"
SCHEMA = "drivecert.programs/1"


def objection_to_hosts(drive_host: Host, load_host: Host | None) -> str:
    """Return why a sweep cannot use these hosts; empty if it can. `load_host` is None if the drive's host sends."""
    for host in filter(None, [drive_host, load_host]):
        if host.is_remote:
            return (
                f"{host} is reached {host.get_kind_display()}: such a host starts ACT loads and preparations only, no "
                "YCSB; expected this machine"
            )
    if load_host is not None and load_host.machine_id != drive_host.machine_id:
        return f"{load_host} is another machine than {drive_host}; no worker can reach both; expected one machine"
    return ""


def programs_path() -> Path:
    """Return the path where the operator of this machine lists the programs that a sweep may run."""
    return Path(settings.LAB_PROGRAMS or PROGRAMS_FILE)


def missing_programs(host: Host) -> str:
    """Return that a host has no list of programs for sweeps; empty if it has one, or if that is not known."""
    path = programs_path()
    if not _is_this_machine(host) or not _is_missing(path):
        return ""
    return (
        f"{path} is missing: the operator of host {host} must list the programs of sweeps in it (docs/reference/lab.md)"
    )


def objection_to_programs(host: Host, needed: Set[str]) -> str:
    """Return which of these programs a host's operator does not allow; empty if all are, or if that is not known.

    A file that only root can read is for drivetest alone, which then decides.
    """
    missing = missing_programs(host)
    if missing or not _is_this_machine(host):
        return missing
    try:
        programs = _listed_programs()
    except PermissionError:
        return ""
    except (OSError, ValueError) as error:
        return f"{programs_path()}: cannot be read as {SCHEMA}: {error}"
    if not (lacking := sorted(needed - set(programs))):
        return _objection_to_executables(host, {name: programs[name] for name in sorted(needed)})
    there = ", ".join(sorted(programs)) or "nothing"
    allows = f"{programs_path()} allows no {', '.join(lacking)}; it allows {there}"
    return f"{allows}; the operator of {host} adds them (docs/reference/lab.md)"


def allowed_programs() -> set[str]:
    """Return the programs that this machine's operator allows.

    Raise OSError if the list cannot be read, PermissionError if only root can read it, and ValueError for another
    document.
    """
    return set(_listed_programs())


def _objection_to_executables(host: Host, programs: Mapping[str, Any]) -> str:
    """Return which programs need an executable that this machine lacks, such as java; empty if all are there."""
    missing = {}
    for name, program in programs.items():
        argv = program.get("argv") if isinstance(program, dict) else None
        if isinstance(argv, list) and argv and shutil.which(str(argv[0])) is None:
            missing[name] = argv[0]
    if not missing:
        return ""
    needs = ", ".join(f"{name} needs {executable}" for name, executable in missing.items())
    return f"{needs}, which {host} does not have; install it there, or correct its path in {programs_path()}"


def _listed_programs() -> dict[str, Any]:
    document = json.loads(programs_path().read_bytes())
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise ValueError("it has another schema")
    programs = document.get("programs")
    if not isinstance(programs, dict):
        raise ValueError(f"programs: expected an object, got {type(programs).__name__}")  # noqa: TRY004 - of a file
    return programs


def _is_missing(path: Path) -> bool:
    """Return whether a file is certainly missing. In a directory of root alone, that is not known."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except PermissionError:
        return False
    return False


def _is_this_machine(host: Host) -> bool:
    return not host.is_remote and is_this_machine(host.machine_id)
