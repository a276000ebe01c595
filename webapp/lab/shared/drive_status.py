"""The status of a drive before an order: whether it is free, warnings about its data, and consent to overwrite it.

Every page that orders a run includes lab/shared/consent.html.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from results.models import Preparation
from runners.campaigns.commands import open_on
from runners.campaigns.outcomes import rung_of, with_readings
from runners.campaigns.terms import Result, Terms
from runners.errors import HostError, HostUnavailableError, RequestRefusedError
from runners.hosts.drive_keys import is_same_drive
from runners.hosts.local import LocalHost
from runners.hosts.protocol import DriveUse, FoundDrive, parse_drives
from runners.inventory.devices import (
    all_last_identified,
    in_service_since,
    is_missing,
    is_queried_now,
    last_identified,
)
from runners.inventory.health import is_listed, reported_at
from runners.inventory.safety import (
    SIGNATURE_ERROR,
    holds_file,
    is_signature_reported,
    may_consent_on_page,
    signature_of,
)
from runners.inventory.service_state import out_of_service
from runners.models import HAS_WRITTEN, LOST_UNCONFIRMED, Device, Dispatch, DriveState, Host, exit_codes
from runners.models.dispatch import CONSENT_OPTION
from runners.models.states import LIVE, State
from runners.recipes.base import YCSB
from webapp.lab.shared.drive_warnings import DriveWarning, WarningCode

LABEL_FIELD, SHOWN_FIELD, LOCATION_FIELD = "typed_label", "shown_signature", "shown_place"


def drive_states(device: Device) -> QuerySet[DriveState]:
    """Return the recorded states of the drive of a device on all of its hosts, newest first."""
    return DriveState.objects.filter(drive_key=device.drive_key).select_related("dispatch").order_by("-at", "-pk")


def preparations(device: Device) -> QuerySet[Preparation]:
    """Return the preparations of the drive of a device on all of its hosts, the one that ended last first."""
    return Preparation.objects.filter(drive_key=device.drive_key).order_by("-finished_at", "-pk")


def binding_warnings(
    host: Host, path: str, drive_key: str, document: Mapping[str, Any], *, is_in_use: bool = False
) -> list[DriveWarning]:
    """Return the warnings about a drive that its host has just identified."""
    if is_in_use:
        return [DriveWarning(WarningCode.NOT_CHECKED, {"path": path}), *_listing_warnings(host, drive_key)]
    is_empty = holds_file(drive_key, document)
    return _data_warnings(host, path, document, None, is_empty) + _listing_warnings(host, drive_key)


def drive_warnings(device: Device) -> list[DriveWarning]:
    """Return the warnings about a device, from the last report of its host."""
    if out_of_service(device):
        return [DriveWarning(WarningCode.RETIRED, {"device": device})]
    document, at = last_identified(device)
    about_data = _data_warnings(device.host, device.path, document, at, is_content_known(device))
    return about_data + _listing_warnings(device.host, device.drive_key) + _overload_warnings(device)


def with_warning_codes(devices: QuerySet[Device]) -> list[tuple[Device, list[WarningCode]]]:
    """Return devices, each with the codes of its warnings; the device's own page shows the texts."""
    return [(device, codes) for device, codes, _ in with_reports(devices)]


def with_reports(devices: QuerySet[Device]) -> list[tuple[Device, list[WarningCode], Mapping[str, Any]]]:
    """Return the same with the last identity of each device; empty for one that was added at this moment."""
    reports = all_last_identified(devices)
    found = [
        (device, reports[device.pk][0] if device.pk in reports else {}) for device in devices.select_related("host")
    ]
    return [(device, _warning_codes(device, document), document) for device, document in found]


def _warning_codes(device: Device, document: Mapping[str, Any]) -> list[WarningCode]:
    holds_data = bool(signature_of(document))
    is_unlisted = is_listed(device.host, device.drive_key) is False
    return [WarningCode.HOLDS_DATA] * holds_data + [WarningCode.NOT_LISTED] * is_unlisted


