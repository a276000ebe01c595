"""Rows of the overview of drives: what uses each drive, until when, and what waits for it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, TextChoices

from runners.inventory.devices import all_last_identified
from runners.models import LOST_UNCONFIRMED, Campaign, Device, Dispatch, DriveState
from runners.models.states import LIVE, State
from webapp.lab.shared.drive_status import with_warning_labels


class DriveFilter(TextChoices):
    """Which drives the page lists."""

    ALL = "", "all"
    FREE = "free", "free"
    BUSY = "busy", "busy or in a campaign"
    QUEUED = "queued", "with waiting runs"
    MISSING = "missing", "not found"
    NEW_FIRMWARE = "new-firmware", "firmware changed since the last run"


@dataclass(frozen=True)
class DriveRow:
    """A drive. `ends_at` is the ordered end of its run; `celsius` is its highest temperature in that run."""

    device: Device
    labels: list[str]
    firmware: str
    earlier_firmware: str
    dispatch: Dispatch | None
    campaign: Campaign | None
    last_campaign: Campaign | None
    queued_count: int

    @property
    def is_free(self) -> bool:
        """Return whether an order would be claimed at once, as far as other runs are concerned."""
        return not (self.device.is_missing or self.dispatch or self.campaign or self.queued_count)

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
            DriveFilter.MISSING: self.device.is_missing,
            DriveFilter.NEW_FIRMWARE: self.is_firmware_new,
        }.get(DriveFilter(drive_filter), True)


def drive_rows(words: str = "", drive_filter: str = DriveFilter.ALL) -> list[DriveRow]:
    """Return the drives in service that have all of these words in label, host, path, drive or firmware."""
    devices = Device.objects.filter(retired_at=None, host__retired_at=None).order_by("host__name", "pk")
    reports = all_last_identified(devices)
    labels = with_warning_labels(devices)
    keys = [device.drive_key for device, _ in labels]
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
    rows = [
        DriveRow(
            device,
            found,
            str(reports[device.pk][0].get("firmware") or ""),
            firmwares.get(device.drive_key) or "",
            live.get(device.drive_key),
            open_campaigns.get(device.drive_key),
            last_campaigns.get(device.drive_key),
            queued[device.drive_key],
        )
        for device, found in labels
    ]
    wanted = words.casefold().split()
    return [row for row in rows if row.is_in(drive_filter) and _has_words(row, reports[row.device.pk][0], wanted)]


def _by_drive(rows: Iterable[Any]) -> dict[str, Any]:
    """Return the last of the rows of each drive."""
    return {row.drive_key: row for row in rows}


def _has_words(row: DriveRow, document: Mapping[str, Any], words: list[str]) -> bool:
    device = row.device
    texts = [
        device.label,
        device.host.name,
        device.path,
        device.drive_key,
        row.firmware,
        str(document.get("model") or ""),
    ]
    text = " ".join(texts).casefold()
    return all(word in text for word in words)
