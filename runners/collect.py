"""The end of a run: what it left goes through the one door, and the dispatch ends with what became of it."""

from results.evidence_store import TooLargeError
from runners import drive_states, exits
from runners.handing_in import facts_of
from runners.hosts.protocol import LabHost
from runners.models import Dispatch, DriveState
from runners.moves import WORKER, move
from runners.progress import last_words
from runners.recipes import RECIPES
from runners.stages import current_run, stages_of, why_it_ended_badly
from runners.states import State

__all__ = ["collect", "facts_of", "why_it_ended"]


def collect(dispatch: Dispatch, host: LabHost) -> bool:
    """Hand in what was left and end the dispatch. Repeated after a crash it finds the same submission: same bytes.

    A run that ended badly leaves evidence too; then the dispatch failed, with its log kept.
    """
    drive_states.record(dispatch, host, DriveState.Moment.AFTER)
    reason = _reason(dispatch, host)
    try:
        left = RECIPES[dispatch.recipe].hand_in(dispatch, host)
    except TooLargeError as error:
        kept = f"{reason}; its log stays on the host and was not taken in: {error}"
        return move(dispatch, State.COLLECTING, State.FAILED, WORKER, kept)
    end = State.DONE if dispatch.exit_status in exits.DID_ITS_JOB else State.FAILED
    return move(dispatch, State.COLLECTING, end, WORKER, reason, **left)


def _reason(dispatch: Dispatch, host: LabHost) -> str:
    if len(stages_of(dispatch)) > 1:
        return why_it_ended_badly(dispatch) or exits.REASONS[exits.FINISHED]
    return why_it_ended(host, current_run(dispatch), dispatch.exit_status)


def why_it_ended(host: LabHost, run: str, exit_status: int | None, told: str = "") -> str:
    """Return the end of a program in words; of one that did not do its job, with what it said itself."""
    if exit_status not in exits.DID_ITS_JOB:
        told = last_words(host, run) or told
    return exits.reason(exit_status, told)
