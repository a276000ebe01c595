"""What the exit statuses of drivetest's loads mean for a dispatch (docs/formats.md, exit statuses)."""

FINISHED, REFUSED, IO_ERROR, CANNOT_KEEP_UP, INTERRUPTED, USAGE = 0, 2, 3, 4, 5, 64
# Of `watch`: the program that it ran says that it failed. A load has no such status.
PROGRAM_FAILED = 1
# What is kept of a stage whose program nobody saw end: no program ends with it.
UNSEEN = -1
# How a host begins what it says of a program without a status, where its monitor saw a signal end it, and where nobody
# saw anything. Source: runners/drivetest/crates/detached/src/status.rs, ended, UNOBSERVED_END.
BY_SIGNAL, BY_NOBODY = "ended by signal ", "nobody was left to see the end: "
UNSEEN_CAUSE = "killed, or the host was restarted"

REASONS: dict[int | None, str] = {
    FINISHED: "finished",
    REFUSED: "refused by drivetest, which wrote nothing",
    IO_ERROR: "ended by an I/O error",
    CANNOT_KEEP_UP: "ended because the drive could not keep up",
    INTERRUPTED: "interrupted on the host",
    USAGE: "drivetest did not accept the configuration",
}

REASONS_OF_ALL: dict[int | None, str] = {**REASONS, PROGRAM_FAILED: "the program that was run says that it failed"}

# The run has told what it can tell: a drive that cannot keep up is a result.
DID_ITS_JOB = frozenset({FINISHED, CANNOT_KEEP_UP})


def reason(exit_status: int | None, told: str = "", cause: str = UNSEEN_CAUSE) -> str:
    """Return the end of a program in words, with what the host adds; None: it left no status.

    `cause` is what is known of an end that nobody saw. A signal that ended a program was seen: the host names it.
    """
    if exit_status in {None, UNSEEN} and told.startswith(BY_SIGNAL):
        return told
    if exit_status in {None, UNSEEN}:
        words, told = f"ended without anybody to see it: {cause}", "" if told.startswith(BY_NOBODY) else told
    else:
        words = REASONS_OF_ALL.get(exit_status, f"ended with exit status {exit_status}, which drivetest does not use")
    return f"{words}: {told}" if told else words


# How drivetest ends a refusal of recognised data, for whoever runs it by hand.
# Source: runners/drivetest/crates/load/src, prep/device.rs and, of loads and `watch`, device/refusal.rs: HoldsData.
REMEDIES_BY_HAND = ("wipe it, or give --i-know-this-destroys-data", "wipe it, or allow it to be destroyed")


def in_words_of_lab(told: str, *, may_consent: bool) -> str:
    """Return what drivetest said with a remedy that somebody who orders on a page has: no page takes a flag."""
    ways = "wipe it at the host, or choose another drive"
    if may_consent:
        ways = f"order again and type the device's label, which says that it is written over; or {ways}"
    for by_hand in REMEDIES_BY_HAND:
        told = told.replace(by_hand, ways)
    return told


def was_stopped(exit_status: int | None) -> bool:
    """Tell whether a program that was asked to stop ended for that; one that had come to its own end did not."""
    return exit_status in {INTERRUPTED, None}
