"""Exit statuses and causes of the end of drivetest's programs, and their meaning for a dispatch.

Source: docs/reference/formats.md, "Detached runs on a host" and the exit statuses.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

FINISHED, REFUSED, IO_ERROR, OVERLOADED, INTERRUPTED, USAGE = 0, 2, 3, 4, 5, 64
# From `watch`: the program that it ran reported a failure. A load has no such status.
PROGRAM_FAILED = 1
# Stored for a stage whose program ended unobserved. No program exits with it.
UNSEEN = -1
# A full disk prevents the record of an end as well as a signal to the monitor does: nothing is guessed.
UNSEEN_CAUSE = "the cause is not known"

# How a program ended, as the rest of a sentence that begins with the program.
REASONS: dict[int | None, str] = {
    FINISHED: "finished",
    REFUSED: "refused to start and wrote nothing to the drive",
    IO_ERROR: "ended by an I/O error",
    OVERLOADED: "ended because the drive could not keep up",
    INTERRUPTED: "was interrupted on the host",
    USAGE: "did not accept its configuration",
    PROGRAM_FAILED: "reported a failure",
}

# The run gave a result: a drive that cannot keep up is one.
DID_ITS_JOB = frozenset({FINISHED, OVERLOADED})


class EndCause(StrEnum):
    """How the program of a run directory ended. `other` is a cause or a text that this release does not know."""

    EXITED = "exited"
    SIGNAL = "signal"
    STOPPED_BEFORE_START = "stopped_before_start"
    UNOBSERVED = "unobserved"
    OTHER = "other"


# The reasons of drivetest 0.2, which reports no cause. No other code reads them.
CAUSES_BY_REASON = {
    "ended by signal ": EndCause.SIGNAL,
    "nobody was left to see the end: ": EndCause.UNOBSERVED,
    "stopped before it was started": EndCause.STOPPED_BEFORE_START,
}


def end_cause_of(document: Mapping[str, Any]) -> EndCause | None:
    """Return the cause in a drivecert.detached/1, None before the end. Derive it from a document of drivetest 0.2."""
    if document["state"] != "ended":
        return None
    if "end_cause" in document:
        return EndCause(document["end_cause"]) if document["end_cause"] in set(EndCause) else EndCause.OTHER
    if document["exit_status"] is not None:
        return EndCause.EXITED
    known = (cause for text, cause in CAUSES_BY_REASON.items() if document["reason"].startswith(text))
    return next(known, EndCause.OTHER)


def end_message(
    exit_status: int | None,
    end_cause: EndCause | None,
    host_reason: str,
    unseen_cause: str = UNSEEN_CAUSE,
    subject: str = "the program",
) -> str:
    """Return how `subject` ended, with what the host adds. `exit_status` is None if the program left no status.

    `unseen_cause` is what is known of an unobserved end. An end by signal was observed: the host names the signal.
    """
    if exit_status in {None, UNSEEN} and end_cause is EndCause.SIGNAL:
        return f"{subject} was {host_reason or 'ended by a signal'}"
    if exit_status in {None, UNSEEN}:
        message = f"{subject} ended unobserved: {unseen_cause}"
        host_reason = "" if end_cause is EndCause.UNOBSERVED else host_reason
    else:
        end = REASONS.get(exit_status, f"ended with exit status {exit_status}, which drivetest does not use")
        message = f"{subject} {end}"
    return f"{message}: {host_reason}" if host_reason else message


# The last words of drivetest's refusal of recognised data, meant for a person who runs it by hand.
# Source: runners/drivetest/crates/device/src/gate/opening.rs, HoldsDataToPrepare and, of loads and `watch`, HoldsData.
REMEDIES_BY_HAND = ("wipe it, or give --i-know-this-destroys-data", "wipe it, or allow it to be destroyed")


def with_lab_remedy(message: str, *, may_consent: bool) -> str:
    """Return drivetest's message with a remedy for a person who orders on a page: pages take no flags."""
    ways = "wipe it at the host, or choose another drive"
    if may_consent:
        ways = f"order again and type the device's label, which confirms that it is overwritten; or {ways}"
    for by_hand in REMEDIES_BY_HAND:
        message = message.replace(by_hand, ways)
    return message


def was_stopped(exit_status: int | None) -> bool:
    """Return whether a program ended because it was stopped, and not by itself."""
    return exit_status in {INTERRUPTED, None}
