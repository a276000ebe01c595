"""Expected periods of drives and hosts, if every run takes its ordered time and none is repeated."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet, TextChoices
from django.utils import timezone

from runners.campaigns.outcomes import Rung, rungs_by_campaign
from runners.campaigns.terms import parse_terms
from runners.dispatch.claim import needs_host_alone
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


def hosts_in_service() -> QuerySet[Host]:
    """Return the hosts that the calendar lists, by name."""
    return Host.objects.filter(retired_at=None).order_by("name")


def calendars_of(hosts: Sequence[Host]) -> list[HostCalendar]:
    """Return what is expected on the drives in service of hosts."""
    now = timezone.now()
    devices = Device.objects.filter(host__in=hosts, retired_at=None).order_by("pk")
    expected = _expected_runs(now)
    open_campaigns = Campaign.objects.filter(device__in=devices, state__in=Campaign.OPEN_STATES).order_by("pk")
    campaigns = _by_drive(open_campaigns.select_related("profile"))
    rungs = rungs_by_campaign(each for of_drive in campaigns.values() for each in of_drive)
    calendars = []
    for host in hosts:
        of_host = [each for each in expected.windows if each.host_id in (None, host.pk)]
        periods = [Period(PeriodKind.MAINTENANCE, each.starts_at, each.ends_at, each) for each in of_host]
        for device in (each for each in devices if each.host_id == host.pk):
            runs = expected.periods.get(device.drive_key, [])
            periods += [replace(each, device=device) for each in runs]
            for each in campaigns.get(device.drive_key, []):
                periods.append(_campaign_period(each, rungs[each.pk], device, runs, now))
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


@dataclass
class _ExpectedRuns:
    """The expected periods of the runs of all drives, by drive key, if they start in the order of their orders.

    The times until which a drive, a host, or a host for other runs is in use are None if they cannot be known.
    """

    now: datetime
    windows: list[MaintenanceWindow]
    periods: dict[str, list[Period]] = field(default_factory=dict)
    drive_until: dict[str, datetime | None] = field(default_factory=dict)
    host_until: dict[int, datetime | None] = field(default_factory=dict)
    alone_until: dict[int, datetime | None] = field(default_factory=dict)

    def add_live(self, run: Dispatch) -> None:
        """Add a run that has a drive."""
        self._add(PeriodKind.RUN, run, run.started_at or run.ordered_at, _end_of(run, self.now))

    def add_queued(self, run: Dispatch) -> None:
        """Add a run that waits: for its drive, for its hosts if one of the runs there is alone, for maintenance."""
        before = self.host_until if needs_host_alone(run) else self.alone_until
        busy = [self.drive_until.get(run.drive_key, self.now), *(before.get(each, self.now) for each in _hosts_of(run))]
        free_at = _latest(busy)
        length = None if run.duration_s is None else timedelta(seconds=run.duration_s)
        windows = [each for each in self.windows if each.host_id is None or each.host_id in _hosts_of(run)]
        starts_at = free_at and _start_between(windows, free_at, length or timedelta())
        ends_at = starts_at + length if starts_at is not None and length is not None else None
        self._add(PeriodKind.WAITING, run, starts_at, ends_at)

    def _add(self, kind: PeriodKind, run: Dispatch, starts_at: datetime | None, ends_at: datetime | None) -> None:
        self.periods.setdefault(run.drive_key, []).append(Period(kind, starts_at, ends_at, run))
        self.drive_until[run.drive_key] = _latest([self.drive_until.get(run.drive_key, self.now), ends_at])
        for host_id in _hosts_of(run):
            self.host_until[host_id] = _latest([self.host_until.get(host_id, self.now), ends_at])
            if needs_host_alone(run):
                self.alone_until[host_id] = _latest([self.alone_until.get(host_id, self.now), ends_at])


def _expected_runs(now: datetime) -> _ExpectedRuns:
    """Return the expected periods of all runs. Those of other hosts count too: a sweep may use two hosts."""
    windows = MaintenanceWindow.objects.filter(Q(ends_at=None) | Q(ends_at__gt=now)).order_by("starts_at", "pk")
    expected = _ExpectedRuns(now, list(windows))
    runs = Dispatch.objects.select_related("device").order_by("ordered_at", "pk")
    for run in runs.filter(Q(state__in=LIVE) | LOST_UNCONFIRMED):
        expected.add_live(run)
    for run in runs.filter(state=State.QUEUED):
        expected.add_queued(run)
    return expected


def _hosts_of(run: Dispatch) -> set[int]:
    return {each for each in (run.device.host_id, run.load_host_id) if each is not None}


def _latest(times: Iterable[datetime | None]) -> datetime | None:
    """Return the latest time; None if one cannot be known."""
    known = list(times)
    return None if None in known else max(each for each in known if each is not None)


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


def _campaign_period(
    campaign: Campaign, rungs: list[Rung], device: Device, runs: Sequence[Period], now: datetime
) -> Period:
    """Return a campaign until its latest expected end, which is None if a person has to decide first.

    Its estimate begins now. A run of the campaign that waits, or another run on the drive, delays it.
    """
    estimate = estimate_of(parse_terms(campaign.terms), rungs)
    ends_at = estimate["latest"] if estimate else None
    own = [each for each in runs if each.subject.campaign_id == campaign.pk]
    begins_at = own[-1].starts_at if own else _latest([now, *(each.ends_at for each in runs)])
    if ends_at is not None:
        ends_at = None if begins_at is None else ends_at + max(timedelta(), begins_at - now)
    return Period(PeriodKind.CAMPAIGN, campaign.ordered_at, ends_at, campaign, device)
