"""Expected periods of drives and hosts, if every run takes its ordered time and none is repeated."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, TextChoices
from django.utils import timezone

from runners.campaigns.outcomes import rungs_of
from runners.campaigns.terms import parse_terms
from runners.models import LOST_UNCONFIRMED, Campaign, Device, Dispatch, Host, MaintenanceWindow
from runners.models.states import LIVE, State
from webapp.lab.campaigns.page import estimate_of


class PeriodKind(TextChoices):
    """What a period is for."""

    RUN = "run", "run"
    WAITING = "waiting", "waiting run"
    CAMPAIGN = "campaign", "campaign"
    MAINTENANCE = "maintenance", "maintenance"


@dataclass(frozen=True)
class Period:
    """A period of a drive, or of all drives of a host if `device` is None. A time is None if it cannot be known.

    `subject` is the dispatch, the campaign or the maintenance window.
    """

    kind: PeriodKind
    starts_at: datetime | None
    ends_at: datetime | None
    subject: Any
    device: Device | None = None


@dataclass(frozen=True)
class HostCalendar:
    """The periods of a host, by their beginnings; those without a known beginning are last."""

    host: Host
    periods: list[Period]


def calendars_of(hosts: Sequence[Host]) -> list[HostCalendar]:
    """Return what is expected on the drives in service of hosts."""
    now = timezone.now()
    devices = Device.objects.filter(host__in=hosts, retired_at=None).order_by("pk")
    of_drives = Dispatch.objects.filter(drive_key__in={each.drive_key for each in devices}).order_by("ordered_at", "pk")
    live = _by_drive(of_drives.filter(Q(state__in=LIVE) | LOST_UNCONFIRMED))
    queued = _by_drive(of_drives.filter(state=State.QUEUED))
    open_campaigns = Campaign.objects.filter(device__in=devices, state__in=Campaign.OPEN_STATES).order_by("pk")
    campaigns = _by_drive(open_campaigns.select_related("device__host", "profile"))
    windows = list(MaintenanceWindow.objects.filter(Q(ends_at=None) | Q(ends_at__gt=now)).order_by("starts_at", "pk"))
    calendars = []
    for host in hosts:
        of_host = [each for each in windows if each.host_id in (None, host.pk)]
        periods = [Period(PeriodKind.MAINTENANCE, each.starts_at, each.ends_at, each) for each in of_host]
        for device in (each for each in devices if each.host_id == host.pk):
            key = device.drive_key
            periods += _runs(device, live.get(key, []), queued.get(key, []), of_host, now)
            periods += [_campaign_period(each, device) for each in campaigns.get(key, [])]
        calendars.append(HostCalendar(host, sorted(periods, key=_beginning)))
    return calendars


def _beginning(period: Period) -> tuple[bool, float]:
    return (period.starts_at is None, period.starts_at.timestamp() if period.starts_at else 0)


def _by_drive(rows: Iterable[Any]) -> dict[str, list[Any]]:
    """Return the rows of each drive in their order."""
    found: dict[str, list[Any]] = {}
    for row in rows:
        found.setdefault(row.drive_key, []).append(row)
    return found


def _runs(
    device: Device, live: list[Dispatch], queued: list[Dispatch], windows: list[MaintenanceWindow], now: datetime
) -> list[Period]:
    """Return the periods of a drive's present run and of those that wait for it, one after the other."""
    periods = [
        Period(PeriodKind.RUN, each.started_at or each.ordered_at, _end_of(each, now), each, device) for each in live
    ]
    free_at = periods[-1].ends_at if periods else now
    for run in queued:
        length = None if run.duration_s is None else timedelta(seconds=run.duration_s)
        starts_at = free_at and _start_between(windows, free_at, length or timedelta())
        free_at = starts_at + length if starts_at is not None and length is not None else None
        periods.append(Period(PeriodKind.WAITING, starts_at, free_at, run, device))
    return periods


def _end_of(run: Dispatch, now: datetime) -> datetime | None:
    """Return the expected end of a run that has a drive; None if it has no ordered time or is late."""
    if run.duration_s is None:
        return None
    end = (run.started_at or now) + timedelta(seconds=run.duration_s)
    return end if end > now else None


def _start_between(windows: list[MaintenanceWindow], at: datetime, length: timedelta) -> datetime | None:
    """Return the first time, not before `at`, at which a run reaches into no window; None if a window has no end.

    `windows` are in the order of their beginnings.
    """
    for window in windows:
        if window.starts_at <= at + length and (window.ends_at is None or window.ends_at > at):
            if window.ends_at is None:
                return None
            at = window.ends_at
    return at


def _campaign_period(campaign: Campaign, device: Device) -> Period:
    """Return a campaign until its latest expected end, which is None if a person has to decide first."""
    estimate = estimate_of(parse_terms(campaign.terms), rungs_of(campaign))
    ends_at = estimate["latest"] if estimate else None
    return Period(PeriodKind.CAMPAIGN, campaign.ordered_at, ends_at, campaign, device)
