"""Gaps in the sight of what runs on a host: each is counted, and the first ones are entered in the history one by one.

A gap is the time in which one machine, which is named, gave no answer: from its last answer to its first one after it.
A link that flaps all day must not fill a history that nobody may shorten: of later gaps ever fewer are entered, with
the count and the time of all so far.
"""

from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from runners.hosts.response_timer import Ear
from runners.models import Dispatch, Step
from runners.models.states import ON_HOST, WORKER

# An answer takes some milliseconds. Where it comes later than this the link was cut, or the host was held up: requests
# wait for the link as long as its time-outs let them, and a short cut makes no look fail.
LATE_ANSWER_S = 1
# Of a host whose program does not tell how long it worked itself: `status` waits for 10 s at most while a run is
# between two states (crates/detached/src/status.rs, SETTLING).
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
