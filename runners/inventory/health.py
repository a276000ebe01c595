"""Health of hosts: the report of the last check, objections to giving a host work, and when the next check is due."""

import shutil
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Case, F, Q, When
from django.db.models.functions import Now
from django.utils import timezone

from runners.errors import HostError, StartFailedError
from runners.hosts import REMOTE
from runners.hosts.drive_keys import is_among
from runners.hosts.machine import UNASSIGNED, is_this_machine, machine_id_error
from runners.hosts.wire import RemoteHost
from runners.inventory.enrolment import own_program_sha256
from runners.inventory.safety import follow_drive
from runners.inventory.service_state import retired_message
from runners.models import Agent, Device, Host
from runners.models.postgres import lock_host

# This many periods may pass without a check: a worker's restart may skip one.
PERIODS_WITHOUT = 3
# A host that gets no work is checked again after a minute, and a silent one after twice as long each time.
UNFIT_PERIOD_S = 60
SILENT_CHECKS_MAX = 16
CLOCK_SET_BACK = 2  # periods ahead: no check is scheduled so late
# A report is valid for these pins only.
PINS = ("address", "port", "user", "host_key", "program_sha256")
MIB_BYTES = 1024 * 1024
NS_PER_S = 10**9
CLOCK_NS = range(2**63)  # the range of the kernel's clock


def no_work_message(host: Host) -> str:
    """Return in one line why a host gets no work now; empty if it gets work."""
    return "; ".join(no_work_reasons(host))


def no_work_reasons(host: Host) -> list[str]:
    """Return each reason against giving a host work now; empty if it gets work.

    This machine needs no scheduled check: its free space is read here. Another local machine checks its own.
    """
    if retired := retired_message(host):
        return [f"it is {retired}"]
    if not host.is_remote:
        return _own_objections(host)
    if host.objections:
        return list(host.objections)
    if host.checked_at is None:
        return ["it has not been checked yet"]
    if host.checked_at < timezone.now() - PERIODS_WITHOUT * _period():
        return [f"its last check is overdue: it was on {host.checked_at:%-d %B %Y, %H:%M} UTC"]
    return []


def _own_objections(host: Host) -> list[str]:
    if host.machine_id != UNASSIGNED and (unknown := machine_id_error()):
        return [unknown]
    return list(_room(_own_room())) if is_this_machine(host.machine_id) else []


def take_due_hosts(limit: int) -> list[Host]:
    """Take up to `limit` remote hosts in service whose check is due. No two workers share one.

    The longest due come first. One that is silent, which takes up a thread for as long as an answer may take, counts as
    due a period later than it is. A check that is several periods ahead was scheduled before the clock was set back:
    it is due. Taking postpones the next check by a period: hosts that a dead worker took wait that long.
    """
    with transaction.atomic():
        checked = Host.objects.filter(retired_at=None, kind__in=Host.REMOTE_KINDS)
        after = Case(When(silent_checks__gt=0, then=F("next_check_at") + _period()), default=F("next_check_at"))
        is_due = Q(next_check_at__lte=Now()) | Q(next_check_at__gt=Now() + CLOCK_SET_BACK * _period())
        due = checked.filter(is_due).order_by(after, "pk")
        hosts = list(due.select_for_update(skip_locked=True)[:limit])
        Host.objects.filter(pk__in=[host.pk for host in hosts]).update(next_check_at=Now() + _period())
    return hosts


def check(host: Host, lab_host: RemoteHost | None = None) -> list[str]:
    """Query a host's health, store its report, and return the objections to giving it work.

    If the pins changed meanwhile, the report is not stored: it belongs to another machine or another program.
    """
    pins = {name: getattr(host, name) for name in PINS}
    if host.kind == Host.Kind.AGENT:  # another machine may join meanwhile
        pins |= {"agent__secret_hash": Agent.objects.values_list("secret_hash", flat=True).get(host=host)}
    report, objections = _query(host, lab_host or REMOTE[host.kind](host))
    silent_checks = 0 if report is not None else min(host.silent_checks + 1, SILENT_CHECKS_MAX)
    seen = {"objections": objections, "checked_at": timezone.now(), "silent_checks": silent_checks}
    again = {"next_check_at": Now() + _until_next(objections, silent_checks)}
    health = {} if report is None else {"health": report}
    with transaction.atomic():
        lock_host(host.pk)  # no agent joins between the comparison and the update
        is_stored = Host.objects.filter(pk=host.pk, **pins).update(**seen, **again, **health)
    host.refresh_from_db()
    if is_stored and report is not None:
        _follow_drives(host)
    return objections


def _follow_drives(host: Host) -> None:
    """Update the paths of bound devices from the report, so that pages show no other drive's path."""
    paths = {seen["drive_key"]: seen["paths"] for seen in host.health.get("devices") or ()}
    for device in host.devices.filter(drive_key__in=paths):
        if device.path not in paths[device.drive_key]:
            follow_drive(device, paths[device.drive_key])


def _until_next(objections: list[str], silent_checks: int) -> timedelta:
    """Return the time until the next check: short for an unfit host, doubled for each check without an answer."""
    if not objections:
        return _period()
    seconds = UNFIT_PERIOD_S << max(0, silent_checks - 1)
    return min(_period(), timedelta(seconds=seconds))


