"""Whether a host may be given work: what it told at its last check, what speaks against it, how long ago that was."""

import shutil
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from runners.errors import HostError, StartFailedError
from runners.hosts.drive_keys import is_among
from runners.hosts.machine import NOBODY, is_here, why_unknown
from runners.hosts.ssh import SshHost
from runners.inventory.device_lookup import follow
from runners.inventory.service_state import retired_words
from runners.models import Device, Host

# So many periods may pass without a check; one may fall out when a worker is restarted.
PERIODS_WITHOUT = 3
# A host that gets no work is asked again after a minute; where it gave no answer, after twice as long each time.
UNFIT_PERIOD_S = 60
SILENT_CHECKS_MAX = 16
# What a check was asked of.
PINS = ("address", "port", "user", "host_key", "program_sha256")
MIB_BYTES = 1024 * 1024
NS_PER_S = 10**9
CLOCK_NS = range(2**63)  # what the kernel's own clock can hold


def why_no_work(host: Host) -> str:
    """Return why a host gets no work now, in one line; empty where it gets some."""
    return "; ".join(reasons_for_no_work(host))


def reasons_for_no_work(host: Host) -> list[str]:
    """Return each thing that speaks against giving a host work now; empty where it gets some.

    This machine needs no check on a schedule: its room is looked at here. Another machine looks at its own.
    """
    if retired := retired_words(host):
        return [f"it is {retired}"]
    if host.kind == Host.Kind.LOCAL:
        return _against_own(host)
    if host.objections:
        return list(host.objections)
    if host.checked_at is None:
        return ["it has not been checked yet"]
    if host.checked_at < timezone.now() - PERIODS_WITHOUT * _period():
        return [f"its last check is overdue: it was on {host.checked_at:%-d %B %Y, %H:%M} UTC"]
    return []


def _against_own(host: Host) -> list[str]:
    if host.machine_id != NOBODY and (unknown := why_unknown()):
        return [unknown]
    return list(_room(_own_room())) if is_here(host.machine_id) else []


def take_due(limit: int) -> list[Host]:
    """Take up to `limit` hosts in service over SSH whose check is due, the longest due first; of two workers one each.

    Taking puts the next check a period off: what a worker that dies has taken waits for so long.
    """
    with transaction.atomic():
        checked = Host.objects.filter(kind=Host.Kind.SSH, retired_at=None)
        due = checked.filter(next_check_at__lte=Now()).order_by("next_check_at", "pk")
        hosts = list(due.select_for_update(skip_locked=True)[:limit])
        Host.objects.filter(pk__in=[host.pk for host in hosts]).update(next_check_at=Now() + _period())
    return hosts


def check(host: Host, lab_host: SshHost | None = None) -> list[str]:
    """Ask a host how it is, keep what it says, and return what speaks against giving it work.

    What was asked of other pins than those of now is not kept: it is another machine's, or another program's.
    """
    pins = {name: getattr(host, name) for name in PINS}
    told, objections = _asked(host, lab_host or SshHost(host))
    silent_checks = 0 if told is not None else min(host.silent_checks + 1, SILENT_CHECKS_MAX)
    seen = {"objections": objections, "checked_at": timezone.now(), "silent_checks": silent_checks}
    again = {"next_check_at": Now() + _until_next(objections, silent_checks)}
    health = {} if told is None else {"health": told}
    is_kept = Host.objects.filter(pk=host.pk, **pins).update(**seen, **again, **health)
    host.refresh_from_db()
    if is_kept and told is not None:
        _follow_drives(host)
    return objections


def _follow_drives(host: Host) -> None:
    """Let bound devices follow their drives to the paths that the host has just told: pages name no other drive."""
    paths = {seen["drive_key"]: seen["paths"] for seen in host.health.get("devices") or ()}
    for device in host.devices.filter(drive_key__in=paths):
        if device.path not in paths[device.drive_key]:
            follow(device, paths[device.drive_key])


def _until_next(objections: list[str], silent_checks: int) -> timedelta:
    """Return when a host is asked again: an unfit one soon, a silent one the later the longer, a period at most."""
    if not objections:
        return _period()
    seconds = UNFIT_PERIOD_S << max(0, silent_checks - 1)
    return min(_period(), timedelta(seconds=seconds))


