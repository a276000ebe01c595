"""The steps of a dispatch: one per look, each safe to repeat after the worker died at any point of it.

What happens on the host is idempotent by the run directory's name and the generation; what happens in the register is
one conditional UPDATE (runners/lifecycle/transitions.py). So a look does the same whether the one before it ended or
not.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from django.utils import timezone

from results.evidence.store import TooLargeError
from runners.dispatch.claim import claim, settle_lost
from runners.dispatch.failures import beat, failed_at_host, put_off
from runners.dispatch.remote_telemetry import look_beside, words_beside
from runners.errors import HostError, HostSilentError
from runners.evidence import drive_states
from runners.hosts.protocol import Connect, Detached, LabHost, ProgramStatus, close, was_never_started
from runners.inventory import safety
from runners.inventory.device_lookup import look_up, ordered_path
from runners.lifecycle.stages import (
    asked_to_end_since,
    current,
    current_run,
    lab_host,
    machines_count,
    overdue_since,
    overdue_words,
    pass_on,
    stages_of,
    was_refused,
    why_it_ended,
    why_it_ended_badly,
    will_not_end,
)
from runners.lifecycle.transitions import move
from runners.models import Dispatch, DriveState, exit_codes
from runners.models.states import FINAL, WORKER, State
from runners.recipes import RECIPES
from runners.retention.leftover_archive import keep_what_is_left

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
        return _step(dispatch, lab_host(dispatch, connect))
    except HostError as error:
        return failed_at_host(dispatch, error)


def _step(dispatch: Dispatch, host: LabHost) -> bool:
    try:
        moved = STEPS[State(dispatch.state)](dispatch, host)
    except HostError as error:
        if error.retry or dispatch.state != State.PREPARING:
            raise
        # An earlier start whose answer never came must not begin after the drive was given to another.
        closed = close(host, current_run(dispatch))
        if closed.state is Detached.RUNNING:
            raise HostSilentError(f"{error}; but its program runs, and is asked to end") from error
        _note_never_started(dispatch, closed)
        raise
    if not moved:
        beat(dispatch)
    return moved


def _end_left_behind(dispatch: Dispatch, connect: Connect) -> None:
    """Lost, and somebody asked for its program to be ended: it stays lost, and its drive is freed once nothing runs."""
    is_left = dispatch.state == State.LOST and dispatch.ended_at is None and dispatch.cancel_requested_at
    if is_left and not settle_lost(dispatch, connect):
        put_off(dispatch)


def _queued(dispatch: Dispatch, connect: Connect) -> bool:
    if dispatch.cancel_requested_at:
        return move(dispatch, State.QUEUED, State.CANCELLED, WORKER, "it was not claimed yet")
    return claim(dispatch, connect)


def _check(dispatch: Dispatch, host: LabHost) -> bool:
    """Claimed: ask what the path names now, before anything is written anywhere."""
    if dispatch.cancel_requested_at:
        return move(dispatch, State.CLAIMED, State.CANCELLED, WORKER, "nothing of it was sent to the host")
    objections = safety.objections_to_start(dispatch, look_up(dispatch.device, host))
    if objections:
        return move(dispatch, State.CLAIMED, State.REFUSED, WORKER, "; ".join(objections))
    return move(dispatch, State.CLAIMED, State.PREPARING, WORKER, _found_elsewhere(dispatch))


def _found_elsewhere(dispatch: Dispatch) -> str:
    """Say that the drive has another name than when it was ordered; empty where it has not."""
    ordered, now = ordered_path(dispatch), dispatch.device.path
    return "" if ordered == now else f"its drive was {ordered} when this was ordered, and is found as {now}"


def _start(dispatch: Dispatch, host: LabHost) -> bool:
    """Preparing: start it, or learn that it was started by a worker that died before it could say so."""
    if host.status(current_run(dispatch)).state is Detached.ABSENT:
        if dispatch.cancel_requested_at:
            return _cancel_start(dispatch, host)
        # Asked again: the worker may have been away for hours between the two steps.
        identity = look_up(dispatch.device, host)
        objections = safety.objections_to_start(dispatch, identity)
        if objections:
            return _refuse_start(dispatch, host, "; ".join(objections))
        drive_states.keep(dispatch, DriveState.Moment.BEFORE, identity)
    return _save_start(dispatch, host, _start_stage(dispatch, host))


def _refuse_start(dispatch: Dispatch, host: LabHost, reason: str) -> bool:
    """Close the run directory first: an earlier start, whose answer never came, may still be under way."""
    closed = close(host, current_run(dispatch))
    if closed.state is Detached.RUNNING:
        return False
    never = was_never_started(closed)
    return move(dispatch, State.PREPARING, State.REFUSED, WORKER, reason, is_never_started=never)


def _note_never_started(dispatch: Dispatch, closed: ProgramStatus) -> None:
    if was_never_started(closed):
        Dispatch.objects.filter(pk=dispatch.pk).update(is_never_started=True)


def _start_stage(dispatch: Dispatch, host: LabHost) -> ProgramStatus:
    """Send the files of the current stage and start it; asked again, learn of the same process."""
    stage, run = current(dispatch), current_run(dispatch)
    if stage.resets_drive and dispatch.resets_drive_at is None:
        Dispatch.objects.filter(pk=dispatch.pk).update(resets_drive_at=timezone.now())
    if host.status(run).state is Detached.ABSENT:
        host.put(run, stage.files)
    return host.start(run, dispatch.drive_key, dispatch.generation, stage.argv)


def _cancel_start(dispatch: Dispatch, host: LabHost) -> bool:
    """Close the run directory first: a start by a worker cut off from the database may still be under way."""
    closed = close(host, current_run(dispatch))
    if closed.state is Detached.RUNNING:
        return False
    never = was_never_started(closed)
    said = "its program was not started" if never else "its program was started, and has ended on the host"
    return move(dispatch, State.PREPARING, State.CANCELLED, WORKER, said, is_never_started=never)


def _save_start(dispatch: Dispatch, host: LabHost, started: ProgramStatus) -> bool:
    told = {"pid": started.pid, "boot_ids": list(started.boot_ids), "started_at": timezone.now()}
    process = f"pid {started.pid}" if started.pid else "ended before it was seen"
    moved = move(dispatch, State.PREPARING, State.RUNNING, WORKER, process, **told)
    if not moved and dispatch.state in FINAL:
        # Ended by another worker while this one, cut off from the database, was starting: nobody would watch it.
        close(host, current_run(dispatch))
    return moved


def _watch(dispatch: Dispatch, host: LabHost) -> bool:
    """Running: ask, count, and leave it alone; stop it where somebody asked for that."""
    run = current_run(dispatch)
    status = host.status(run)
    _see(dispatch, status)
    if status.state is Detached.RUNNING and asked_to_end_since(dispatch):
        _note_end_asked(dispatch)
        status = host.stop(run)
        if status.state is Detached.RUNNING and will_not_end(dispatch):
            stuck = f"asked to end since {asked_to_end_since(dispatch):%Y-%m-%d %H:%M:%S} UTC, but it still runs"
            return move(dispatch, State.RUNNING, State.LOST, WORKER, stuck)
    if status.state is Detached.ABSENT and dispatch.stage > 0 and dispatch.pid is None:
        return _follow_on(dispatch, host)
    if status.state is Detached.ABSENT:
        lost = f"{dispatch.device.host} has no run directory of pid {dispatch.pid} any more"
        return move(dispatch, State.RUNNING, State.LOST, WORKER, lost)
    moved = status.state is Detached.ENDED and _ended(dispatch, host, status)
    # Last: what is only shown must not hold up what is done, nor must a second machine that gives no answer.
    _count(dispatch, host, run, status, is_last=not moved and dispatch.load_host_id is None)
    if status.state is Detached.RUNNING:
        _see(dispatch, look_beside(dispatch, host, status))
    return moved


def _note_end_asked(dispatch: Dispatch) -> None:
    """Keep that it is asked to end for its limit, before it is: its history says so where it ends for that."""
    if dispatch.end_asked_at is None and overdue_since(dispatch):
        dispatch.end_asked_at = timezone.now()
        here = Dispatch.objects.filter(pk=dispatch.pk, state=State.RUNNING, stage=dispatch.stage)
        here.update(end_asked_at=dispatch.end_asked_at)


def _follow_on(dispatch: Dispatch, host: LabHost) -> bool:
    """Start the stage that is due; where that cannot be, go on to what cleans up."""
    if dispatch.cancel_requested_at and not current(dispatch).is_cleanup:
        return _leave_out(dispatch, host, "not begun: cancelled")
    try:
        identity = look_up(dispatch.device, host)
        if identity.drive_key != dispatch.drive_key:
            found = f"{identity.path}: expected drive {dispatch.drive_key}, found {identity.drive_key}; not begun"
            return _leave_out(dispatch, host, found)
        started = _start_stage(dispatch, host)
    except HostError as error:
        if error.retry:
            raise
        return _leave_out(dispatch, host, str(error))
    _keep_sight(dispatch, started)
    return False


def _leave_out(dispatch: Dispatch, host: LabHost, reason: str) -> bool:
    """Pass over the stage that was due. Its run directory is closed first: no late start of it may take the drive."""
    if close(host, current_run(dispatch)).state is Detached.RUNNING:
        return False
    return pass_on(dispatch, None, reason) or _last_stage_ended(dispatch)


def _stage_ended(dispatch: Dispatch, host: LabHost, status: ProgramStatus) -> bool:
    """YCSB ends with 0 whatever happened: without a line of output nothing that follows would measure anything."""
    reason = why_it_ended(dispatch, host, status.exit_status, status.reason)
    reason += overdue_words(dispatch, status.exit_status) + words_beside(dispatch, host)
    if status.exit_status == exit_codes.FINISHED and current(dispatch).is_measured and not status.log_bytes:
        status, reason = replace(status, exit_status=exit_codes.PROGRAM_FAILED), f"{reason}; it wrote no log"
    return pass_on(dispatch, status, reason) or _last_stage_ended(dispatch)


def _last_stage_ended(dispatch: Dispatch) -> bool:
    """All stages are over: what they left is taken in, also where one failed; not where it was cancelled."""
    dispatch.refresh_from_db()
    if dispatch.state != State.RUNNING:
        return False
    if dispatch.cancel_requested_at:
        return move(dispatch, State.RUNNING, State.CANCELLED, WORKER, "its programs have ended on the host")
    exit_status = exit_codes.FINISHED if dispatch.exit_status is None else dispatch.exit_status
    reason = why_it_ended_badly(dispatch)
    return move(dispatch, State.RUNNING, State.COLLECTING, WORKER, reason, exit_status=exit_status)


def _ended(dispatch: Dispatch, host: LabHost, status: ProgramStatus) -> bool:
    if len(stages_of(dispatch)) > 1:
        return _stage_ended(dispatch, host, status)
    if dispatch.cancel_requested_at and exit_codes.was_stopped(status.exit_status):
        return move(dispatch, State.RUNNING, State.CANCELLED, WORKER, "its program has ended on the host")
    reason = why_it_ended(dispatch, host, status.exit_status, status.reason)
    reason += overdue_words(dispatch, status.exit_status)
    if status.log_bytes == 0:
        return _ended_without_log(dispatch, status.exit_status, reason)
    return move(dispatch, State.RUNNING, State.COLLECTING, WORKER, reason, exit_status=status.exit_status)


def _ended_without_log(dispatch: Dispatch, exit_status: int | None, reason: str) -> bool:
    """A drive that drivetest itself refused has no log to miss; every other end without one is a failure."""
    told = {"exit_status": exit_status, "taken_in_at": None if dispatch.log_bytes else timezone.now()}
    if was_refused(dispatch, exit_status):
        return move(dispatch, State.RUNNING, State.REFUSED, WORKER, reason, **told)
    seen = f"its log is empty now, {dispatch.log_bytes} bytes were seen" if dispatch.log_bytes else "it wrote no log"
    return move(dispatch, State.RUNNING, State.FAILED, WORKER, f"{reason}; {seen}", **told)


def _see(dispatch: Dispatch, status: ProgramStatus) -> None:
    """Keep of a program that runs what is not known of it yet: the row may come from a start by an earlier version."""
    is_whole = len(status.boot_ids) >= machines_count(dispatch)
    is_new = dispatch.pid is None or (is_whole and len(dispatch.boot_ids) < machines_count(dispatch))
    if status.state is Detached.RUNNING and is_new:
        _keep_sight(dispatch, status if is_whole else replace(status, boot_ids=()))


def _keep_sight(dispatch: Dispatch, status: ProgramStatus) -> None:
    """Keep that a program runs, and under which start of its machines: under another one it cannot run any more."""
    dispatch.pid, dispatch.boot_ids = status.pid, list(status.boot_ids)
    here = Dispatch.objects.filter(pk=dispatch.pk, state=State.RUNNING, stage=dispatch.stage)
    here.update(pid=dispatch.pid, boot_ids=dispatch.boot_ids)


def _count(dispatch: Dispatch, host: LabHost, run: str, status: ProgramStatus, *, is_last: bool) -> None:
    """Fetch what the run's files have gained into the counters of the live page.

    `is_last`: nothing else is asked at this look, so one statement keeps them and that it went well.
    """
    columns = RECIPES[dispatch.recipe].progress(dispatch, host, run, status)
    if columns and is_last:
        beat(dispatch, **columns)
    elif columns:
        Dispatch.objects.filter(pk=dispatch.pk).update(**columns)


def collect(dispatch: Dispatch, host: LabHost) -> bool:
    """Hand in what was left and end the dispatch. Repeated after a crash it finds the same submission: same bytes.

    A run that ended badly leaves evidence too; then the dispatch failed, with its log kept.
    """
    drive_states.record(dispatch, host, DriveState.Moment.AFTER)
    reason = _reason(dispatch, host)
    try:
        left = _hand_in(dispatch, host)
    except TooLargeError as error:
        remedy = "order a shorter run, or raise UPLOAD_MAX_BYTES before the next"
        kept = f"{reason}; its log stays on the host and was not taken in: {error}; {remedy}"
        return move(dispatch, State.COLLECTING, State.FAILED, WORKER, kept)
    cut = _cut_words(dispatch, left)
    return move(
        dispatch, State.COLLECTING, _end(dispatch, cut), WORKER, f"{reason}{cut}", taken_in_at=timezone.now(), **left
    )


def _hand_in(dispatch: Dispatch, host: LabHost) -> dict[str, Any]:
    """Take what was left into the register. Of a drive that drivetest refused there is no run that could be read."""
    if was_refused(dispatch, dispatch.exit_status):
        keep_what_is_left(dispatch, host)
        return {}
    return RECIPES[dispatch.recipe].collect(dispatch, host)


def _end(dispatch: Dispatch, cut: str) -> State:
    if was_refused(dispatch, dispatch.exit_status):
        return State.REFUSED
    return State.DONE if dispatch.exit_status in exit_codes.DID_ITS_JOB and not cut else State.FAILED


def _reason(dispatch: Dispatch, host: LabHost) -> str:
    if len(stages_of(dispatch)) > 1:
        return why_it_ended_badly(dispatch) or exit_codes.REASONS[exit_codes.FINISHED]
    words = overdue_words(dispatch, dispatch.exit_status)
    return why_it_ended(dispatch, host, dispatch.exit_status) + words


def _cut_words(dispatch: Dispatch, left: Mapping[str, Any]) -> str:
    """Say of a log that it lacks what the live page had read of it; such a run is no whole one, whatever is left.

    Of several stages the page follows one log after the other, and what is handed in is an archive of all.
    """
    submission = left.get("submission")
    if submission is None or len(stages_of(dispatch)) > 1 or submission.log.size_bytes >= dispatch.log_bytes:
        return ""
    seen, kept = dispatch.log_bytes, submission.log.size_bytes
    return f"; its log was cut on the host: {seen} bytes were seen, {kept} are left"


STEPS: dict[State, Callable[[Dispatch, LabHost], bool]] = {
    State.CLAIMED: _check,
    State.PREPARING: _start,
    State.RUNNING: _watch,
    State.COLLECTING: collect,
}