def _query(host: Host, lab_host: RemoteHost) -> tuple[dict[str, Any] | None, list[str]]:
    """Return a host's report, None if it gave none, and the objections to giving it work."""
    before = timezone.now()
    try:
        report = _validated(lab_host.health())
        sampled_at = before + (timezone.now() - before) / 2
        report["clock_offset_s"] = round(report["clock_unix_ns"] / NS_PER_S - sampled_at.timestamp(), 3)
        report["found"] = _found(lab_host)
        devices = host.devices.filter(retired_at=None).order_by("pk")
        report["devices"] = [_device(lab_host, device, report["drives"]) for device in devices]
        return report, list(_objections(host, report))
    except HostError as error:
        return None, [str(error)]
    except (KeyError, TypeError) as error:
        return None, [f"{host}: expected drivecert.host-health/1, got none with {error}"]


def _validated(report: dict[str, Any]) -> dict[str, Any]:
    """Return a host's report if pages can show it. Raise KeyError, or TypeError for other types."""
    numbers = [report[name] for name in ("clock_unix_ns", "free_bytes", "size_bytes")]
    for value, wanted in [*((each, int) for each in numbers), *((each, str) for each in report["drives"])]:
        if type(value) is not wanted:
            raise TypeError(f"{value!r:.40} for a {wanted.__name__}")
    for program in report.get("programs") or ():  # earlier versions of drivetest report none
        if [type(program[name]) for name in ("name", "executable", "is_installed")] != [str, str, bool]:
            raise TypeError(f"{program!r:.80} for a program")
    if report["clock_unix_ns"] not in CLOCK_NS:
        raise TypeError(f"{report['clock_unix_ns']} for nanoseconds since 1970")
    return report


def _objections(host: Host, report: dict[str, Any]) -> Iterable[str]:
    """Yield, as sentences, why a host with this report must not get work."""
    found, clock_offset_s = report["program_sha256"], report["clock_offset_s"]
    if found != host.program_sha256:
        yield (
            f"its drivetest has SHA-256 {found[:16]}..., expected {host.program_sha256[:16]}..., the pinned one; "
            f"{_program_remedy(host)}"
        )
    if abs(clock_offset_s) > settings.HOST_CLOCK_OFFSET_MAX_S:
        yield (
            f"its clock is {clock_offset_s:+.0f} s from the register's, expected at most "
            f"{settings.HOST_CLOCK_OFFSET_MAX_S} s; set it (chrony, systemd-timesyncd)"
        )
    yield from _room(report)
    if not report["drives"] and not report.get("programs"):  # with programs, it may send the requests of sweeps
        yield "its operator has listed no drive that may be loaded; list the drives in /etc/drivecert/host.toml"


def _program_remedy(host: Host) -> str:
    """Return how the program of a host and the pinned one become the same."""
    if host.kind == Host.Kind.AGENT and host.program_sha256 != own_program_sha256():
        return (
            "install that program and run `systemctl restart drivecert-agent`, or choose *Pin this drivetest* on the "
            "page of the host: the register has another program"
        )
    if host.kind == Host.Kind.AGENT:
        return (
            f"install that program and run `systemctl restart drivecert-agent`, or add {host.program_sha256} to the "
            "list `updates` in /etc/drivecert/host.toml there: its agent then fetches it from the register"
        )
    return "install that program, or pin the new one with `manage.py add_host --replace`"


def _room(report: dict[str, Any]) -> Iterable[str]:
    free_mib = report["free_bytes"] // MIB_BYTES
    if free_mib < settings.HOST_FREE_MIB_MIN:
        yield (
            f"{report['state_dir']}: {free_mib} MiB free, expected at least {settings.HOST_FREE_MIB_MIN} MiB; "
            "enlarge that file system, or remove run directories of ended dispatches, and nothing else "
            "(docs/reference/lab.md)"
        )


def _own_room() -> dict[str, Any]:
    """Return the free space where this machine's run directories are, or will be."""
    directory = Path(settings.LAB_DIR)
    existing = next(path for path in (directory, *directory.parents) if path.exists())
    return {"state_dir": str(directory), "free_bytes": shutil.disk_usage(existing).free}


def _device(lab_host: RemoteHost, device: Device, listed: list[str]) -> dict[str, Any]:
    """Return the current paths of a bound device and whether it may be loaded. A missing drive affects only itself."""
    paths = lab_host.find(device.drive_key, device.size_bytes)
    may_be_loaded = is_among(device.drive_key, listed)
    return {"label": device.label, "drive_key": device.drive_key, "paths": paths, "listed": may_be_loaded}


def _found(lab_host: RemoteHost) -> list[dict[str, Any]] | None:
    """Return the drives of a host; None if its drivetest is too old for the request."""
    try:
        return [asdict(drive) for drive in lab_host.list_drives()]
    except StartFailedError:
        return None


def reported_at(report: dict[str, Any]) -> datetime | None:
    """Return the host's own clock at its last check; None if it never reported."""
    clock_unix_ns = report.get("clock_unix_ns")
    return None if clock_unix_ns is None else datetime.fromtimestamp(clock_unix_ns / NS_PER_S, UTC)


def is_listed(host: Host, drive_key: str) -> bool | None:
    """Return whether a host's operator lists a drive as loadable; None if not reported, and on hosts without a list."""
    listed = host.health.get("drives")
    if not host.is_remote or listed is None:
        return None
    return is_among(drive_key, listed)


def _period() -> timedelta:
    return timedelta(seconds=settings.HOST_CHECK_PERIOD_S)
