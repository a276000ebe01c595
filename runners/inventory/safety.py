"""The register's own checks before a drive is written to. The host and drivetest check again."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings

from runners.hosts.drive_keys import keys_of
from runners.hosts.protocol import Identity, LabHost
from runners.models import Device, Dispatch, Host
from runners.models.dispatch import CONSENT_OPTION

MIB_BYTES = 1024 * 1024


def is_plain_file(path: str) -> bool:
    """Return whether a device is a plain file, whose size ACT needs in whole MiB. Device nodes are in /dev."""
    return not path.startswith("/dev/")


def holds_file(drive_key: str, document: Mapping[str, Any]) -> bool:
    """Return whether a bound device is a plain file, by its key and drivecert.identity/1."""
    return drive_key.startswith("file:") and not document.get("backing")


SIGNATURE, SIGNATURE_ERROR = "signature", "signature_error"
# Refusals for a drive that is in use or cannot be opened: its data is not read then.
# Source: runners/drivetest/crates/device/src/identity/mod.rs, IN_USE.
IN_USE = frozenset({"mounted", "boot", "held", "swap", "claimed", "no-access", "open", "busy"})


def is_signature_reported(document: Mapping[str, Any]) -> bool:
    """Return whether a host looked for data on a drive and reported the result, even if it found none."""
    if SIGNATURE not in document or document[SIGNATURE] is not None:
        return SIGNATURE in document
    if document.get(SIGNATURE_ERROR):  # a read error; earlier programs report it like an empty drive
        return False
    return IN_USE.isdisjoint(refusal["id"] for refusal in document.get("refusals") or ())


def signature_of(document: Mapping[str, Any]) -> str:
    """Return the data recognised on a drive; empty for none, and if the host did not report it."""
    return document.get(SIGNATURE) or ""


# act_storage works in large blocks of 128 KiB and needs at least one; below this many a run would only hit a cache.
LARGE_BLOCK_BYTES = 128 * 1024
MIN_DEVICE_BYTES = 64 * LARGE_BLOCK_BYTES


def may_consent_on_page(device: Device) -> bool:
    """Return whether an order may allow recognised data to be overwritten. On SSH hosts only the operator may."""
    return device.host.kind != Host.Kind.SSH


def objections_to_device(identity: Identity) -> list[str]:
    """Return, as sentences, why a device must not be written to; empty if it may be."""
    objections = list(identity.refusals)
    if identity.size_bytes < MIN_DEVICE_BYTES:
        objections.append(
            f"{identity.path}: {identity.size_bytes} bytes; expected at least {MIN_DEVICE_BYTES}; "
            "choose a larger device"
        )
    if is_plain_file(identity.path) and identity.size_bytes % MIB_BYTES:
        objections.append(
            f"{identity.path}: {identity.size_bytes} bytes; expected whole MiB: ACT takes a file's size in MiB"
        )
    return objections + _objections_to_location(identity)


def _objections_to_location(identity: Identity) -> list[str]:
    """Return objections to the register's own files: neither they nor loop devices over them are drives."""
    paths = [identity.path, identity.document.get("backing") or ""]
    data = settings.DATA_DIR.resolve()
    ours = [path for path in paths if path and Path(path).resolve().is_relative_to(data)]
    return [
        f"{path}: is in the register's data directory {data}; expected another location; nothing there is loaded"
        for path in ours
    ]


def objections_to_binding(host: Host, lab_host: LabHost, identity: Identity) -> list[str]:
    """Return, as sentences, why a path's device must not be bound in the register."""
    objections = objections_to_device(identity)
    # A bound file was checked at binding, and may contain what runs have written since.
    is_known = Device.objects.filter(host=host, drive_key__in=keys_of(identity.drive_key)).exists()
    if (
        holds_file(identity.drive_key, identity.document)
        and not is_known
        and any(lab_host.first_bytes(identity.path, MIB_BYTES))
    ):
        objections.append(
            f"{identity.path}: expected a file that is empty or zero in its first MiB, as one created here is; "
            "found data; name a new file and give a size"
        )
    return objections


def objections_to_start(dispatch: Dispatch, identity: Identity) -> list[str]:
    """Return, as sentences, why the ordered load must not start on the device at the path now."""
    if identity.drive_key != dispatch.drive_key:
        return [
            f"{identity.path}: expected drive {dispatch.drive_key}, found {identity.drive_key}; "
            "nothing was written; add the device again and repeat the order"
        ]
    objections = objections_to_device(identity)
    if identity.size_bytes != dispatch.device.size_bytes:
        objections.append(
            f"{identity.path}: expected {dispatch.device.size_bytes} bytes, found {identity.size_bytes}; "
            "add the device again"
        )
    return objections + _objections_to_consent(dispatch, identity)


def _objections_to_consent(dispatch: Dispatch, identity: Identity) -> list[str]:
    """Return an objection if the drive has other data than the order's consent names.

    Without a consent, drivetest refuses all recognised data. Orders of earlier versions store True: what their page
    showed is not known, so they cover no data.
    """
    consented, found = dispatch.options.get(CONSENT_OPTION), signature_of(identity.document)
    if not consented or not found or found == consented:
        return []
    shown = consented if isinstance(consented, str) else "data that the order did not record"
    return [
        f"{identity.path}: expected {shown}, which the order may write over, found {found}; nothing was written; "
        "check the device's page and repeat the order"
    ]
