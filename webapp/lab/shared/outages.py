"""Outages of lab hosts on pages: those that last now, the lines of a history, and totals."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db.models import Prefetch, prefetch_related_objects
from django.utils import timezone

from runners.models import Dispatch, HostOutage
from runners.models.states import ON_HOST, WORKER, State
from runners.monitoring.connectivity import HEARTBEAT_S
from webapp.templatetags.units import counted

# A link that flaps all day must not fill a page: the total counts the other outages.
LISTED_COUNT = 10
MISSED_POLLS = 2
DUE_S = 1  # a poll may wait for a thread
DECIMALS_BELOW_S = 10
MEANINGS = {
    HostOutage.Cause.NO_ANSWER: "no answer from",
    HostOutage.Cause.HOST_ERROR: "only errors from",
    HostOutage.Cause.LATE_ANSWER: "no answer from",
}


@dataclass(frozen=True)
class HistoryLine:
    """One line of the history of a dispatch or campaign; `detail` may be empty."""

    at: datetime
    label: str
    dispatch: Dispatch | None
    detail: str
    actor: str


def current_outages(dispatch: Dispatch) -> list[tuple[str, int]]:
    """Return each outage that lasts now, such as "no answer from lab-1", and its seconds. Empty if all hosts answer.

    A poll of a host that is cut off ends only after HOST_ANSWER_TIMEOUT_S. Until then an old heartbeat of a running
    program shows the outage, from the second missed poll on: each poll of a running program is short. Which of two
    hosts does not answer is not known then, nor whether the register polls at all.
    """
    if dispatch.state not in ON_HOST:
        return []
    open_outages = [outage for outage in _outages(dispatch) if outage.until is None]
    if open_outages or dispatch.state != State.RUNNING or dispatch.heartbeat_at is None:
        return [(_title(outage), _seconds_since(outage.since)) for outage in open_outages]
    age_s = _seconds_since(dispatch.heartbeat_at)
    hosts = " or ".join(str(host) for host in [dispatch.device.host, dispatch.load_host] if host)
    # If many programs run, each is polled less often: then its next poll is not due yet.
    is_due = timezone.now() - dispatch.next_poll_at >= timedelta(seconds=DUE_S)
    is_old = (
        is_due or dispatch.silent_since is not None
    ) and age_s >= HEARTBEAT_S + MISSED_POLLS * settings.WATCH_PERIOD_S
    return [(f"no answer recorded from {hosts}", age_s)] if is_old else []


def current_outage_message(dispatch: Dispatch) -> str:
    """Return the outages that last now: no answer from lab-1 for 12 s. Return an empty text while all hosts answer."""
    return ", ".join(f"{title} for {length_s:,} s" for title, length_s in current_outages(dispatch))


def outage_lines(dispatch: Dispatch) -> list[HistoryLine]:
    """Return the first outages of a dispatch as lines of a history, each at its end."""
    ended = [(outage.until, outage) for outage in _outages(dispatch) if outage.until and outage.count == 1]
    return [HistoryLine(until, "outage", dispatch, _line(outage), WORKER) for until, outage in ended[:LISTED_COUNT]]


def outage_total_message(dispatch: Dispatch) -> str:
    """Return the number and total time of the outages that have ended: 3 outages, 13 s. Empty if there was none."""
    ended = [outage for outage in _outages(dispatch) if outage.until]
    count = sum(outage.count for outage in ended)
    total = sum((_length(outage) for outage in ended), timedelta())
    return f"{counted(count, 'outage')}, {format_seconds(total)} s" if count else ""


def prefetch_outages(dispatches: Iterable[Dispatch]) -> None:
    """Read the outages of several dispatches at once."""
    prefetch_related_objects(list(dispatches), Prefetch("outages", HostOutage.objects.select_related("host")))


def _outages(dispatch: Dispatch) -> list[HostOutage]:
    prefetch_outages([dispatch])
    return list(dispatch.outages.all())


def format_seconds(length: timedelta) -> str:
    """Return a length in seconds for people: 1.4, 31, 1,800."""
    seconds = length.total_seconds()
    return f"{seconds:.1f}" if seconds < DECIMALS_BELOW_S else f"{seconds:,.0f}"


def _line(outage: HostOutage) -> str:
    end = "it answers again" if outage.is_answered else "it had not answered when the dispatch ended"
    period = f"{format_seconds(_length(outage))} s, since {outage.since.astimezone(UTC):%H:%M:%S} UTC"
    return f"{_title(outage)} for {period}; {end}"


def _title(outage: HostOutage) -> str:
    return f"{MEANINGS[HostOutage.Cause(outage.cause)]} {outage.host}"


def _length(outage: HostOutage) -> timedelta:
    return max(timedelta(), (outage.until or timezone.now()) - outage.since)


def _seconds_since(at: datetime) -> int:
    return max(0, round((timezone.now() - at) / timedelta(seconds=1)))
