"""Rows of the overview of drives: what uses each drive, until when, and what waits for it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet, TextChoices

from runners.inventory.devices import is_missing_now, is_queried_now
from runners.models import LOST_UNCONFIRMED, Campaign, Device, Dispatch, DriveState, Host
from runners.models.states import LIVE, State
from webapp.lab.hosts.page import drives_of
from webapp.lab.shared.drive_status import use_message, with_reports, without_open
from webapp.lab.shared.drive_warnings import WarningCode

PAGE_DRIVES = 200  # that are read at once, and the fewest on a page that is not the last one


class DriveFilter(TextChoices):
    """Which drives the page lists."""

    ALL = "", "all"
    FREE = "free", "free"
    BUSY = "busy", "busy or in a campaign"
    QUEUED = "queued", "with waiting runs"
    IN_USE = "in-use", "in use by their host"
    MISSING = "missing", "not found"
    NEW_FIRMWARE = "new-firmware", "firmware changed since the last run"


@dataclass(frozen=True)
class DriveRow:
    """A drive. `ends_at` is the ordered end of its run; `celsius` is its highest temperature in that run.

    `use` says what the host itself uses the drive for, for example for its file systems; empty if it reported no use.
    """

    device: Device
    warnings: list[WarningCode]
    firmware: str
    earlier_firmware: str
    dispatch: Dispatch | None
    campaign: Campaign | None
    last_campaign: Campaign | None
    queued_count: int
    is_missing: bool
    use: str

    @property
    def is_free(self) -> bool:
        """Return whether an order would be claimed at once, as far as other runs are concerned."""
        return not (self.is_missing or self.use or self.dispatch or self.campaign or self.queued_count)

    @property
    def is_firmware_new(self) -> bool:
        """Return whether the host reports another firmware than after the drive's last run."""
        return bool(self.firmware and self.earlier_firmware and self.firmware != self.earlier_firmware)

    @property
    def ends_at(self) -> datetime | None:
        """Return the ordered end of the run; None without a run or an ordered time."""
        run = self.dispatch
        if run is None or run.started_at is None or run.duration_s is None:
            return None
        return run.started_at + timedelta(seconds=run.duration_s)

    @property
    def celsius(self) -> float | None:
        """Return the highest temperature that the run last reported; None if it reported none."""
        telemetry = self.dispatch.progress.get("telemetry", {}) if self.dispatch else {}
        return max((each["celsius"] for each in telemetry.get("temperatures", [])), default=None)

    def is_in(self, drive_filter: str) -> bool:
        """Return whether a filter lists this drive."""
        return {
            DriveFilter.FREE: self.is_free,
            DriveFilter.BUSY: bool(self.dispatch or self.campaign),
            DriveFilter.QUEUED: self.queued_count > 0,
            DriveFilter.IN_USE: bool(self.use),
            DriveFilter.MISSING: self.is_missing,
            DriveFilter.NEW_FIRMWARE: self.is_firmware_new,
        }.get(DriveFilter(drive_filter), True)


def drive_page(words: str, drive_filter: str, after: Device | None) -> tuple[list[DriveRow], int | None]:
    """Return rows as `drive_rows` does, from the drive after another one on, and the last drive if more may follow.

    The drives are read in parts until there are enough rows, so that one page costs the same with any number of hosts.
    """
    found: list[DriveRow] = []
    while True:
        following = list(_in_service(after)[: PAGE_DRIVES + 1])
        part = following[:PAGE_DRIVES]
        found += drive_rows(words, drive_filter, Device.objects.filter(pk__in=[device.pk for device in part]))
        if len(following) == len(part):
            return found, None
        after = part[-1]
        if len(found) >= PAGE_DRIVES:
            return found, after.pk


def _in_service(after: Device | None) -> QuerySet[Device]:
    """Return the drives in service in the order of their hosts, from the one after another one on."""
    devices = Device.objects.filter(retired_at=None, host__retired_at=None).select_related("host")
    if after is not None:
        name = after.host.name
        devices = devices.filter(Q(host__name__gt=name) | Q(host__name=name, pk__gt=after.pk))
    return devices.order_by("host__name", "pk")


