"""The steps of a dispatch: one per look, each safe to repeat after the worker died at any point of it.

What happens on the host is idempotent by the run directory's name and the generation; what happens in the register is
one conditional UPDATE (runners/moves.py). So a look does the same whether the one before it ended or not.
"""

import logging
from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from runners import exits, safety
from runners.claim import claim, settle_lost
from runners.collect import collect, why_it_ended
from runners.errors import HostError
from runners.hosts import Connect
from runners.hosts.protocol import Detached, LabHost, ProgramStatus
from runners.models import Dispatch
from runners.moves import WORKER, move, note
from runners.progress import follow, summarise, tail
from runners.recipes import RECIPES
from runners.states import FINAL, State
from runners.telemetry import fetch_telemetry

log = logging.getLogger(__name__)


def advance(dispatch: Dispatch, connect: Connect) -> bool:
    """Make the step that is due and return whether the state changed; the caller holds the dispatch's lock.

    What a host fails at is dealt with here; any other exception is a fault of the register and left to the caller.
    """
    if dispatch.state in FINAL:
        _end_left_behind(dispatch, connect)
        return False
    if dispatch.state == State.QUEUED:
        return _queued(dispatch, connect)
    try:
        moved = STEPS[State(dispatch.state)](dispatch, connect(dispatch.device.host))
    except HostError as error:
        return _failed_at_host(dispatch, error)
    if not moved:
        _beat(dispatch)
    return moved


def _end_left_behind(dispatch: Dispatch, connect: Connect) -> None:
    """Lost, and somebody asked for its program to be ended: it stays lost, and its drive is freed once nothing runs."""
    if dispatch.state == State.LOST and dispatch.ended_at is None and dispatch.cancel_requested_at:
        settle_lost(dispatch, connect)


def _queued(dispatch: Dispatch, connect: Connect) -> bool:
    if dispatch.cancel_requested_at:
        return move(dispatch, State.QUEUED, State.CANCELLED, WORKER, "cancelled before it was claimed")
    return claim(dispatch, connect)


def _check(dispatch: Dispatch, host: LabHost) -> bool:
    """Claimed: ask what the path names now, before anything is written anywhere."""
    if dispatch.cancel_requested_at:
        return move(dispatch, State.CLAIMED, State.CANCELLED, WORKER, "cancelled before anything was sent to the host")
    objections = safety.objections_to_start(dispatch, host.identify(dispatch.device.path))
    if objections:
        return move(dispatch, State.CLAIMED, State.REFUSED, WORKER, "; ".join(objections))
    return move(dispatch, State.CLAIMED, State.PREPARING, WORKER, "")


def _start(dispatch: Dispatch, host: LabHost) -> bool:
    """Preparing: start it, or learn that it was started by a worker that died before it could say so."""
    if host.status(dispatch.public_id).state is Detached.ABSENT:
        if dispatch.cancel_requested_at:
            return _cancel_start(dispatch, host)
        # Asked again: the worker may have been away for hours between the two steps.
        objections = safety.objections_to_start(dispatch, host.identify(dispatch.device.path))
        if objections:
            return move(dispatch, State.PREPARING, State.REFUSED, WORKER, "; ".join(objections))
        host.put(dispatch.public_id, RECIPES[dispatch.recipe].files(dispatch))
    argv = RECIPES[dispatch.recipe].argv(dispatch)
    started = host.start(dispatch.public_id, dispatch.drive_key, dispatch.generation, argv)
    return _save_start(dispatch, host, started)


def _cancel_start(dispatch: Dispatch, host: LabHost) -> bool:
    """Close the run directory first: a start by a worker cut off from the database may still be under way."""
    host.put(dispatch.public_id, {})
    if host.stop(dispatch.public_id).state is Detached.RUNNING:
        return False
    return move(dispatch, State.PREPARING, State.CANCELLED, WORKER, "cancelled before the start")


def _save_start(dispatch: Dispatch, host: LabHost, started: ProgramStatus) -> bool:
    told = {"pid": started.pid, "started_at": timezone.now()}
    process = f"pid {started.pid}" if started.pid else "ended before it was seen"
    moved = move(dispatch, State.PREPARING, State.RUNNING, WORKER, process, **told)
    if not moved and dispatch.state in FINAL:
        # Ended by another worker while this one, cut off from the database, was starting: nobody would watch it.
        host.stop(dispatch.public_id)
    return moved


