"""The end of a run: what it left goes through the one door, and the dispatch ends with what became of it."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from results.evidence.store import TooLargeError
from runners.evidence import drive_states
from runners.hosts.protocol import LabHost
from runners.inventory.safety import may_be_told_to_destroy
from runners.lifecycle.stages import current_run, stages_of, was_refused, why_it_ended_badly
from runners.lifecycle.timeouts import overdue_words
from runners.lifecycle.transitions import move
from runners.models import Dispatch, DriveState, exit_codes
from runners.models.states import WORKER, State
from runners.monitoring.progress import last_words
from runners.recipes import RECIPES
from runners.retention.leftover_archive import keep_what_is_left


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
    return RECIPES[dispatch.recipe].hand_in(dispatch, host)


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


def why_it_ended(dispatch: Dispatch, host: LabHost, exit_status: int | None, told: str = "") -> str:
    """Return the end of a program in words; of one that did not do its job, with what it said itself."""
    if exit_status is None:
        return _why_without_status(dispatch, host, told)
    if exit_status not in exit_codes.DID_ITS_JOB:
        told = last_words(host, current_run(dispatch)) or told
    if exit_status == exit_codes.REFUSED:
        told = exit_codes.in_words_of_lab(told, may_consent=may_be_told_to_destroy(dispatch.device))
    return exit_codes.reason(exit_status, told)


def _why_without_status(dispatch: Dispatch, host: LabHost, told: str) -> str:
    """Return the end of a program that left no status: by a signal, or seen by nobody. Its last words are no cause."""
    run = current_run(dispatch)
    cause = _unseen_cause(set(dispatch.boot_ids), set(host.boot_ids()))
    end = exit_codes.reason(None, told or host.status(run).reason, cause)
    said = last_words(host, run)
    return f"{end}; it said last: {said}" if said else end


def _unseen_cause(known: set[str], now: set[str]) -> str:
    """Return why nobody saw a program end, by the starts of its machines that it ran under and that are now."""
    if not known or not now:
        return exit_codes.UNSEEN_CAUSE
    return "killed" if known <= now else "the host was restarted"
