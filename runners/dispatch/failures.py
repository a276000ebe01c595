"""What becomes of a dispatch whose host or register fails at a look, and the heartbeat of a look that went well."""

import logging
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models.functions import Now
from django.utils import timezone

from runners.errors import HostError
from runners.lifecycle.transitions import move, note
from runners.models import Dispatch
from runners.models.dispatch_rows import keep
from runners.models.states import WORKER, State
from runners.monitoring.connectivity import HEARTBEAT_S

log = logging.getLogger(__name__)


def beat(dispatch: Dispatch, **seen: Any) -> None:
    """The look ended well: the host answered, and what was said of silence or stumbling is over.

    `seen` are columns that the same statement keeps. Where there is nothing to say, that it went well is said every few
    seconds only: it would be one of four statements of a look.
    """
    now = timezone.now()
    is_said = dispatch.heartbeat_at and now - dispatch.heartbeat_at < timedelta(seconds=HEARTBEAT_S)
    if is_said and dispatch.silent_since is None and not dispatch.reason and not seen:
        return
    well = {"heartbeat_at": now, "silent_since": None, "reason": ""}
    keep(dispatch, well | seen)
    dispatch.heartbeat_at, dispatch.silent_since, dispatch.reason = now, None, ""


def failed_at_host(dispatch: Dispatch, error: HostError) -> bool:
    """End it where asking again cannot help; a running program is never given up for that, only for silence."""
    log.warning("%s: %s: %s", dispatch.public_id, type(error).__name__, error)
    state = State(dispatch.state)
    if not error.retry and state is not State.RUNNING:
        return move(dispatch, state, error.ends_in, WORKER, str(error))
    silent_since = dispatch.silent_since or timezone.now()
    if timezone.now() - silent_since >= timedelta(seconds=settings.HOST_SILENCE_S):
        since = min([silent_since, *map(datetime.fromisoformat, dispatch.silences.values())])
        return move(dispatch, state, State.LOST, WORKER, f"no answer since {since:%Y-%m-%d %H:%M:%S} UTC: {error}")
    put_off(dispatch)
    note(dispatch, f"no answer, asking again: {error}")
    return False


def stumbled(dispatch: Dispatch, error: Exception) -> None:
    """Say on the page what the register itself failed at; the next look tries again, unless somebody has had enough.

    Only what has ended on the host may be cancelled here: before that a program might still run.
    """
    sentence = f"{type(error).__name__}: {error}"
    if dispatch.state == State.COLLECTING and dispatch.cancel_requested_at:
        kept = f"its log could not be taken in ({sentence}), and is still on the host"
        move(dispatch, State.COLLECTING, State.CANCELLED, WORKER, kept)
        return
    note(dispatch, f"the register stumbled, trying again: {sentence}")


def put_off(dispatch: Dispatch) -> None:
    """The host gave no answer: ask it again later, the later the longer it has been silent."""
    silent_since = dispatch.silent_since or timezone.now()
    again = Now() + _patience(silent_since)
    here = Dispatch.objects.filter(pk=dispatch.pk, state=dispatch.state)
    here.update(silent_since=silent_since)
    # Who asked for a cancel while the answer was waited for is not put off: another machine of it may answer.
    here.filter(cancel_requested_at=dispatch.cancel_requested_at).update(next_look_at=again)
    dispatch.silent_since = silent_since


def _patience(silent_since: datetime) -> timedelta:
    """Return how long a silent host is left alone: as long as it has been silent, but its end is not overslept."""
    silent_for = timezone.now() - silent_since
    least, most = timedelta(seconds=settings.WATCH_PERIOD_S), timedelta(seconds=settings.SILENT_PERIOD_S)
    until_lost = timedelta(seconds=settings.HOST_SILENCE_S) - silent_for
    if timedelta() < until_lost < most:
        most = until_lost
    return max(least, min(silent_for, most))
