"""Connection outages of lab hosts, recorded while a dispatch depends on the host.

An outage lasts from the last answer of a host before a failed request to its first answer after it. Each outage is
counted on the dispatch. The history lists the first ones one by one. A link that flaps all day must not fill a history
that is append-only: of later outages it lists ever fewer, with the count and the total time so far.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from runners.errors import HostError, HostSilentError
from runners.hosts.protocol import Connect, LabHost
from runners.hosts.response_timer import ResponseTimer
from runners.models import Dispatch, Host, Step
from runners.models.states import ON_HOST, WORKER, State

# An answer takes some milliseconds. If it comes later than this, the link was cut or the host was delayed: requests
# wait for the link as long as its timeouts allow, and a short cut makes no poll fail.
LATE_ANSWER_S = 1
# For a host whose program does not report its own working time: `status` waits for at most 10 s while a run is between
# two states (crates/detached/src/status.rs, TRANSITION_TIMEOUT).
LATE_ANSWER_UNTIMED_S = 11
LISTED_INDIVIDUALLY = 10
DECIMALS_BELOW_S = 10
# Of later outages the 20th, 50th, 100th, 200th ... is listed.
MILESTONE_DIGITS = (1, 2, 5)
MS_PER_S = 1000
# A heartbeat is stored every few seconds at least, and with every other change of a poll.
HEARTBEAT_S = 5
MISSED_POLLS = 2

# When a host last answered this process, for any dispatch. A heartbeat is stored only every few seconds.
_last_answers: dict[int, datetime] = {}


class RecordingConnector:
    """Connects to the hosts of a dispatch for one poll, and records their answers and outages."""

    def __init__(self, dispatch: Dispatch, connect: Connect) -> None:
        self.dispatch, self._connect = dispatch, connect
        dispatch.open_outages = open_outages_of(dispatch)

    def connect(self, host: Host) -> LabHost:
        """Return a connection to a host that records answers and outages for the dispatch."""
        return cast(LabHost, RecordingHost(self.dispatch, host, self._connect(host)))


class RecordingHost:
    """A proxy for a LabHost: it passes each call on and records whether an answer came."""

    def __init__(self, dispatch: Dispatch, host: Host, lab_host: LabHost) -> None:
        self._dispatch, self._host, self._lab_host = dispatch, host, lab_host
        timer = getattr(lab_host, "timer", None)  # the local host has none: its answers take no way
        self._timer = timer if isinstance(timer, ResponseTimer) else ResponseTimer()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._lab_host, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            return self._call(lambda: method(*args, **kwargs))

        return call

    def _call(self, method: Callable[[], Any]) -> Any:
        started_at = timezone.now()
        self._timer.reset()
        try:
            answer = method()
        except HostSilentError:
            last_answer_at = self._timer.last_byte_at or self._last_answer_at(started_at)
            record_outage_start(self._dispatch, self._host.name, last_answer_at)
            raise
        except HostError:
            self._record_answer()
            raise
        self._record_answer()
        return answer

    def _record_answer(self) -> None:
        _last_answers[self._host.pk] = self._timer.last_byte_at or timezone.now()
        if not record_outage_end(self._dispatch, self._host.name, self._timer.first_byte_at or timezone.now()):
            record_late_answer(self._dispatch, self._host.name, self._timer)

    def _last_answer_at(self, started_at: datetime) -> datetime:
        """Return when the host last answered before a request that failed, as far as is known."""
        known = filter(None, [_last_answers.get(self._host.pk), self._dispatch.heartbeat_at])
        return min(started_at, max(known, default=started_at))


def open_outages_of(dispatch: Dispatch) -> dict[str, str]:
    """Return the start of each outage that lasts now, as ISO 8601 text by the host's name.

    A row of an earlier version names no host. There it is the drive's host, silent since the last heartbeat.
    """
    if dispatch.open_outages or dispatch.silent_since is None or dispatch.state not in ON_HOST:
        return dict(dispatch.open_outages)
    since = min(dispatch.heartbeat_at or dispatch.silent_since, dispatch.silent_since)
    return {dispatch.device.host.name: since.isoformat()}


def record_outage_start(dispatch: Dispatch, host_name: str, since: datetime) -> None:
    """Store the start of an outage, while a part of the dispatch may be on its hosts."""
    if dispatch.state in ON_HOST and host_name not in dispatch.open_outages:
        _store_open_outages(dispatch, dispatch.open_outages | {host_name: since.isoformat()})


def record_outage_end(dispatch: Dispatch, host_name: str, at: datetime) -> bool:
    """Close the open outage of a host that answered now. Return False if there was none."""
    if host_name not in dispatch.open_outages or dispatch.state not in ON_HOST:
        return False
    rest = {name: since for name, since in dispatch.open_outages.items() if name != host_name}
    since = datetime.fromisoformat(dispatch.open_outages[host_name])
    with transaction.atomic():
        _store_open_outages(dispatch, rest)
        _record_outage(dispatch, host_name, since, at - since, is_over=True)
    return True


def record_late_answer(dispatch: Dispatch, host_name: str, timer: ResponseTimer) -> None:
    """Record an outage if an answer came later than the host's own work explains, although no poll failed."""
    wait = timer.longest_unexplained()
    if wait is None or dispatch.state not in ON_HOST:
        return
    if wait.length_s >= (LATE_ANSWER_S if timer.reports_work else LATE_ANSWER_UNTIMED_S):
        _record_outage(dispatch, host_name, wait.since, timedelta(seconds=wait.length_s), is_over=True)