def is_content_known(device: Device) -> bool:
    """Return whether a drive without recognised data is known to be empty or to hold only data of the register.

    A database may use a drive without a file system or partition table, so a missing signature proves nothing.
    The content is known for a plain file, which can only be added while it is empty.
    It is also known once a run of the register has written to the drive since it was added or returned to service.
    A refused run has written nothing, because drivetest checks the drive before it writes. A YCSB sweep has
    overwritten the drive only if a stage that formats or wipes it was started.
    """
    if holds_file(device.drive_key, device.identity):
        return True
    has_overwritten = HAS_WRITTEN & (~Q(recipe=YCSB) | Q(resets_drive_at__isnull=False))
    since = in_service_since(device)
    runs = Dispatch.objects.filter(has_overwritten, drive_key=device.drive_key, started_at__gte=since)
    return runs.exclude(Q(state=State.REFUSED) | Q(exit_status=exit_codes.REFUSED)).exists()


def _data_warnings(
    host: Host, path: str, document: Mapping[str, Any], reported_at: datetime | None, is_known: bool
) -> list[DriveWarning]:
    """Warn about data on a drive. `reported_at` is None if the host has just identified it."""
    details: dict[str, Any] = {"path": path, "reported_at": reported_at}
    if signature := signature_of(document):
        return [DriveWarning(WarningCode.HOLDS_DATA, details | {"host": host, "signature": signature})]
    if not is_signature_reported(document):
        error = str(document.get(SIGNATURE_ERROR) or "")
        return [DriveWarning(WarningCode.DATA_UNKNOWN, details | {"error": error})]
    return [] if is_known else [DriveWarning(WarningCode.MAY_HOLD_DATA, details)]


def _overload_warnings(device: Device) -> list[DriveWarning]:
    """Warn after a run that overloaded the drive, for as long as a campaign would let the drive rest."""
    rest = timedelta(seconds=Terms().overload_rest_s)
    ended = Dispatch.objects.filter(drive_key=device.drive_key, started_at__isnull=False, ended_at__isnull=False)
    last = with_readings(ended.order_by("-ended_at")[:1]).first()
    if last is None or last.ended_at is None or (age := timezone.now() - last.ended_at) >= rest:
        return []
    if rung_of(last, ()).outcome.result is not Result.OVERLOADED:
        return []
    return [DriveWarning(WarningCode.OVERLOADED, {"dispatch": last, "ended_ago": age, "rest": rest})]


def _listing_warnings(host: Host, drive_key: str) -> list[DriveWarning]:
    if not host.is_remote:
        return []
    listed = is_listed(host, drive_key)
    if listed is None:
        return [DriveWarning(WarningCode.LIST_UNKNOWN, {"host": host})]
    details = {"host": host, "drive_key": drive_key, "reported_at": reported_at(host.health)}
    return [] if listed else [DriveWarning(WarningCode.NOT_LISTED, details)]


def use_message(drive: FoundDrive) -> str:
    """Return what the host uses a drive for: mounted at /, held by another device. Empty for a drive without a use."""
    points = f"mounted at {', '.join(dict.fromkeys(drive.mount_points or []))}"
    messages = {
        DriveUse.MOUNTED: points,
        DriveUse.HELD: "held by another device",
        DriveUse.SWAP: "used as swap",
        DriveUse.OPEN: "open in a program",
    }
    return ", ".join(messages[DriveUse(use)] for use in drive.uses or [])


def availability_of(device: Device) -> dict[str, Any]:
    """Return what uses the drive of a device on all of its hosts; if `is_free`, an order is claimed at once."""
    on_drive = Dispatch.objects.filter(drive_key=device.drive_key)
    uses = {
        "is_missing": is_missing(device),
        "host_use": _reported_use(device),
        "campaign": open_on(device.drive_key),
        "dispatch": on_drive.filter(Q(state__in=LIVE) | LOST_UNCONFIRMED).order_by("-ordered_at").first(),
        "queued_count": on_drive.filter(state=State.QUEUED).count(),
    }
    return uses | {"is_free": not any(uses.values())}


