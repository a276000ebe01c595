"""What a person should know of a drive before it is written over: data on it, and whether its host would load it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from results.models import Event
from runners.health import told_at
from runners.models import Device, Dispatch, DriveState, Host
from webapp.lab.host_drives import is_same_key
from webapp.templatetags.units import moment

LABEL_FIELD = "typed_label"
SIGNATURE = "signature"


@dataclass(frozen=True)
class Caution:
    """Two words, and the sentence that they stand before."""

    words: str
    sentence: str


def cautions_at_binding(host: Host, path: str, drive_key: str, document: Mapping[str, Any]) -> list[Caution]:
    """Return what stands against a drive that its host has identified just now."""
    is_empty = _is_plain_file(drive_key, document)
    return _of_data(path, document, "as its host says now", is_empty) + _of_list(host, drive_key)


def cautions_of(device: Device) -> list[Caution]:
    """Return what stands against a device, as far as its host has told so far."""
    document, at = last_identified(device)
    as_told = f"as its host said on {moment(at)}"
    return _of_data(device.path, document, as_told, _is_known(device)) + _of_list(device.host, device.drive_key)


def last_identified(device: Device) -> tuple[dict[str, Any], datetime]:
    """Return what the host told of the drive last, and when: at its binding, or at a look of a dispatch since."""
    bound_at = _bound_at(device)
    looks = DriveState.objects.filter(drive_key=device.drive_key, dispatch__device=device, at__gt=bound_at)
    told = looks.exclude(document={}).order_by("-at", "-pk").first()
    return (device.identity, bound_at) if told is None else (told.document, told.at)


def must_type_label(device: Device) -> bool:
    """Tell whether an order needs the device's label typed: data was recognised on it, or nobody knows that none is."""
    document, _ = last_identified(device)
    return SIGNATURE not in document or document[SIGNATURE] is not None or not _is_known(device)


def _is_known(device: Device) -> bool:
    """Tell whether it is known what lies on a drive where nothing is recognised: a database may use it without a mark.

    Since it was bound a run of the register has written there, which a person has ordered; or it is a plain file, which
    is bound only when empty.
    """
    if _is_plain_file(device.drive_key, device.identity):
        return True
    since = Dispatch.objects.filter(drive_key=device.drive_key, started_at__gte=_bound_at(device))
    return since.exists()


def _is_plain_file(drive_key: str, document: Mapping[str, Any]) -> bool:
    return drive_key.startswith("file:") and not document.get("backing")


def _bound_at(device: Device) -> datetime:
    bound = Event.objects.filter(kind="device-bound", subject_type="device", subject_id=str(device.pk))
    return bound.order_by("-at").values_list("at", flat=True).first() or device.added_at


def objection_to_label(device: Device, typed: str) -> str:
    """Return why an order is not taken: the label that was asked for is missing or another; empty where all is well."""
    if not must_type_label(device) or typed.strip() == device.label.strip():
        return ""
    return (
        f"Nothing was ordered: expected the device's label, {device.label}, typed to confirm; got {typed or 'nothing'}."
    )


def _of_data(path: str, document: Mapping[str, Any], as_told: str, is_known: bool) -> list[Caution]:
    if document.get(SIGNATURE):
        return [
            Caution(
                "holds data",
                f"{path} holds {document[SIGNATURE]}, {as_told}. A run is refused while it is there, unless "
                "the order says that it is written over.",
            )
        ]
    if SIGNATURE not in document:
        return [Caution("data unknown", f"Whether {path} holds data is not known, {as_told}. A run destroys what is.")]
    if not is_known:
        return [
            Caution(
                "may hold data",
                f"Nothing was recognised on {path}, {as_told}. That does not say that it is empty: a database may use "
                "a drive without a file system. A run destroys what is there.",
            )
        ]
    return []


def _of_list(host: Host, drive_key: str) -> list[Caution]:
    if host.kind != Host.Kind.SSH:
        return []
    listed, at = host.health.get("drives"), moment(told_at(host.health))
    if listed is None:
        return [Caution("list unknown", f"Host {host} has not told yet which drives may be loaded. Check it first.")]
    if any(is_same_key(key, drive_key) for key in listed):
        return []
    asked = f"as it said on {at}" if at else "as it said at its last check"
    return [
        Caution(
            "not listed",
            f"The operator of host {host} has not listed drive {drive_key} in /etc/drivecert/host.toml, {asked}. "
            "No run starts on it until then.",
        )
    ]
