"""The end of a run: its log goes through the one door, and the dispatch ends with what became of it."""

from contextlib import ExitStack
from decimal import Decimal
from typing import BinaryIO

from results.evidence_store import TooLargeError
from results.intake import Facts, receive
from results.models import Submission
from runners import exits
from runners.errors import FileMissingError
from runners.hosts.protocol import LabHost
from runners.models import Dispatch
from runners.moves import WORKER, move
from runners.overdue import overdue_words
from runners.progress import last_words
from runners.recipes.act_storage import LOG_FILE, SIDE_FILE
from runners.safety import may_certify
from runners.states import State


def collect(dispatch: Dispatch, host: LabHost) -> bool:
    """Hand the log in and end the dispatch. Repeated after a crash it finds the same submission: same bytes, same one.

    A run that ended badly leaves evidence too; then the dispatch failed, with its log kept.
    """
    reason = why_it_ended(host, dispatch.public_id, dispatch.exit_status) + overdue_words(dispatch)
    try:
        submission = _hand_in(dispatch, host)
    except TooLargeError as error:
        kept = f"{reason}; its log stays on the host and was not taken in: {error}"
        return move(dispatch, State.COLLECTING, State.FAILED, WORKER, kept)
    cut = _cut_words(dispatch, submission.log.size_bytes)
    end = State.DONE if dispatch.exit_status in exits.DID_ITS_JOB and not cut else State.FAILED
    return move(dispatch, State.COLLECTING, end, WORKER, f"{reason}{cut}", submission=submission)


def _cut_words(dispatch: Dispatch, size_bytes: int) -> str:
    """Say of a log that it lacks what the live page had read of it; such a run is no whole one, whatever is left."""
    if size_bytes >= dispatch.log_bytes:
        return ""
    return f"; its log was cut on the host: {dispatch.log_bytes} bytes were seen, {size_bytes} are left"


def why_it_ended(host: LabHost, run: str, exit_status: int | None, told: str = "") -> str:
    """Return the end of a program in words; of one that did not do its job, with what it said itself."""
    if exit_status not in exits.DID_ITS_JOB:
        told = last_words(host, run) or told
    return exits.reason(exit_status, told)


def _hand_in(dispatch: Dispatch, host: LabHost) -> Submission:
    with ExitStack() as opened:
        log = opened.enter_context(host.fetch(dispatch.public_id, LOG_FILE))
        side_file = _fetch_if_there(dispatch, host)
        if side_file is not None:
            opened.enter_context(side_file)
        return receive(
            dispatch.organisation,
            log,
            f"{dispatch.public_id}.log",
            facts_of(dispatch),
            Submission.Origin.DISPATCH,
            dispatch.ordered_by,
            side_file=side_file,
        )


def _fetch_if_there(dispatch: Dispatch, host: LabHost) -> BinaryIO | None:
    """Return the side file, None where the program ended before it wrote one: the log alone decides."""
    try:
        return host.fetch(dispatch.public_id, SIDE_FILE)
    except FileMissingError:
        return None


def facts_of(dispatch: Dispatch) -> Facts:
    """Return what the order states about the product, as the one door wants it."""
    stated = dict(dispatch.facts)
    if stated.get("over_provisioning_pct") is not None:
        stated["over_provisioning_pct"] = Decimal(stated["over_provisioning_pct"])
    is_virtual = not may_certify(dispatch.device)
    return Facts(**stated, slice_length_s=dispatch.slice_length_s, is_virtual=is_virtual)
