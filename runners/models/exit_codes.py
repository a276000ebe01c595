"""Exit statuses of drivetest's loads, and their meaning for a dispatch (docs/reference/formats.md, exit statuses).

This module is the only one that reads the reasons of `drivetest status`: hosts with drivetest 0.2 report an end by
signal and an unobserved end as text only.
"""

FINISHED, REFUSED, IO_ERROR, OVERLOADED, INTERRUPTED, USAGE = 0, 2, 3, 4, 5, 64
# From `watch`: the program that it ran reported a failure. A load has no such status.
PROGRAM_FAILED = 1
# Stored for a stage whose program ended unobserved. No program exits with it.
UNSEEN = -1
# The first words of a host's reason for a program without a status: the monitor saw a signal, or the end was
# unobserved. Source: runners/drivetest/crates/detached/src/status.rs, ended, UNOBSERVED_END.
ENDED_BY_SIGNAL, END_UNSEEN = "ended by signal ", "nobody was left to see the end: "
UNSEEN_CAUSE = "killed, or the host was restarted"

REASONS: dict[int | None, str] = {
    FINISHED: "finished",
    REFUSED: "refused by drivetest, which wrote nothing",
    IO_ERROR: "ended by an I/O error",
    OVERLOADED: "ended because the drive could not keep up",
    INTERRUPTED: "interrupted on the host",
    USAGE: "drivetest did not accept the configuration",
}

ALL_REASONS: dict[int | None, str] = {**REASONS, PROGRAM_FAILED: "the program reported a failure"}

# The run gave a result: a drive that cannot keep up is one.
DID_ITS_JOB = frozenset({FINISHED, OVERLOADED})


def end_message(exit_status: int | None, host_reason: str = "", cause: str = UNSEEN_CAUSE) -> str:
    """Return how a program ended, with what the host adds. `exit_status` is None if the program left no status.

    `cause` is what is known of an unobserved end. An end by signal was observed: the host names the signal.
    """
    if exit_status in {None, UNSEEN} and host_reason.startswith(ENDED_BY_SIGNAL):
        return host_reason
    if exit_status in {None, UNSEEN}:
        message = f"ended unobserved: {cause}"
        host_reason = "" if host_reason.startswith(END_UNSEEN) else host_reason
    else:
        message = ALL_REASONS.get(exit_status, f"ended with exit status {exit_status}, which drivetest does not use")
    return f"{message}: {host_reason}" if host_reason else message


# The last words of drivetest's refusal of recognised data, meant for a person who runs it by hand.
# Source: runners/drivetest/crates/load/src, prep/device.rs and, of loads and `watch`, device/refusal.rs: HoldsData.
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
