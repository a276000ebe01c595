"""Gaps in the sight of what runs on a host: each is counted, and the first ones are entered in the history one by one.

A gap is the time in which one machine, which is named, gave no answer: from its last answer to its first one after it.
A link that flaps all day must not fill a history that nobody may shorten: of later gaps ever fewer are entered, with
the count and the time of all so far.
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
from runners.hosts.response_timer import Ear
from runners.models import Dispatch, Host, Step
from runners.models.states import ON_HOST, WORKER, State

# An answer takes some milliseconds. Where it comes later than this the link was cut, or the host was held up: requests
# wait for the link as long as its time-outs let them, and a short cut makes no look fail.
LATE_ANSWER_S = 1
# Of a host whose program does not tell how long it worked itself: `status` waits for 10 s at most while a run is
# between two states (crates/detached/src/status.rs, TRANSITION_TIMEOUT).
LATE_UNTOLD_S = 11
ENTERED_SINGLY = 10
DECIMALS_BELOW_S = 10
# Of later gaps the 20th, 50th, 100th, 200th ... is entered.
ROUND = (1, 2, 5)
MS_PER_S = 1000
NO_ANSWER = "no answer from "
AGAIN = "it answers again"
NOT_AGAIN = "it had not answered when this ended"


def silences_of(dispatch: Dispatch) -> dict[str, str]:
    """Return since when each machine that gives no answer has given none, as texts of ISO 8601, by its name.

    A row of an earlier version tells no machine: there it is the drive's host, silent since the last heartbeat.
    """
    if dispatch.silences or dispatch.silent_since is None or dispatch.state not in ON_HOST:
        return dict(dispatch.silences)
    since = min(dispatch.heartbeat_at or dispatch.silent_since, dispatch.silent_since)
    return {dispatch.device.host.name: since.isoformat()}


def fell_silent(dispatch: Dispatch, machine: str, since: datetime) -> None:
    """Keep since when a machine gives no answer, while something of the dispatch may be on its hosts."""
    if dispatch.state in ON_HOST and machine not in dispatch.silences:
        _keep_silences(dispatch, dispatch.silences | {machine: since.isoformat()})


def answers_again(dispatch: Dispatch, machine: str, at: datetime) -> bool:
    """Keep the gap of a machine that had fallen silent and gave its first answer now; False where it had not."""
    if machine not in dispatch.silences or dispatch.state not in ON_HOST:
        return False
    rest = {name: since for name, since in dispatch.silences.items() if name != machine}
    since = datetime.fromisoformat(dispatch.silences[machine])
    with transaction.atomic():
        _keep_silences(dispatch, rest)
        _keep(dispatch, machine, since, at - since, AGAIN)
    return True


def enter_late_answer(dispatch: Dispatch, machine: str, ear: Ear) -> None:
    """Keep that a machine kept an answer waiting beyond what it worked at it itself, though no look failed for that."""
    silence = ear.unexplained()
    if silence is None or dispatch.state not in ON_HOST:
        return
    if silence.length_s >= (LATE_ANSWER_S if ear.tells_work else LATE_UNTOLD_S):
        _keep(dispatch, machine, silence.since, timedelta(seconds=silence.length_s), AGAIN)


def enter_all(dispatch: Dispatch) -> None:
    """Keep what is open, and how many gaps there were in all where that is not in the history yet: it has ended."""
    for machine, since in dispatch.silences.items():
        begun = datetime.fromisoformat(since)
        _keep(dispatch, machine, begun, timezone.now() - begun, NOT_AGAIN)
    if not is_entered(dispatch.gaps_count):
        _enter(dispatch, f"{_so_far(dispatch)} in all")


def is_entered(count: int) -> bool:
    """Tell whether the gap of this number has an entry of its own.

    >>> [count for count in range(1, 1001) if is_entered(count)][8:]
    [9, 10, 20, 50, 100, 200, 500, 1000]
    """
    digits = str(count).rstrip("0")
    return count <= ENTERED_SINGLY or (len(digits) == 1 and int(digits) in ROUND)


def _keep_silences(dispatch: Dispatch, silences: dict[str, str]) -> None:
    Dispatch.objects.filter(pk=dispatch.pk).update(silences=silences)
    dispatch.silences = silences


def _keep(dispatch: Dispatch, machine: str, since: datetime, length: timedelta, told: str) -> None:
    length_ms = max(0, round(length.total_seconds() * MS_PER_S))
    counted = {"gaps_count": F("gaps_count") + 1, "gaps_ms": F("gaps_ms") + length_ms}
    Dispatch.objects.filter(pk=dispatch.pk).update(**counted)
    dispatch.refresh_from_db(fields=list(counted))
    if is_entered(dispatch.gaps_count):
        gap = f"{NO_ANSWER}{machine} for {seconds_of(length_ms)} s, since {since.astimezone(UTC):%H:%M:%S} UTC"
        so_far = f"; {_so_far(dispatch)} so far" if dispatch.gaps_count > ENTERED_SINGLY else ""
        _enter(dispatch, f"{gap}; {told}{so_far}")


def seconds_of(length_ms: int) -> str:
    """Return a length in seconds as people say it: 1.4, 31, 1,800."""
    seconds = length_ms / MS_PER_S
    return f"{seconds:.1f}" if seconds < DECIMALS_BELOW_S else f"{seconds:,.0f}"


def _so_far(dispatch: Dispatch) -> str:
    return f"{dispatch.gaps_count:,} gaps, {seconds_of(dispatch.gaps_ms)} s"


def _enter(dispatch: Dispatch, reason: str) -> None:
    here = {"from_state": dispatch.state, "to_state": dispatch.state}
    Step.objects.create(dispatch=dispatch, **here, actor=WORKER, reason=reason)


# A heartbeat is kept every few seconds at least, and with whatever else a look has to keep.
HEARTBEAT_S = 5
MISSED_LOOKS = 2


def silent_for_s(dispatch: Dispatch) -> int | None:
    """Return for how many seconds its host has given no answer; None while it answers, or is not asked.

    A look at a host that is cut off ends after HOST_ANSWER_TIMEOUT_S only. Until then the heartbeat of a program that
    runs tells it, from the second missed look on: each look at it is short.
    """
    if dispatch.state not in ON_HOST:
        return None
    if silent := _silent_s(dispatch):
        return max(silent.values())
    if dispatch.state != State.RUNNING or dispatch.heartbeat_at is None:
        return None
    age_s = _seconds(dispatch.heartbeat_at)
    return age_s if age_s >= HEARTBEAT_S + MISSED_LOOKS * settings.WATCH_PERIOD_S else None


def silence_words(dispatch: Dispatch) -> str:
    """Say which machine gives no answer: no answer from lab-1 for 12 s; empty while all answer.

    While only the heartbeat tells it, it is not known yet which of two machines is waited for.
    """
    seconds = silent_for_s(dispatch)
    if seconds is None:
        return ""
    machines = " or ".join(str(host) for host in [dispatch.device.host, dispatch.load_host] if host)
    silent = _silent_s(dispatch) or {machines: seconds}
    return "no answer from " + ", ".join(f"{machine} for {silent_s:,} s" for machine, silent_s in silent.items())


def _silent_s(dispatch: Dispatch) -> dict[str, int]:
    """Return for how many seconds each machine that gives no answer has given none."""
    return {machine: _seconds(datetime.fromisoformat(since)) for machine, since in silences_of(dispatch).items()}


def _seconds(since: datetime) -> int:
    return max(0, round((timezone.now() - since) / timedelta(seconds=1)))


# When a machine answered this process last, about whatever dispatch. A heartbeat is kept every few seconds only.
_last_answers: dict[int, datetime] = {}


class Hearing:
    """The ways to the machines of a dispatch for one look."""

    def __init__(self, dispatch: Dispatch, connect: Connect) -> None:
        self.dispatch, self._connect = dispatch, connect
        dispatch.silences = silences_of(dispatch)

    def connect(self, host: Host) -> LabHost:
        """Return the way to a host, with what it answers, and that it does not, kept for the dispatch."""
        return cast(LabHost, Heard(self.dispatch, host, self._connect(host)))


class Heard:
    """One machine as a LabHost: every question is passed on, and its answer listened to."""

    def __init__(self, dispatch: Dispatch, host: Host, lab_host: LabHost) -> None:
        self._dispatch, self._host, self._lab_host = dispatch, host, lab_host
        ear = getattr(lab_host, "ear", None)  # this machine has none: nothing comes between it and its answers
        self._ear = ear if isinstance(ear, Ear) else Ear()

    def __getattr__(self, question: str) -> Callable[..., Any]:
        ask = getattr(self._lab_host, question)

        def put(*args: Any, **kwargs: Any) -> Any:
            return self._put(lambda: ask(*args, **kwargs))

        return put

    def _put(self, ask: Callable[[], Any]) -> Any:
        begun_at = timezone.now()
        self._ear.begin()
        try:
            answer = ask()
        except HostSilentError:
            fell_silent(self._dispatch, self._host.name, self._ear.last_at or self._last_answer(begun_at))
            raise
        except HostError:
            self._answered()
            raise
        self._answered()
        return answer

    def _answered(self) -> None:
        _last_answers[self._host.pk] = self._ear.last_at or timezone.now()
        if not answers_again(self._dispatch, self._host.name, self._ear.first_at or timezone.now()):
            enter_late_answer(self._dispatch, self._host.name, self._ear)

    def _last_answer(self, begun_at: datetime) -> datetime:
        """Return when the machine answered last before a question that it gave no answer to; as far as is known."""
        known = filter(None, [_last_answers.get(self._host.pk), self._dispatch.heartbeat_at])
        return min(begun_at, max(known, default=begun_at))