def without_open(drive: FoundDrive) -> FoundDrive:
    """Return a drive without the use by a program that has it open: a load of the register has its drive open too."""
    return replace(drive, uses=[use for use in drive.uses or () if use != DriveUse.OPEN])


def _reported_use(device: Device) -> str:
    """Return what a remote host used the drive for at its last check, apart from programs that have it open.

    This machine reports what it uses the drive for now, unless a run is on one of its drives.
    """
    if not device.host.is_remote:
        return _use_now(device) if is_queried_now(device.host) else ""
    location = {"path": device.path, "drive_key": device.drive_key}
    rows = [row for row in device.host.health.get("found") or [] if location.items() <= row.items()]
    try:
        found = parse_drives({"drives": rows})
    except HostUnavailableError:  # stored by an earlier version, which did not check it
        return ""
    return ", ".join(filter(None, (use_message(without_open(drive)) for drive in found)))


def _use_now(device: Device) -> str:
    """Return what this machine uses the drive for; empty if it cannot list its drives."""
    try:
        drives = LocalHost().list_drives()
    except HostError:
        return ""
    here = (drive for drive in drives if drive.path == device.path and is_same_drive(drive.drive_key, device.drive_key))
    return ", ".join(filter(None, map(use_message, here)))


def consent_context(device: Device) -> dict[str, Any]:
    """Return what a page shows above the button that overwrites a device."""
    # Read the signature before the warnings: a change between the two then refuses the order.
    shown = _last_signature(device)
    return {
        "device": device,
        "shown_signature": shown,
        "shown_location": _location(device),
        "warnings": drive_warnings(device),
        "must_type_label": must_type_label(device),
        "is_wiped_at_host": not may_consent_on_page(device),
    }


def must_type_label(device: Device) -> bool:
    """Return whether an order needs the device's label typed: the drive holds data, or its content is unknown."""
    document, _ = last_identified(device)
    return not is_signature_reported(document) or bool(signature_of(document)) or not is_content_known(device)


def options_with_consent(device: Device, posted: Mapping[str, str], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return an order's options, extended by the consent to overwrite the data that the page showed.

    Only recognised data needs this option: drivetest refuses data that the host had not reported.
    Raises RequestRefusedError if the drive's content or the device's location changed, or if the label was not typed.
    """
    signature, shown = _last_signature(device), posted.get(SHOWN_FIELD, "")
    if signature != shown:
        raise RequestRefusedError(
            f"The content of {device.path} changed: the page showed {_or_nothing(shown)}, the drive now holds "
            f"{_or_nothing(signature)}. Check the drive, then order again.",
            "content-changed",
        )
    must_type, typed = must_type_label(device), posted.get(LABEL_FIELD, "").strip()
    # All partitions and namespaces of a drive are one device. The consent therefore includes the path and the size.
    if must_type and (location := posted.get(LOCATION_FIELD, "")) != _location(device):
        raise RequestRefusedError(
            f"The location of {device.label} changed: the page showed {location or 'nothing'}, it is now "
            f"{_location(device)}. Check the drive, then order again.",
            "location-changed",
        )
    if must_type and typed != device.label.strip():
        raise RequestRefusedError(
            f"The label does not match. Expected {device.label}, got {typed or 'nothing'}. Type the device's label.",
            "label-mismatch",
        )
    return {**options, CONSENT_OPTION: signature} if signature and may_consent_on_page(device) else dict(options)


def _location(device: Device) -> str:
    return f"{device.path} of {device.size_bytes} bytes"


def _last_signature(device: Device) -> str:
    """Return the data that the host last recognised on a drive; empty for none and if it was not reported."""
    document, _ = last_identified(device)
    return signature_of(document)


def _or_nothing(signature: str) -> str:
    return signature or "no recognised data"