def _asked(host: Host, lab_host: SshHost) -> tuple[dict[str, Any] | None, list[str]]:
    """Return what a host tells, None where it tells nothing, and what speaks against it."""
    before = timezone.now()
    try:
        told = _typed(lab_host.health())
        asked_at = before + (timezone.now() - before) / 2
        told["clock_offset_s"] = round(told["clock_unix_ns"] / NS_PER_S - asked_at.timestamp(), 3)
        told["found"] = _found(lab_host)
        devices = host.devices.filter(retired_at=None).order_by("pk")
        told["devices"] = [_device(lab_host, device, told["drives"]) for device in devices]
        return told, objections_to(host, told)
    except HostError as error:
        return None, [str(error)]
    except (KeyError, TypeError) as error:
        return None, [f"{host}: expected drivecert.host-health/1, got none with {error}"]


def _typed(told: dict[str, Any]) -> dict[str, Any]:
    """Return what a host tells of itself where pages can show it. Raises KeyError, and TypeError for other types."""
    numbers = [told[name] for name in ("clock_unix_ns", "free_bytes", "size_bytes")]
    for value, wanted in [*((each, int) for each in numbers), *((each, str) for each in told["drives"])]:
        if type(value) is not wanted:
            raise TypeError(f"{value!r:.40} for a {wanted.__name__}")
    if told["clock_unix_ns"] not in CLOCK_NS:
        raise TypeError(f"{told['clock_unix_ns']} for nanoseconds since 1970")
    return told


def objections_to(host: Host, told: dict[str, Any]) -> list[str]:
    """Return, as sentences, why a host that told this must not be given work."""
    return [*_program(host, told), *_clock(told), *_room(told), *_drives(told)]


def _program(host: Host, told: dict[str, Any]) -> Iterable[str]:
    found = told["program_sha256"]
    if found != host.program_sha256:
        yield (
            f"its drivetest has SHA-256 {found[:16]}..., expected {host.program_sha256[:16]}... as it was pinned; "
            "install that program, or pin the new one with `manage.py add_host --replace`"
        )


def _clock(told: dict[str, Any]) -> Iterable[str]:
    if abs(told["clock_offset_s"]) > settings.HOST_CLOCK_OFFSET_MAX_S:
        yield (
            f"its clock is {told['clock_offset_s']:+.0f} s from the register's, expected at most "
            f"{settings.HOST_CLOCK_OFFSET_MAX_S} s; set it (chrony, systemd-timesyncd)"
        )


def _room(told: dict[str, Any]) -> Iterable[str]:
    free_mib = told["free_bytes"] // MIB_BYTES
    if free_mib < settings.HOST_FREE_MIB_MIN:
        yield (
            f"{told['state_dir']}: {free_mib} MiB free, expected at least {settings.HOST_FREE_MIB_MIN} MiB; "
            "give that directory more room, or remove run directories of dispatches that have ended (docs/lab.md) and "
            "nothing else there"
        )


def _own_room() -> dict[str, Any]:
    """Return the room where this machine's run directories lie, or will lie."""
    place = Path(settings.LAB_DIR)
    there = next(path for path in (place, *place.parents) if path.exists())
    return {"state_dir": str(place), "free_bytes": shutil.disk_usage(there).free}


def _drives(told: dict[str, Any]) -> Iterable[str]:
    if not told["drives"]:
        yield "its operator has listed no drive that may be loaded; list them in /etc/drivecert/host.toml"


def _device(lab_host: SshHost, device: Device, listed: list[str]) -> dict[str, Any]:
    """Return where a bound device is now and whether it may be loaded; that it is away speaks against itself only."""
    paths = lab_host.find(device.drive_key, device.size_bytes)
    is_listed = is_among(device.drive_key, listed)
    return {"label": device.label, "drive_key": device.drive_key, "paths": paths, "listed": is_listed}


def _found(lab_host: SshHost) -> list[dict[str, Any]] | None:
    """Return the drives that a host has; None where its drivetest is too old to know the question."""
    try:
        return [asdict(drive) for drive in lab_host.list_drives()]
    except StartFailedError:
        return None


def told_at(told: dict[str, Any]) -> datetime | None:
    """Return what the host's own clock said at its last check; None where it never told."""
    clock_unix_ns = told.get("clock_unix_ns")
    return None if clock_unix_ns is None else datetime.fromtimestamp(clock_unix_ns / NS_PER_S, UTC)


def _period() -> timedelta:
    return timedelta(seconds=settings.HOST_CHECK_PERIOD_S)
