"""Connection outages of lab hosts, recorded while a dispatch depends on the host.

An outage lasts from the last answer of a host before a failed request to its first answer after it. An answer that
comes late is an outage too. A heartbeat records that the hosts answered. runners/dispatch/failures.py decides what a
failure means for the dispatch.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any, cast

from django.db.models import Exists, OuterRef
from django.utils import timezone

from runners.errors import HostError, HostFaultError, HostUnavailableError
from runners.hosts.protocol import Connect, LabHost, ResponseTimer
from runners.models import Dispatch, Host, HostOutage
from runners.models.dispatch_rows import update_columns
from runners.models.states import ON_HOST

# An answer takes some milliseconds. If it comes later than this, the link was cut or the host was delayed: requests
# wait for the link as long as its timeouts allow, and a short cut makes no poll fail.
LATE_ANSWER_S = 1
# For a host whose program does not report its own working time: `status` waits for at most 10 s while a run is between
# two states (crates/detached/src/status.rs, TRANSITION_TIMEOUT).
LATE_ANSWER_UNTIMED_S = 11
# A heartbeat is stored every few seconds at least, and with every other change of a poll.
HEARTBEAT_S = 5

# When a host last answered this process, for any dispatch. A heartbeat is stored only every few seconds.
_last_answers: dict[int, datetime] = {}


def recording_connect(dispatch: Dispatch, connect: Connect) -> Connect:
    """Return a function that connects to a host and records its answers and outages for one poll of a dispatch."""

    def connect_host(host: Host) -> LabHost:
        return cast(LabHost, RecordingHost(dispatch, host, connect(host)))

    return connect_host


class RecordingHost:
    """A proxy for a LabHost: it passes each call on and records whether an answer came."""

    def __init__(self, dispatch: Dispatch, host: Host, lab_host: LabHost) -> None:
        self._dispatch, self._host, self._lab_host = dispatch, host, lab_host
        timer = getattr(lab_host, "timer", None)  # the local host has none: its answers take no way
        self._timer = timer if isinstance(timer, ResponseTimer) else ResponseTimer()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return partial(self._call, getattr(self._lab_host, name))

    def _call(self, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        started_at = timezone.now()
        self._timer.reset()
        try:
            answer = method(*args, **kwargs)
        except HostUnavailableError as error:
            last_answer_at = self._timer.last_byte_at or self._last_answer_at(started_at)
            record_failure(self._dispatch, self._host, error, last_answer_at)
            raise
        except HostError:
            self._record_answer()
            raise
        self._record_answer()
        return answer

    def _record_answer(self) -> None:
        _last_answers[self._host.pk] = self._timer.last_byte_at or timezone.now()
        record_answer(self._dispatch, self._host, self._timer)

    def _last_answer_at(self, started_at: datetime) -> datetime:
        """Return when the host last answered before a request that failed, as far as is known."""
        known = filter(None, [_last_answers.get(self._host.pk), self._dispatch.heartbeat_at])
        return min(started_at, max(known, default=started_at))


def record_failure(dispatch: Dispatch, host: Host, error: HostUnavailableError, last_answer_at: datetime) -> None:
    """Open an outage, or add the dispatch to the open one, while a part of the dispatch may be on its hosts."""
    if dispatch.state not in ON_HOST:
        return
    cause = HostOutage.Cause.HOST_ERROR if isinstance(error, HostFaultError) else HostOutage.Cause.NO_ANSWER
    # An open outage of the host stays as it is. Another worker may close it meanwhile: then there is none to add to.
    HostOutage.objects.bulk_create([HostOutage(host=host, cause=cause, since=last_answer_at)], ignore_conflicts=True)
    for outage in host.outages.filter(until=None):
        outage.dispatches.add(dispatch)
    dispatch.has_open_outage = True


def record_answer(dispatch: Dispatch, host: Host, timer: ResponseTimer) -> None:
    """Close the open outage of a host that answered now, or record a late answer as an outage of its own.

    An answer is late if it came later than the host's own work explains. Nothing is written while answers are on time.
    """
    wait = timer.longest_unexplained()
    is_late = wait is not None and wait.length_s >= (LATE_ANSWER_S if timer.reports_work else LATE_ANSWER_UNTIMED_S)
    # Another worker may have opened an outage since the scheduler looked for one: a late answer ends it, too.
    if dispatch.has_open_outage or is_late:
        answered_at = timer.first_byte_at or timezone.now()
        if host.outages.filter(until=None).update(until=answered_at, is_answered=True):
            return
    if wait is not None and is_late and dispatch.state in ON_HOST:
        period = {"since": wait.since, "until": wait.until, "is_answered": True}
        host.outages.create(cause=HostOutage.Cause.LATE_ANSWER, **period).dispatches.add(dispatch)


def record_heartbeat(dispatch: Dispatch, **columns: Any) -> None:
    """Record a successful poll: the host answered, and earlier error reasons are over.

    The same statement stores `columns`. Without a change, the heartbeat is stored every few seconds only: it would be
    one of the four statements of a poll.
    """
    now = timezone.now()
    is_recent = dispatch.heartbeat_at and now - dispatch.heartbeat_at < timedelta(seconds=HEARTBEAT_S)
    if is_recent and dispatch.silent_since is None and not dispatch.reason and not columns:
        return
    healthy = {"heartbeat_at": now, "silent_since": None, "reason": ""}
    update_columns(dispatch, healthy | columns)
    dispatch.heartbeat_at, dispatch.silent_since, dispatch.reason = now, None, ""


def close_outages_of_ended(dispatch: Dispatch) -> None:
    """Close the open outages on which only a dispatch that ends depended: no request will find their end."""
    others = Dispatch.objects.filter(outages=OuterRef("pk"), state__in=ON_HOST).exclude(pk=dispatch.pk)
    open_outages = dispatch.outages.filter(until=None)
    # Two dispatches that end at once would each see the other on the host. The second waits here for the first.
    list(open_outages.select_for_update(of=("self",), no_key=True).order_by("pk"))
    open_outages.filter(~Exists(others)).update(until=timezone.now())
