"""What a person should know about a drive before an order: whether it is free, and warnings."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from runners.campaigns.commands import open_on
from runners.campaigns.ladder import rung_of, with_readings
from runners.campaigns.terms import Result, Terms
from runners.dispatch.preflight import all_last_identified, in_service_since, is_listed, last_identified
from runners.inventory.health import reported_at
from runners.inventory.safety import SIGNATURE_ERROR, is_signature_reported, signature_of
from runners.inventory.service_state import out_of_service
from runners.models import HAS_WRITTEN, LOST_UNCONFIRMED, Device, Dispatch, Host, exit_codes
from runners.models.campaign import Campaign
from runners.models.states import LIVE, State
from runners.recipes.base import YCSB
from webapp.templatetags.units import counted, duration, moment

MINUTE_S = 60
HOLDS_DATA, NOT_LISTED = "holds data", "not listed"


@dataclass(frozen=True)
class Caution:
    """Two words, and the sentence that they stand before."""

    words: str
    sentence: str


def cautions_at_binding(
    host: Host, path: str, drive_key: str, document: Mapping[str, Any], *, is_in_use: bool = False
) -> list[Caution]:
    """Return what stands against a drive that its host has identified just now; one in use was not looked at."""
    if is_in_use:
        unseen = f"Whether {path} holds data was not looked at, because it is in use."
        return [Caution("not looked at", unseen), *_of_list(host, drive_key)]
    is_empty = _is_plain_file(drive_key, document)
    return _of_data(host, path, document, "as its host says now", is_empty) + _of_list(host, drive_key)


def cautions_of(device: Device) -> list[Caution]:
    """Return what stands against a device, as far as its host has told so far."""
    if retired := out_of_service(device):
        return [Caution("retired", retired)]
    document, at = last_identified(device)
    told = _of_data(device.host, device.path, document, f"as its host said on {moment(at)}", is_content_known(device))
    return told + _of_list(device.host, device.drive_key) + _of_overload(device)


def with_marks(devices: QuerySet[Device]) -> list[tuple[Device, list[str]]]:
    """Return devices, each with what a list says against it in two words; its own page has the sentences."""
    told = all_last_identified(devices)
    return [(device, _marks(device, told)) for device in devices.select_related("host")]


def _marks(device: Device, told: Mapping[int, tuple[Mapping[str, Any], datetime]]) -> list[str]:
    holds_data = device.pk in told and bool(signature_of(told[device.pk][0]))
    is_unlisted = is_listed(device.host, device.drive_key) is False
    return [HOLDS_DATA] * holds_data + [NOT_LISTED] * is_unlisted


def is_content_known(device: Device) -> bool:
    """Tell whether it is known what lies on a drive where nothing is recognised: a database may use it without a mark.

    Since it was bound or taken back into service a run of the register has written there, which a person has ordered;
    or it is a plain file, which is bound only when empty. A run has started before drivetest looks at the drive: one
    that was refused then has written nothing there, and its log holds the refusal alone. Of a sweep the lines are its
    client's: it has written over the drive only where a stage was begun that formats or wipes it.
    """
    if _is_plain_file(device.drive_key, device.identity):
        return True
    wrote_there = HAS_WRITTEN & (~Q(recipe=YCSB) | Q(resets_drive_at__isnull=False))
    since = Dispatch.objects.filter(wrote_there, drive_key=device.drive_key, started_at__gte=in_service_since(device))
    return since.exclude(Q(state=State.REFUSED) | Q(exit_status=exit_codes.REFUSED)).exists()


def _is_plain_file(drive_key: str, document: Mapping[str, Any]) -> bool:
    return drive_key.startswith("file:") and not document.get("backing")


def _of_data(host: Host, path: str, document: Mapping[str, Any], as_told: str, is_known: bool) -> list[Caution]:
    if signature := signature_of(document):
        return [Caution(HOLDS_DATA, f"{path} holds {signature}, {as_told}. {_way_with_data(host)}")]
    if not is_signature_reported(document):
        unread = document.get(SIGNATURE_ERROR)
        why = f": it could not be read ({unread})" if unread else ""
        return [
            Caution(
                "data unknown",
                f"Whether {path} holds data is not known, {as_told}{why}. A run is refused where a file system or a "
                "partition table is found then, and destroys everything else.",
            )
        ]
    if not is_known:
        return [
            Caution(
                "may hold data",
                f"Nothing was recognised on {path}, {as_told}. That does not say that it is empty: a database may use "
                "a drive without a file system. A run destroys what is there.",
            )
        ]
    return []


def _way_with_data(host: Host) -> str:
    if host.kind == Host.Kind.SSH:
        return (
            f"Host {host} refuses to write over it, whatever is ordered here: its operator must wipe it there; look "
            "again after that."
        )
    return "An order asks for the device's label: typing it says that this data is written over."


def _of_overload(device: Device) -> list[Caution]:
    """Tell of a last run that was too much for the drive, for as long as a campaign would let it rest."""
    rest = timedelta(seconds=Terms().overload_rest_s)
    ended = Dispatch.objects.filter(drive_key=device.drive_key, started_at__isnull=False, ended_at__isnull=False)
    last = with_readings(ended.order_by("-ended_at")[:1]).first()
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
    listed, at = is_listed(host, drive_key), moment(reported_at(host.health))
    if listed is None:
        return [Caution("list unknown", f"Host {host} has not told yet which drives may be loaded. Check it first.")]
    if listed:
        return []
    asked = f"as it said on {at}" if at else "as it said at its last check"
    return [
        Caution(
            NOT_LISTED,
            f"The operator of host {host} has not listed drive {drive_key} in /etc/drivecert/host.toml, {asked}. "
            "No run starts on it until then.",
        )
    ]


@dataclass(frozen=True)
class DriveNow:
    """What has the drive, wherever it is bound: a campaign, a dispatch, each None where none has; how many wait."""

    is_missing: bool
    campaign: Campaign | None
    holder: Dispatch | None
    queued_count: int

    @property
    def is_free(self) -> bool:
        """Tell whether an order would be claimed at once."""
        return not (self.is_missing or self.campaign or self.holder or self.queued_count)


def drive_now(device: Device) -> DriveNow:
    """Return how the drive of a device stands."""
    on_drive = Dispatch.objects.filter(drive_key=device.drive_key)
    holder = on_drive.filter(Q(state__in=LIVE) | LOST_UNCONFIRMED).order_by("-ordered_at").first()
    queued_count = on_drive.filter(state=State.QUEUED).count()
    return DriveNow(device.is_missing, open_on(device.drive_key), holder, queued_count)
