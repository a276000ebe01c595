"""The steps of a dispatch: one per poll, each safe to repeat after the worker died at any point of it.

Calls to the host are idempotent by the run directory's name and the generation. A change in the register is one
conditional UPDATE (runners/lifecycle/transitions.py). So a poll has the same effect whether the previous one ended or
not.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

from results.evidence.store import TooLargeError
from runners.dispatch.claim import claim, settle_lost
from runners.dispatch.failures import handle_host_error, schedule_retry
from runners.errors import HostError, HostUnavailableError
from runners.evidence.submit import record_drive_state, store_drive_state
from runners.hosts.protocol import Connect, LabHost, ProgramState, ProgramStatus, stop_and_seal, was_never_started
from runners.inventory.maintenance_windows import blocking_window, window_message
from runners.inventory.safety import identify_device, objections_to_start, ordered_path
from runners.lifecycle import stages
from runners.lifecycle.clock_steps import CLOCK_STEPS
from runners.lifecycle.stages import poll_telemetry, telemetry_message
from runners.lifecycle.transitions import transition
from runners.models import Dispatch, DriveState, exit_codes
from runners.models.states import FINAL, State
from runners.monitoring.connectivity import record_heartbeat
from runners.recipes import RECIPES
from runners.recipes.base import Stage, run_of
from runners.retention.leftover_archive import archive_leftovers

log = logging.getLogger(__name__)


def advance(dispatch: Dispatch, connect: Connect) -> bool:
    """Make the step that is due and return whether the state changed. The caller has the dispatch's lock.

    Host errors are handled here. Any other exception is a fault of the register and left to the caller.
    """
    if dispatch.state in FINAL:
        # The drive of a lost dispatch that was cancelled is freed once nothing of it runs. The dispatch stays lost.
        is_left = dispatch.state == State.LOST and dispatch.ended_at is None and dispatch.cancel_requested_at
        if is_left and not settle_lost(dispatch, connect):
            schedule_retry(dispatch)
        return False
    if dispatch.state == State.QUEUED and dispatch.cancel_requested_at:
        return transition(dispatch, State.QUEUED, State.CANCELLED, "the run was still queued")
    if dispatch.state == State.QUEUED:
        return claim(dispatch, connect)
    try:
        return _step(dispatch, stages.lab_host(dispatch, connect))
    except HostError as error:
        return handle_host_error(dispatch, error)


def _step(dispatch: Dispatch, host: LabHost) -> bool:
    try:
        has_changed = STEPS[State(dispatch.state)](dispatch, host)
    except HostError as error:
        if error.retry or dispatch.state != State.PREPARING:
            raise
        # An earlier start whose answer was lost must not take effect after another dispatch has claimed the drive.
        closed = stop_and_seal(host, stages.current_run(dispatch))
        if closed.state is ProgramState.RUNNING:
            raise HostUnavailableError(f"{error}; but its program runs, and is being stopped") from error
        if was_never_started(closed):
            Dispatch.objects.filter(pk=dispatch.pk).update(is_never_started=True)
        raise
    if not has_changed:
        record_heartbeat(dispatch)
    return has_changed


def _check_drive(dispatch: Dispatch, host: LabHost) -> bool:
    """Check the claimed device at the path before anything is written anywhere."""
    if dispatch.cancel_requested_at:
        return transition(dispatch, State.CLAIMED, State.CANCELLED, "nothing was sent to the host")
    if _waits_for_window(dispatch):
        return False
    objections = objections_to_start(dispatch, identify_device(dispatch.device, host))
    if objections:
        return transition(dispatch, State.CLAIMED, State.REFUSED, "; ".join(objections))
    ordered, now = ordered_path(dispatch), dispatch.device.path
    moved = "" if ordered == now else f"the drive was at {ordered} when the run was ordered, and is at {now} now"
    return transition(dispatch, State.CLAIMED, State.PREPARING, moved)


def _waits_for_window(dispatch: Dispatch) -> bool:
    """Return whether a maintenance window began since the claim, for example while the host did not answer."""
    window = blocking_window(dispatch)
    if window is None:
        return False
    # With the heartbeat: one without a reason ends the reason.
    record_heartbeat(dispatch, reason=f"{window_message(window)}; the run waits for its end")
    return True


def _start(dispatch: Dispatch, host: LabHost) -> bool:
    """Start the program, or find that a worker started it and died before it recorded that."""
    is_absent = host.status(stages.current_run(dispatch)).state is ProgramState.ABSENT
    if is_absent:
        if dispatch.cancel_requested_at:
            return _close_start(dispatch, host)
        if dispatch.stage == 0 and _waits_for_window(dispatch):
            return False
        # Identify again: hours may have passed between the two steps.
        identity = identify_device(dispatch.device, host)
        objections = objections_to_start(dispatch, identity)
        if objections:
            return _close_start(dispatch, host, refusal="; ".join(objections))
        store_drive_state(dispatch, DriveState.Moment.BEFORE, identity)
    return _save_start(dispatch, host, _start_stage(dispatch, host, is_absent=is_absent))


def _close_start(dispatch: Dispatch, host: LabHost, refusal: str = "") -> bool:
    """Refuse the start, or cancel it without a refusal. First seal the run directory.

    An earlier start may still be in progress, also by a worker without database access.
    """
    closed = stop_and_seal(host, stages.current_run(dispatch))
    if closed.state is ProgramState.RUNNING:
        return False
    never = was_never_started(closed)
    end = "the program was not started" if never else "the program was started, and has ended on the host"
    state, reason = (State.REFUSED, refusal) if refusal else (State.CANCELLED, end)
    return transition(dispatch, State.PREPARING, state, reason, is_never_started=never)


def _start_stage(dispatch: Dispatch, host: LabHost, *, is_absent: bool) -> ProgramStatus:
    """Send the files of the current stage if its program is absent, and start it.

    A repetition reports the same process. An earlier start may take effect meanwhile: it had the same files.
    """
    stage, run = stages.current_stage(dispatch), stages.current_run(dispatch)
    if stage.resets_drive and dispatch.resets_drive_at is None:
        Dispatch.objects.filter(pk=dispatch.pk).update(resets_drive_at=timezone.now())
    if is_absent:
        host.put(run, stage.files)
    return host.start(run, dispatch.drive_key, dispatch.generation, stage.argv)


def _save_start(dispatch: Dispatch, host: LabHost, started: ProgramStatus) -> bool:
    columns = {"pid": started.pid, "boot_ids": list(started.boot_ids), "started_at": timezone.now()}
    process = f"process id: {started.pid}" if started.pid else "the program ended before the first poll"
    has_changed = transition(dispatch, State.PREPARING, State.RUNNING, process, **columns)
    if not has_changed and dispatch.state in FINAL:
        # Another worker ended it while this one was cut off from the database: no worker would poll the program.
        stop_and_seal(host, stages.current_run(dispatch))
    return has_changed


def _poll_running(dispatch: Dispatch, host: LabHost) -> bool:
    """Record the status and progress of a running program; stop it if that was requested."""
    stage = stages.current_stage(dispatch)
    run = run_of(dispatch.public_id, stage)
    status = host.status(run)
    _record_observation(dispatch, status)
    if status.state is ProgramState.RUNNING:
        _record_end_request(dispatch, stage)
    if status.state is ProgramState.RUNNING and (since := stages.stop_requested_since(dispatch, stage)):
        status = host.stop(run)
        is_long_ago = timezone.now() - since >= timedelta(seconds=settings.HOST_SILENCE_S)
        is_unstoppable = is_long_ago and not CLOCK_STEPS.seen_within(settings.HOST_SILENCE_S)
        if status.state is ProgramState.RUNNING and is_unstoppable:
            stuck = f"the program still runs, although its stop was requested at {since:%Y-%m-%d %H:%M:%S} UTC"
            return transition(dispatch, State.RUNNING, State.LOST, stuck)
    if status.state is ProgramState.ABSENT and dispatch.stage > 0 and dispatch.pid is None:
        return _start_next_stage(dispatch, host)
    if status.state is ProgramState.ABSENT:
        lost = f"host {dispatch.device.host} no longer has the run directory of process {dispatch.pid}"
        return transition(dispatch, State.RUNNING, State.LOST, lost)
    has_changed = status.state is ProgramState.ENDED and _ended(dispatch, host, status)
    # Last: neither the live page nor a silent second host may delay the steps above.
    _update_progress(dispatch, host, run, status, is_last=not has_changed and dispatch.load_host_id is None)
    if status.state is ProgramState.RUNNING and dispatch.load_host_id is not None:
        _record_observation(dispatch, poll_telemetry(dispatch, host, status))
    return has_changed


def _record_end_request(dispatch: Dispatch, stage: Stage) -> None:
    """Record that the program is to be stopped for its limit, before it is: its history then shows the cause."""
    if dispatch.end_requested_at is None and stages.is_overdue(dispatch, stage):
        dispatch.end_requested_at = timezone.now()
        here = Dispatch.objects.filter(pk=dispatch.pk, state=State.RUNNING, stage=dispatch.stage)
        here.update(end_requested_at=dispatch.end_requested_at)


def _start_next_stage(dispatch: Dispatch, host: LabHost) -> bool:
    """Start the stage that is due. If it cannot start, go on to cleanup."""
    if dispatch.cancel_requested_at and not stages.current_stage(dispatch).is_cleanup:
        return _skip_stage(dispatch, host, "the stage was not started, because the run was cancelled")
    try:
        identity = identify_device(dispatch.device, host)
        if identity.drive_key != dispatch.drive_key:
            found = f"the stage was not started: expected drive {dispatch.drive_key} at {identity.path}, "
            found += f"found drive {identity.drive_key}"
            return _skip_stage(dispatch, host, found)
        started = _start_stage(dispatch, host, is_absent=True)
    except HostError as error:
        if error.retry:
            raise
        return _skip_stage(dispatch, host, str(error))
    _store_process(dispatch, started)
    return False


def _skip_stage(dispatch: Dispatch, host: LabHost, reason: str) -> bool:
    """Skip the stage that was due. Its run directory is sealed first: a late start must not get the drive."""
    if stop_and_seal(host, stages.current_run(dispatch)).state is ProgramState.RUNNING:
        return False
    return stages.advance_stage(dispatch, None, reason) or _last_stage_ended(dispatch)


def _stage_ended(dispatch: Dispatch, host: LabHost, status: ProgramStatus) -> bool:
    """Record the end of a stage. YCSB always exits with 0: without output, later stages would measure nothing."""
    reason = stages.end_message(dispatch, host, status)
    reason += stages.overdue_message(dispatch, status.exit_status) + telemetry_message(dispatch, host)
    is_measured = stages.current_stage(dispatch).is_measured
    if status.exit_status == exit_codes.FINISHED and is_measured and not status.log_bytes:
        status, reason = replace(status, exit_status=exit_codes.PROGRAM_FAILED), f"{reason}; the program wrote no log"
    return stages.advance_stage(dispatch, status, reason) or _last_stage_ended(dispatch)


def _last_stage_ended(dispatch: Dispatch) -> bool:
    """End the stages: collect the results, also if one failed, but not if the dispatch was cancelled."""
    dispatch.refresh_from_db()
    if dispatch.state != State.RUNNING:
        return False
    if dispatch.cancel_requested_at:
        return transition(dispatch, State.RUNNING, State.CANCELLED, "the programs have ended on the host")
    exit_status = exit_codes.FINISHED if dispatch.exit_status is None else dispatch.exit_status
    reason = stages.first_failure_message(dispatch)
    return transition(dispatch, State.RUNNING, State.COLLECTING, reason, exit_status=exit_status)


def _ended(dispatch: Dispatch, host: LabHost, status: ProgramStatus) -> bool:
    if len(stages.stages_of(dispatch)) > 1:
        return _stage_ended(dispatch, host, status)
    if dispatch.cancel_requested_at and exit_codes.was_stopped(status.exit_status):
        return transition(dispatch, State.RUNNING, State.CANCELLED, "the program has ended on the host")
    reason = stages.end_message(dispatch, host, status)
    reason += stages.overdue_message(dispatch, status.exit_status)
    if status.log_bytes == 0:
        return _ended_without_log(dispatch, status.exit_status, reason)
    return transition(dispatch, State.RUNNING, State.COLLECTING, reason, exit_status=status.exit_status)


def _ended_without_log(dispatch: Dispatch, exit_status: int | None, reason: str) -> bool:
    """End a dispatch without a log. A drive that drivetest refused needs none; all other cases are failures."""
    columns = {"exit_status": exit_status, "collected_at": None if dispatch.log_bytes else timezone.now()}
    if stages.was_refused(dispatch, exit_status):
        return transition(dispatch, State.RUNNING, State.REFUSED, reason, **columns)
    seen = (
        f"the log is empty now, but had {dispatch.log_bytes} bytes"
        if dispatch.log_bytes
        else "the program wrote no log"
    )
    return transition(dispatch, State.RUNNING, State.FAILED, f"{reason}; {seen}", **columns)


def _record_observation(dispatch: Dispatch, status: ProgramStatus) -> None:
    """Store what is not known yet of a running program: an earlier version may have started it."""
    is_whole = len(status.boot_ids) >= stages.machines_count(dispatch)
    is_new = dispatch.pid is None or (is_whole and len(dispatch.boot_ids) < stages.machines_count(dispatch))
    if status.state is ProgramState.RUNNING and is_new:
        _store_process(dispatch, status if is_whole else replace(status, boot_ids=()))


def _store_process(dispatch: Dispatch, status: ProgramStatus) -> None:
    """Store that a program runs, and the boot ids of its machines: after a reboot it cannot run any more."""
    dispatch.pid, dispatch.boot_ids = status.pid, list(status.boot_ids)
    here = Dispatch.objects.filter(pk=dispatch.pk, state=State.RUNNING, stage=dispatch.stage)
    here.update(pid=dispatch.pid, boot_ids=dispatch.boot_ids)


def _update_progress(dispatch: Dispatch, host: LabHost, run: str, status: ProgramStatus, *, is_last: bool) -> None:
    """Update the live page's counters from the growth of the run's files.

    `is_last`: the poll makes no further request, so one statement stores the counters and the heartbeat.
    """
    columns = RECIPES[dispatch.recipe].progress(dispatch, host, run, status)
    if columns and is_last:
        record_heartbeat(dispatch, **columns)
    elif columns:
        Dispatch.objects.filter(pk=dispatch.pk).update(**columns)


def collect(dispatch: Dispatch, host: LabHost) -> bool:
    """Collect the results and end the dispatch. Repeated after a crash, it finds the same submission by its bytes.

    A run that failed leaves evidence too. The dispatch then fails, with its log stored. If drivetest refused the drive,
    there is no run to be read.
    """
    record_drive_state(dispatch, host, DriveState.Moment.AFTER)
    reason, is_refused = _end_reason(dispatch, host), stages.was_refused(dispatch, dispatch.exit_status)
    left: dict[str, Any] = {}
    try:
        if is_refused:
            archive_leftovers(dispatch, host)
        else:
            left = RECIPES[dispatch.recipe].collect(dispatch, host)
    except TooLargeError as error:
        remedy = "order a shorter run, or raise UPLOAD_MAX_BYTES before the next run"
        failure = f"{reason}; the register did not collect the log, which is still on the host: {error}; {remedy}"
        return transition(dispatch, State.COLLECTING, State.FAILED, failure)
    cut = _truncation_message(dispatch, left)
    end = State.DONE if dispatch.exit_status in exit_codes.DID_ITS_JOB and not cut else State.FAILED
    columns = left | {"collected_at": timezone.now()}
    return transition(dispatch, State.COLLECTING, State.REFUSED if is_refused else end, f"{reason}{cut}", **columns)


def _end_reason(dispatch: Dispatch, host: LabHost) -> str:
    if len(stages.stages_of(dispatch)) > 1:
        return stages.first_failure_message(dispatch) or "all stages finished"
    status = ProgramStatus(ProgramState.ENDED, exit_status=dispatch.exit_status)
    if dispatch.exit_status is None:
        status = host.status(stages.current_run(dispatch))
    return stages.end_message(dispatch, host, status) + stages.overdue_message(dispatch, dispatch.exit_status)


def _truncation_message(dispatch: Dispatch, left: Mapping[str, Any]) -> str:
    """Return that the log is shorter than the live page has seen; such a run is not complete.

    For several stages this is not known: the page follows one log after the other, and an archive of all is submitted.
    """
    submission = left.get("submission")
    if submission is None or len(stages.stages_of(dispatch)) > 1 or submission.log.size_bytes >= dispatch.log_bytes:
        return ""
    before, now = dispatch.log_bytes, submission.log.size_bytes
    return f"; the log was truncated on the host: it had {before} bytes and has {now} bytes now"


STEPS: dict[State, Callable[[Dispatch, LabHost], bool]] = {
    State.CLAIMED: _check_drive,
    State.PREPARING: _start,
    State.RUNNING: _poll_running,
    State.COLLECTING: collect,
}
