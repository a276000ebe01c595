"""Plain files that serve as devices: ACT is told their size, in whole MiB."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings

from runners.hosts.drive_keys import keys_of
from runners.hosts.protocol import Identity, LabHost
from runners.models import Device, Dispatch, Host
from runners.models.dispatch import DESTROY

MIB_BYTES = 1024 * 1024


def is_plain_file(path: str) -> bool:
    """Tell whether a device is a file, which ACT needs to be told the size of; nodes of devices live in /dev."""
    return not path.startswith("/dev/")


SIGNATURE, SIGNATURE_ERROR = "signature", "signature_error"
# Refusals that say that somebody uses the drive, or that it cannot be opened: nothing is read from it then.
# Source: runners/drivetest/crates/device/src/identity/mod.rs, IN_USE.
IN_USE = frozenset({"mounted", "boot", "held", "swap", "claimed", "no-access", "open", "busy"})


def is_told(document: Mapping[str, Any]) -> bool:
    """Tell whether a host looked at what a drive holds, and said what it recognises, be it nothing."""
    if SIGNATURE not in document or document[SIGNATURE] is not None:
        return SIGNATURE in document
    if document.get(SIGNATURE_ERROR):  # it could not be read: earlier programs tell it like an empty drive
        return False
    return IN_USE.isdisjoint(refusal["id"] for refusal in document.get("refusals") or ())


def signature_of(document: Mapping[str, Any]) -> str:
    """Return what was recognised on a drive; empty for nothing, and where the host did not tell."""
    return document.get(SIGNATURE) or ""


# act_storage works in large blocks of 128 KiB and needs at least one; below this many a run would only hit a cache.
LARGE_BLOCK_BYTES = 128 * 1024
LEAST_DEVICE_BYTES = 64 * LARGE_BLOCK_BYTES


def may_be_told_to_destroy(device: Device) -> bool:
    """Tell whether an order may have recognised data written over: over SSH the host's operator alone may."""
    return device.host.kind != Host.Kind.SSH


def objections_to_device(identity: Identity) -> list[str]:
    """Return, as sentences, why a device must not be written to; empty where it may be."""
    objections = list(identity.refusals)
    if identity.size_bytes < LEAST_DEVICE_BYTES:
        objections.append(
            f"{identity.path}: {identity.size_bytes} bytes; expected at least {LEAST_DEVICE_BYTES}; "
            "choose a larger device"
        )
    if is_plain_file(identity.path) and identity.size_bytes % MIB_BYTES:
        objections.append(
            f"{identity.path}: {identity.size_bytes} bytes; expected whole MiB, which is how ACT is told a file's size"
        )
    return objections + _objections_to_place(identity)


def _objections_to_place(identity: Identity) -> list[str]:
    """The register's own files are evidence: neither they nor loop devices over them are drives."""
    places = [identity.path, identity.document.get("backing") or ""]
    data = settings.DATA_DIR.resolve()
    ours = [place for place in places if place and Path(place).resolve().is_relative_to(data)]
    return [
        f"{place}: lies in the register's data directory {data}; expected another place; nothing there is loaded"
        for place in ours
    ]


def objections_to_binding(host: Host, lab_host: LabHost, identity: Identity) -> list[str]:
    """Return, as sentences, why what a path names must not become a device of the register."""
    objections = objections_to_device(identity)
    # What is bound already was looked at then, and may hold what runs have written since.
    is_known = Device.objects.filter(host=host, drive_key__in=keys_of(identity.drive_key)).exists()
    is_file = identity.drive_key.startswith("file:") and not identity.document.get("backing")
    if is_file and not is_known and any(lab_host.first_bytes(identity.path, MIB_BYTES)):
        objections.append(
            f"{identity.path}: expected a file that is empty or zero in its first MiB, as one created here is; "
            "found data; name a new file and give a size"
        )
    return objections


def objections_to_start(dispatch: Dispatch, identity: Identity) -> list[str]:
    """Return, as sentences, why the ordered load must not start on what the path names now."""
    if identity.drive_key != dispatch.drive_key:
        return [
            f"{identity.path}: expected drive {dispatch.drive_key}, found {identity.drive_key}; "
            "nothing was written; add the device again and order anew"
        ]
    objections = objections_to_device(identity)
    if identity.size_bytes != dispatch.device.size_bytes:
        objections.append(
            f"{identity.path}: expected {dispatch.device.size_bytes} bytes, found {identity.size_bytes}; "
            "add the device again"
        )
    return objections + _objections_to_consent(dispatch, identity)


def _objections_to_consent(dispatch: Dispatch, identity: Identity) -> list[str]:
    """A consent is for the data that its page showed; without one drivetest refuses whatever it recognises.

    Orders of earlier versions hold True: nobody knows any more what was shown, so it covers nothing that is there now.
    """
    consented, found = dispatch.options.get(DESTROY), signature_of(identity.document)
    if not consented or not found or found == consented:
        return []
    shown = consented if isinstance(consented, str) else "data that was not noted then"
    return [
        f"{identity.path}: expected {shown}, which the order may write over, found {found}; nothing was written; "
        "look at the device's page and order anew"
    ]
