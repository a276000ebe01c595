"""For how long a host has given no answer about a dispatch: what its page and its campaign's say."""

from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from runners.models import Dispatch
from runners.moves import last_answer
from runners.states import ON_HOST, State

# A heartbeat is kept every few seconds only: it is one of four statements of a look.
HEARTBEAT_S = 5
MISSED_LOOKS = 2


def silent_for_s(dispatch: Dispatch) -> int | None:
    """Return for how many seconds its host has given no answer; None while it answers, or is not asked.

    A look at a host that is cut off ends after HOST_ANSWER_TIMEOUT_S only. Until then the heartbeat of a program that
    runs tells it, from the second missed look on: each look at it is short.
    """
    if dispatch.state not in ON_HOST:
        return None
    now = timezone.now()
    if dispatch.silent_since:
        return _seconds(now - last_answer(dispatch, dispatch.silent_since))
    if dispatch.state != State.RUNNING or dispatch.heartbeat_at is None:
        return None
    age_s = _seconds(now - dispatch.heartbeat_at)
    return age_s if age_s >= HEARTBEAT_S + MISSED_LOOKS * settings.WATCH_PERIOD_S else None


def silence_words(dispatch: Dispatch) -> str:
    """Say that the host gives no answer: no answer from lab-1 for 12 s; empty while it answers."""
    seconds = silent_for_s(dispatch)
    return "" if seconds is None else f"no answer from {dispatch.device.host} for {seconds:,} s"


def _seconds(passed: timedelta) -> int:
    return max(0, round(passed.total_seconds()))