def drive_rows(
    words: str = "", drive_filter: str = DriveFilter.ALL, devices: QuerySet[Device] | None = None
) -> list[DriveRow]:
    """Return the drives in service that have all of these words in label, host, path, drive or firmware."""
    devices = _in_service(None) if devices is None else devices.order_by("host__name", "pk")
    reports = with_reports(devices)
    keys = [device.drive_key for device, *_ in reports]
    of_drives = Dispatch.objects.filter(drive_key__in=keys)
    live = _by_drive(of_drives.filter(Q(state__in=LIVE) | LOST_UNCONFIRMED).order_by("ordered_at"))
    campaigns = Campaign.objects.filter(drive_key__in=keys).order_by("ordered_at")
    last_campaigns = _by_drive(campaigns)
    open_campaigns = _by_drive(campaigns.filter(state__in=Campaign.OPEN_STATES))
    queued = Counter(of_drives.filter(state=State.QUEUED).values_list("drive_key", flat=True))
    states = (
        DriveState.objects.filter(drive_key__in=keys).exclude(firmware="").exclude(firmware=None).order_by("at", "pk")
    )
    firmwares = dict(states.values_list("drive_key", "firmware"))
    missing, uses = _reports_of_hosts([device for device, *_ in reports])
    rows = [
        DriveRow(
            device,
            codes,
            str(document.get("firmware") or ""),
            firmwares.get(device.drive_key) or "",
            live.get(device.drive_key),
            open_campaigns.get(device.drive_key),
            last_campaigns.get(device.drive_key),
            queued[device.drive_key],
            device.pk in missing,
            uses.get(device.pk, ""),
        )
        for device, codes, document in reports
    ]
    wanted, models = words.casefold().split(), [str(document.get("model") or "") for *_, document in reports]
    found = zip(rows, models, strict=True)
    return [row for row, model in found if row.is_in(drive_filter) and _has_words(row, model, wanted)]


def _reports_of_hosts(devices: Iterable[Device]) -> tuple[set[int], dict[int, str]]:
    """Return the devices that their hosts do not find, and what hosts use devices for, by device id.

    A host reports both at its last check. This machine reports both now, unless a run is on one of its drives.
    """
    by_host: dict[Host, list[Device]] = {}
    for device in devices:
        by_host.setdefault(device.host, []).append(device)
    missing: set[int] = set()
    uses: dict[int, str] = {}
    for host, of_host in by_host.items():
        is_queried = is_queried_now(host)
        missing |= {each.pk for each in of_host if (is_missing_now(each) if is_queried else each.is_missing)}
        if is_queried or host.is_remote:
            uses |= _uses_by(host)
    return missing, uses


def _uses_by(host: Host) -> dict[int, str]:
    """Return what a host uses its devices for. A load of the register also has its drive open: that is no use."""
    found = drives_of(host)
    drives = {row["device"]: row["drive"] for row in found.get("rows", ()) if row["is_device"] and row["drive"].uses}
    if not drives:
        return {}
    loads = Dispatch.objects.filter(drive_key__in=[device.drive_key for device in drives], started_at__isnull=False)
    loaded = set(loads.exclude(ended_at__lt=found["reported_at"]).values_list("drive_key", flat=True))
    for device, drive in drives.items():
        if device.drive_key in loaded:
            drives[device] = without_open(drive)
    return {device.pk: use_message(drive) for device, drive in drives.items()}


def _by_drive(rows: Iterable[Any]) -> dict[str, Any]:
    """Return the last of the rows of each drive."""
    return {row.drive_key: row for row in rows}


def _has_words(row: DriveRow, model: str, words: list[str]) -> bool:
    device = row.device
    texts = [
        device.label,
        device.host.name,
        device.path,
        device.drive_key,
        row.firmware,
        model,
    ]
    text = " ".join(texts).casefold()
    return all(word in text for word in words)