def record_all_at_end(dispatch: Dispatch) -> None:
    """Record the open outages of a dispatch that ends, and the total unless the history shows it already."""
    for host_name, start in dispatch.open_outages.items():
        since = datetime.fromisoformat(start)
        _record_outage(dispatch, host_name, since, timezone.now() - since, is_over=False)
    if not is_listed(dispatch.outages_count):
        _add_step(dispatch, Step.Kind.OUTAGE_TOTAL, f"{_total_message(dispatch)} in all", {})


def is_listed(count: int) -> bool:
    """Return whether the outage of this number has a line of its own in the history.

    >>> [count for count in range(1, 1001) if is_listed(count)][8:]
    [9, 10, 20, 50, 100, 200, 500, 1000]
    """
    digits = str(count).rstrip("0")
    return count <= LISTED_INDIVIDUALLY or (len(digits) == 1 and int(digits) in MILESTONE_DIGITS)


def _store_open_outages(dispatch: Dispatch, open_outages: dict[str, str]) -> None:
    Dispatch.objects.filter(pk=dispatch.pk).update(open_outages=open_outages)
    dispatch.open_outages = open_outages


def _record_outage(dispatch: Dispatch, host_name: str, since: datetime, length: timedelta, *, is_over: bool) -> None:
    """Count an outage, and add it to the history if its number is listed there."""
    length_ms = max(0, round(length.total_seconds() * MS_PER_S))
    counted = {"outages_count": F("outages_count") + 1, "outages_ms": F("outages_ms") + length_ms}
    Dispatch.objects.filter(pk=dispatch.pk).update(**counted)
    dispatch.refresh_from_db(fields=list(counted))
    if not is_listed(dispatch.outages_count):
        return
    start = f"no answer from {host_name} for {format_seconds(length_ms)} s, since {since.astimezone(UTC):%H:%M:%S} UTC"
    end = "it answers again" if is_over else "it had not answered when this dispatch ended"
    so_far = f"; {_total_message(dispatch)} so far" if dispatch.outages_count > LISTED_INDIVIDUALLY else ""
    details = {"host": host_name, "since": since.isoformat(), "length_ms": length_ms, "is_over": is_over}
    _add_step(dispatch, Step.Kind.HOST_OUTAGE, f"{start}; {end}{so_far}", details)


def _total_message(dispatch: Dispatch) -> str:
    return f"{dispatch.outages_count:,} outages, {format_seconds(dispatch.outages_ms)} s"


def _add_step(dispatch: Dispatch, kind: Step.Kind, reason: str, details: dict[str, Any]) -> None:
    states = {"from_state": dispatch.state, "to_state": dispatch.state}
    Step.objects.create(dispatch=dispatch, **states, kind=kind, actor=WORKER, reason=reason, details=details)


def format_seconds(length_ms: int) -> str:
    """Return a length in seconds for people: 1.4, 31, 1,800."""
    seconds = length_ms / MS_PER_S
    return f"{seconds:.1f}" if seconds < DECIMALS_BELOW_S else f"{seconds:,.0f}"


def outage_s(dispatch: Dispatch) -> int | None:
    """Return how many seconds the current outage has lasted. Return None if the host answers or is not polled.

    A poll of a host that is cut off ends only after HOST_ANSWER_TIMEOUT_S. Until then an old heartbeat of a running
    program shows the outage, from the second missed poll on: each poll of a running program is short.
    """
    if dispatch.state not in ON_HOST:
        return None
    if lasting := _open_outages_s(dispatch):
        return max(lasting.values())
    if dispatch.state != State.RUNNING or dispatch.heartbeat_at is None:
        return None
    age_s = _seconds_since(dispatch.heartbeat_at)
    return age_s if age_s >= HEARTBEAT_S + MISSED_POLLS * settings.WATCH_PERIOD_S else None


def outage_message(dispatch: Dispatch) -> str:
    """Return which host does not answer: no answer from lab-1 for 12 s. Return an empty text while all answer.

    While only the heartbeat shows the outage, it is not known which of two hosts does not answer.
    """
    seconds = outage_s(dispatch)
    if seconds is None:
        return ""
    names = " or ".join(str(host) for host in [dispatch.device.host, dispatch.load_host] if host)
    lasting = _open_outages_s(dispatch) or {names: seconds}
    return "no answer from " + ", ".join(f"{host_name} for {length_s:,} s" for host_name, length_s in lasting.items())


def _open_outages_s(dispatch: Dispatch) -> dict[str, int]:
    """Return how many seconds each open outage has lasted, by the host's name."""
    open_outages = open_outages_of(dispatch)
    return {name: _seconds_since(datetime.fromisoformat(since)) for name, since in open_outages.items()}


def _seconds_since(at: datetime) -> int:
    return max(0, round((timezone.now() - at) / timedelta(seconds=1)))
