"""What a person should know of a drive before it is written over: data on it, and whether its host would load it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone

from runners.campaigns.ladder import rung_of, with_what_was_read
from runners.campaigns.outcome import Result
from runners.campaigns.terms import Terms
from runners.foreseen import SIGNATURE, is_listed, last_bound_at, last_identified
from runners.health import told_at
from runners.models import Device, Dispatch, Host
from runners.out_of_service import out_of_service
from runners.recipes.act_config import DESTROY
from runners.safety import may_be_told_to_destroy
from webapp.templatetags.units import counted, duration, moment

MINUTE_S = 60
LABEL_FIELD = "typed_label"


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
    if retired := out_of_service(device):
        return [Caution("retired", retired)]
    document, at = last_identified(device)
    told = _of_data(device.path, document, f"as its host said on {moment(at)}", _is_known(device))
    return told + _of_list(device.host, device.drive_key) + _of_overload(device)


def must_type_label(device: Device) -> bool:
    """Tell whether an order needs the device's label typed: data was recognised on it, or nobody knows that none is."""
    return _is_data_told(device) or not _is_known(device)


def _is_data_told(device: Device) -> bool:
    """Tell whether data was recognised on a drive, or its host never told whether there is any."""
    document, _ = last_identified(device)
    return SIGNATURE not in document or document[SIGNATURE] is not None


def _is_known(device: Device) -> bool:
    """Tell whether it is known what lies on a drive where nothing is recognised: a database may use it without a mark.

    Since it was bound a run of the register has written there, which a person has ordered; or it is a plain file, which
    is bound only when empty.
    """
    if _is_plain_file(device.drive_key, device.identity):
        return True
    since = Dispatch.objects.filter(drive_key=device.drive_key, started_at__gte=last_bound_at(device))
    return since.exists()


def _is_plain_file(drive_key: str, document: Mapping[str, Any]) -> bool:
    return drive_key.startswith("file:") and not document.get("backing")


def objection_to_label(device: Device, typed: str) -> str:
    """Return why an order is not taken: the label that was asked for is missing or another; empty where all is well."""
    if not must_type_label(device) or typed.strip() == device.label.strip():
        return ""
    return (
        f"Nothing was ordered: expected the device's label, {device.label}, typed to confirm; got {typed or 'nothing'}."
    )


def with_consent(device: Device, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return an order's options with the consent that the typed label gave: what the page told of is written over."""
    consents = _is_data_told(device) and may_be_told_to_destroy(device)
    return {**options, DESTROY: True} if consents else dict(options)


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


def _of_overload(device: Device) -> list[Caution]:
    """Tell of a last run that was too much for the drive, for as long as a campaign would let it rest."""
    rest = timedelta(seconds=Terms().overload_rest_s)
    ended = Dispatch.objects.filter(drive_key=device.drive_key, started_at__isnull=False, ended_at__isnull=False)
    last = with_what_was_read(ended.order_by("-ended_at")[:1]).first()
    if last is None or last.ended_at is None or (age := timezone.now() - last.ended_at) >= rest:
        return []
    if rung_of(last, ()).outcome.result is not Result.OVERLOADED:
        return []
    minutes = counted(int(age.total_seconds()) // MINUTE_S, "minute")
    sentence = (
        f"The last run, {last}, overloaded the drive and ended {minutes} ago: for some hours it may look worse than it "
        f"is. A campaign leaves it alone for {duration(rest.seconds)} first."
    )
    return [Caution("overloaded", sentence)]


def _of_list(host: Host, drive_key: str) -> list[Caution]:
    if host.kind != Host.Kind.SSH:
        return []
    listed, at = is_listed(host, drive_key), moment(told_at(host.health))
    if listed is None:
        return [Caution("list unknown", f"Host {host} has not told yet which drives may be loaded. Check it first.")]
    if listed:
        return []
    asked = f"as it said on {at}" if at else "as it said at its last check"
    return [
        Caution(
            "not listed",
            f"The operator of host {host} has not listed drive {drive_key} in /etc/drivecert/host.toml, {asked}. "
            "No run starts on it until then.",
        )
    ]
