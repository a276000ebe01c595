"""For how long a host has given no answer about a dispatch: what its page and its campaign's say."""

from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from runners.models import Dispatch
from runners.models.states import ON_HOST, State
from runners.monitoring.gaps import silences_of

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
