"""Requirements of a YCSB sweep: the operator of each of its hosts allows its programs by name."""

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
    """Return why a sweep cannot use these hosts; empty if it can.

    `load_host` is None if the drive's host also sends the requests. A worker reaches every remote host, and of the
    local ones only its own machine.
    """
    local = [host for host in (drive_host, load_host) if host is not None and not host.is_remote]
    if load_host is not None and len({host.machine_id for host in local}) > 1:
        return (
            f"{load_host} is another machine than {drive_host}; no worker can reach both, because each reaches only "
            "its own; choose the same machine for both, or a remote host"
        )
    return ""


def programs_path() -> Path:
    """Return the path where the operator of this machine lists the programs that a sweep may run."""
    return Path(settings.LAB_PROGRAMS or PROGRAMS_FILE)


def missing_programs(host: Host) -> str:
    """Return a message if a host has no list of programs for sweeps; empty if it has one, or if that is not known."""
    if host.is_remote:
        return _problem_of_report(host)
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
    if missing := missing_programs(host):
        return missing
    if host.is_remote:
        reported = {program["name"]: program for program in host.health["programs"]}
        lacking_executables = {
            name: str(reported[name]["executable"])
            for name in sorted(needed & set(reported))
            if not reported[name]["is_installed"]
        }
        return _objection(host, PROGRAMS_FILE, needed, set(reported), lacking_executables)
    if not _is_this_machine(host):
        return ""
    try:
        programs = _listed_programs()
    except PermissionError:
        return ""
    except (OSError, ValueError) as error:
        return f"{programs_path()}: cannot be read as {SCHEMA}: {error}"
    of_sweep = {name: programs[name] for name in sorted(needed & set(programs))}
    return _objection(host, str(programs_path()), needed, set(programs), _lacking_executables(of_sweep))


def _objection(
    host: Host, path: str, needed: Set[str], listed: Set[str], lacking_executables: Mapping[str, str]
) -> str:
    """Return what a sweep lacks on a host: a program in its list, or an executable; empty if it lacks nothing."""
    if lacking := sorted(needed - listed):
        there = ", ".join(sorted(listed)) or "nothing"
        allows = f"{path} of host {host} allows no {', '.join(lacking)}; it allows {there}"
        return f"{allows}; the operator of {host} has to add the missing ones (docs/reference/lab.md)"
    if lacking_executables:
        needs = ", ".join(f"{name} needs {executable}" for name, executable in lacking_executables.items())
        return (
            f"{needs}, which {host} does not have on its PATH as an executable; install it there, or write its whole "
            f"path into {path}"
        )
    return ""


def _problem_of_report(host: Host) -> str:
    """Return why the programs of a remote host are not known, or that it allows none; empty otherwise."""
    if "programs" not in host.health:
        return (
            f"host {host} has not reported the programs that its operator allows; check the host, and if its drivetest "
            "is older than that of the register, install that one"
        )
    if problem := host.health.get("programs_problem"):
        return f"host {host}: {problem}"
    if not host.health["programs"]:
        return (
            f"host {host} allows no program of sweeps; its operator has to list the programs in {PROGRAMS_FILE} there "
            "(docs/reference/lab.md)"
        )
    return ""


def allowed_programs() -> set[str]:
    """Return the programs that this machine's operator allows.

    Raise OSError if the list cannot be read, PermissionError if only root can read it, and ValueError for another
    document.
    """
    return set(_listed_programs())


def _lacking_executables(programs: Mapping[str, Any]) -> dict[str, str]:
    """Return the programs that need an executable which this machine lacks, each with it, such as java."""
    missing = {}
    for name, program in programs.items():
        argv = program.get("argv") if isinstance(program, dict) else None
        if isinstance(argv, list) and argv and shutil.which(str(argv[0])) is None:
            missing[name] = str(argv[0])
    return missing


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
