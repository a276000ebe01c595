"""Whether a host may be given work: what it told at its last check, what speaks against it, how long ago that was."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from runners.errors import HostError
from runners.hosts.ssh import SshHost
from runners.models import Device, Host

# So many periods may pass without a check; one may fall out when a worker is restarted.
PERIODS_WITHOUT = 3
MIB_BYTES = 1024 * 1024
NS_PER_S = 10**9


def why_no_work(host: Host) -> str:
    """Return why a host gets no work now, as a sentence; empty where it gets some. This machine needs no check."""
    if host.kind == Host.Kind.LOCAL:
        return ""
    if host.objections:
        return "; ".join(host.objections)
    if host.checked_at is None:
        return "it has not been checked yet"
    if host.checked_at < timezone.now() - PERIODS_WITHOUT * _period():
        return f"its last check is overdue: it was at {host.checked_at:%Y-%m-%d %H:%M} UTC"
    return ""


def due() -> "QuerySet[Host, int]":
    """Return the keys of the hosts that are to be checked: after a period, and those that get no work at every call."""
    is_old = Q(checked_at__isnull=True) | Q(checked_at__lt=timezone.now() - _period())
    waiting = Host.objects.filter(is_old | ~Q(objections=[]), kind=Host.Kind.SSH)
    return waiting.order_by(F("checked_at").asc(nulls_first=True)).values_list("pk", flat=True)


def check_if_due(host_id: int) -> None:
    """Check a host unless somebody has just done so."""
    host = Host.objects.filter(pk__in=due()).filter(pk=host_id).first()
    if host is not None:
        check(host)


def check(host: Host, lab_host: SshHost | None = None) -> list[str]:
    """Ask a host how it is, keep what it says, and return what speaks against giving it work."""
    told, objections = _asked(host, lab_host or SshHost(host))
    Host.objects.filter(pk=host.pk).update(health=told, objections=objections, checked_at=timezone.now())
    host.refresh_from_db()
    return objections


def _asked(host: Host, lab_host: SshHost) -> tuple[dict[str, Any], list[str]]:
    """Return what a host tells, and what speaks against it; of a silent host, what it told before."""
    before = timezone.now()
    try:
        told = lab_host.health()
        asked_at = before + (timezone.now() - before) / 2
        told["clock_offset_s"] = round(told["clock_unix_ns"] / NS_PER_S - asked_at.timestamp(), 3)
        told["devices"] = [_device(lab_host, device, told["drives"]) for device in host.devices.order_by("pk")]
        return told, objections_to(host, told)
    except HostError as error:
        return host.health, [str(error)]
    except (KeyError, TypeError) as error:
        return host.health, [f"{host}: expected drivecert.host-health/1, got none with {error}"]


def objections_to(host: Host, told: dict[str, Any]) -> list[str]:
    """Return, as sentences, why a host that told this must not be given work."""
    return [*_program(host, told), *_clock(told), *_room(told), *_drives(told)]


def _program(host: Host, told: dict[str, Any]) -> Iterable[str]:
    found = told["program_sha256"]
    if found != host.program_sha256:
        yield (
            f"its drivetest has SHA-256 {found[:16]}..., expected {host.program_sha256[:16]}... as it was pinned; "
            "install that program, or pin the new one with `manage.py add_host`"
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
            "remove run directories (d-...) of dispatches that have ended, and nothing else there"
        )


def _drives(told: dict[str, Any]) -> Iterable[str]:
    if not told["drives"]:
        yield "its operator has listed no drive that may be loaded; list them in /etc/drivecert/host.toml"


def _device(lab_host: SshHost, device: Device, listed: list[str]) -> dict[str, Any]:
    """Return where a bound device is now and whether it may be loaded; that it is away speaks against itself only."""
    paths = lab_host.find(device.drive_key, device.size_bytes)
    return {"label": device.label, "drive_key": device.drive_key, "paths": paths, "listed": device.drive_key in listed}


def told_at(told: dict[str, Any]) -> datetime | None:
    """Return what the host's own clock said at its last check; None where it never told."""
    clock_unix_ns = told.get("clock_unix_ns")
    return None if clock_unix_ns is None else datetime.fromtimestamp(clock_unix_ns / NS_PER_S, UTC)


def _period() -> timedelta:
    return timedelta(seconds=settings.HOST_CHECK_PERIOD_S)
