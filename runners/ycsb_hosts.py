"""Where a YCSB sweep can be carried out: its programs are allowed by name on the register's own machine only."""

from pathlib import Path

from django.conf import settings

from runners.machine import is_here
from runners.models import Host

# Where drivetest looks for the operator's list. Source: runners/drivetest/crates/watch/src/programs.rs, DEFAULT_FILE.
PROGRAMS_FILE = "/etc/drivecert/programs.json"


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
    if host.kind != Host.Kind.LOCAL or not is_here(host.machine_id) or path.exists():
        return ""
    return f"{path} is not there: the operator of {host} lists in it which programs a sweep may run (docs/lab.md)"