def _watch(dispatch: Dispatch, host: LabHost) -> bool:
    """Running: ask, count, and leave it alone; stop it where somebody asked for that."""
    status = host.status(dispatch.public_id)
    if status.state is Detached.RUNNING and dispatch.cancel_requested_at:
        status = host.stop(dispatch.public_id)
    if status.state is Detached.ABSENT:
        lost = f"{dispatch.device.host} has no run directory of pid {dispatch.pid} any more"
        return move(dispatch, State.RUNNING, State.LOST, WORKER, lost)
    moved = status.state is Detached.ENDED and _ended(dispatch, host, status)
    _count(dispatch, host, status)  # last: what is only shown must not hold up what is done
    return moved


def _ended(dispatch: Dispatch, host: LabHost, status: ProgramStatus) -> bool:
    if dispatch.cancel_requested_at and exits.was_stopped(status.exit_status):
        return move(dispatch, State.RUNNING, State.CANCELLED, WORKER, "cancelled; the program has ended on the host")
    reason = why_it_ended(host, dispatch.public_id, status.exit_status, status.reason)
    if status.log_bytes == 0:
        return move(dispatch, State.RUNNING, State.FAILED, WORKER, f"{reason}; it wrote no log")
    return move(dispatch, State.RUNNING, State.COLLECTING, WORKER, reason, exit_status=status.exit_status)


def _count(dispatch: Dispatch, host: LabHost, status: ProgramStatus) -> None:
    """Fetch what the log has gained into the counters of the live page."""
    if not status.log_bytes:
        return
    unit = RECIPES[dispatch.recipe].unit(dispatch)
    read_bytes, blocks = follow(host, dispatch.public_id, status.log_bytes, dispatch.log_bytes)
    progress = summarise(dispatch.progress, blocks, unit) | {"tail": tail(host, dispatch.public_id, status.log_bytes)}
    progress |= fetch_telemetry(host, dispatch.public_id, status.side_file_bytes)
    columns = {"log_bytes": read_bytes, "last_label_s": progress.get("label_s", 0), "progress": progress}
    Dispatch.objects.filter(pk=dispatch.pk).update(**columns)


STEPS: dict[State, Callable[[Dispatch, LabHost], bool]] = {
    State.CLAIMED: _check,
    State.PREPARING: _start,
    State.RUNNING: _watch,
    State.COLLECTING: collect,
}


def _beat(dispatch: Dispatch) -> None:
    """The look ended well: the host answered, and what was said of silence or stumbling is over."""
    live = Dispatch.objects.filter(pk=dispatch.pk, state=dispatch.state)
    live.update(heartbeat_at=timezone.now(), silent_since=None, reason="")
    dispatch.refresh_from_db()


def _failed_at_host(dispatch: Dispatch, error: HostError) -> bool:
    """End it where asking again cannot help; a running program is never given up for that, only for silence."""
    log.warning("%s: %s: %s", dispatch.public_id, type(error).__name__, error)
    state = State(dispatch.state)
    if not error.retry and state is not State.RUNNING:
        return move(dispatch, state, error.ends_in, WORKER, str(error))
    silent_since = dispatch.silent_since or timezone.now()
    if timezone.now() - silent_since >= timedelta(seconds=settings.HOST_SILENCE_S):
        return move(
            dispatch, state, State.LOST, WORKER, f"no answer since {silent_since:%Y-%m-%d %H:%M:%S} UTC: {error}"
        )
    Dispatch.objects.filter(pk=dispatch.pk, state=state).update(silent_since=silent_since)
    note(dispatch, f"no answer, asking again: {error}")
    return False


def stumbled(dispatch: Dispatch, error: Exception) -> None:
    """Say on the page what the register itself failed at; the next look tries again, unless somebody has had enough.

    Only what has ended on the host may be cancelled here: before that a program might still run.
    """
    sentence = f"{type(error).__name__}: {error}"
    if dispatch.state == State.COLLECTING and dispatch.cancel_requested_at:
        kept = f"cancelled while its log could not be taken in ({sentence}); the log is still on the host"
        move(dispatch, State.COLLECTING, State.CANCELLED, WORKER, kept)
        return
    note(dispatch, f"the register stumbled, trying again: {sentence}")
