"""Refusals of a trial: what happened, what was expected and found, and what to do, with the status of the response."""

from dataclasses import dataclass, replace
from decimal import InvalidOperation

from django.conf import settings

from results.reader.process import (
    ROWS_MAX,
    FormatError,
    OutputLimitError,
    ProcessorLimitError,
    ReaderBrokenError,
    ReaderKilledError,
    TooManySlicesError,
    unreadable,
)
from results.rules.plural import counted
from webapp.templatetags import units

# The shortest header that the reader accepts. It is shown next to the first line of a log without a usable header.
SAMPLE_HEADER = """ACT version 6.4
ACT-STORAGE CONFIGURATION
test-duration-sec: 86400
report-interval-sec: 1
read-reqs-per-sec: 2000
write-reqs-per-sec: 1000"""
HEADER_ERRORS = {"not-an-act-log", "header-missing", "cut-in-header", "header-unreadable"}
QUOTED_CHARS = 100
HOUR_S, MINUTE_S = 3600, 60
DOWN_WAIT_S = 60  # until the next try, when a part of the register does not work
OFFLINE = "Or read it on your machine: drivetest check LOG gives the same verdict, without these limits."
# Errors of a reading that has begun, for read_trial() of readings.py.
READER_ERRORS = (FormatError, TooManySlicesError, ReaderKilledError, ReaderBrokenError, InvalidOperation)


@dataclass(frozen=True)
class Refusal:
    """Why a log was not read. `wait_s` is the time after which the same request may succeed."""

    id: str
    status: int
    sentence: str
    expected: str = ""
    found: str = ""
    remedy: str = ""
    line: int | None = None
    wait_s: int | None = None
    quote: tuple[int, str] | None = None  # number and text of the first line of a log without a usable header
    sample: str = ""  # of what the log should have had


class TrialRefusedError(Exception):
    """A log was not read; the refusal states why."""

    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal
        super().__init__(refusal.sentence)


def in_words(wait_s: int) -> str:
    """Return a waiting time with its largest unit, rounded up.

    >>> in_words(1), in_words(59), in_words(61), in_words(3600)
    ('1 second', '59 seconds', '2 minutes', '60 minutes')
    """
    return counted(wait_s, "second") if wait_s < MINUTE_S else counted(-(-wait_s // MINUTE_S), "minute")


def too_often(wait_s: int) -> Refusal:
    """Return the refusal of a client that has had as many readings as one client may have."""
    most = counted(settings.TRIAL_READINGS_PER_HOUR, "log")
    return Refusal(
        "too-many-trials",
        429,
        f"The register reads at most {most} an hour for one network address.",
        remedy=f"Try again in {in_words(wait_s)}. {OFFLINE}",
        wait_s=wait_s,
    )


def too_many_uploads(most: int, wait_s: int) -> Refusal:
    """Return the refusal of a client that sends as many logs at the same time as one client may send."""
    return Refusal(
        "too-many-uploads",
        429,
        f"The register receives at most {counted(most, 'log')} at a time from one network address.",
        remedy=f"Wait until the other uploads have ended, or {in_words(wait_s)} at most. This attempt does not count.",
        wait_s=wait_s,
    )


def uploads_busy(wait_s: int) -> Refusal:
    """Return the refusal while other clients send as many logs as a web process receives at the same time."""
    return Refusal(
        "uploads-busy",
        429,
        "The register receives the logs of other visitors now, and no more at the same time.",
        remedy=f"Choose the file again and send it in {in_words(wait_s)}. This attempt does not count. {OFFLINE}",
        wait_s=wait_s,
    )


def too_slow(timeout_s: int) -> Refusal:
    """Return the refusal of a form that did not arrive in time.

    Its status is 400: a browser may repeat a request by itself after 408.
    """
    return Refusal(
        "too-slow",
        400,
        "The form arrived too slowly.",
        expected=f"all bytes within {in_words(timeout_s)}",
        found="fewer",
        remedy=f"Compress the log with gzip, zstd or xz: a log becomes 10 to 60 times smaller. {OFFLINE}",
    )


def busy(wait_s: int) -> Refusal:
    """Return the refusal while other clients have all readings.

    `wait_s` is the time until the place of a killed process is free. A process that runs ends sooner: within the time
    for one log.
    """
    wait_s = min(wait_s, settings.TRIAL_CPU_S)
    return Refusal(
        "readers-busy",
        429,
        f"The register reads at most {counted(settings.TRIAL_READINGS_AT_ONCE, 'log')} at a time, and all places are "
        "taken.",
        remedy=f"Choose the file again and send it in {in_words(wait_s)}. This attempt does not count.",
        wait_s=wait_s,
    )


def limits_down() -> Refusal:
    """Return the refusal while nothing can be counted: without limits, anyone could occupy the register."""
    return Refusal(
        "limits-down",
        503,
        "The register cannot count its readings now, because its broker (Redis) does not answer. It reads no log "
        "without counting.",
        remedy=f"Try again in {in_words(DOWN_WAIT_S)}. {OFFLINE}",
        wait_s=DOWN_WAIT_S,
    )


def upload_most() -> str:
    """Return the largest size of an upload in MiB."""
    return f"{settings.TRIAL_UPLOAD_MAX_BYTES / 1024**2:g}{units.NBSP}MiB"


def too_large() -> Refusal:
    """Return the refusal of files that are too large."""
    most = upload_most()
    return Refusal(
        "too-large",
        413,
        f"The files are larger than {most}.",
        expected=f"at most {most} ({settings.TRIAL_UPLOAD_MAX_BYTES:,} bytes) in all",
        found="more",
        remedy=f"Compress the log with gzip, zstd or xz: a log becomes 10 to 60 times smaller. {OFFLINE}",
    )


INCOMPLETE = Refusal(
    "incomplete",
    400,
    "The form arrived incomplete.",
    expected="all bytes that the browser announced",
    found="fewer, or no valid form",
    remedy="Choose the file again and send it.",
)
NO_FILE = Refusal(
    "no-file",
    400,
    "No log was sent.",
    expected="a file in the field Log file, or a text in the field Text of a log",
    found="none",
    remedy="Choose or paste the log that act_storage, act_index, drivetest or YCSB wrote.",
)
SEVERAL_LOGS = Refusal(
    "several-files",
    400,
    "Several files were sent as the log.",
    expected="one file in the field Log file",
    found="several",
    remedy="Send each log alone, or all in one tar or zip.",
)


def too_many_files() -> Refusal:
    """Return the refusal of a form with more files than the register accepts."""
    others = counted(settings.DATA_UPLOAD_MAX_NUMBER_FILES - 1, "other file")
    return Refusal(
        "too-many-files",
        400,
        "Too many files were sent.",
        expected=f"a log and at most {others}",
        found="more",
        remedy="Put log and files into one tar or zip.",
    )


def invalid_slice_length(found: str, most_s: int) -> Refusal:
    """Return the refusal of a slice length that is none."""
    return Refusal(
        "invalid-slice-length",
        400,
        "The slice length is invalid.",
        expected=f"a whole number of seconds from 1 to {most_s}",
        found=found[:40],
        remedy=f"Enter 3600, the only length that can pass, or another whole number from 1 to {most_s}.",
    )


# By the ids of docs/reference/findings.md. The reader says what it expected and found, and what to do.
UNREADABLE = {
    "empty": "The file is empty.",
    "binary": "The file is not text.",
    "not-an-act-log": "The file is not a log of ACT, drivetest or YCSB.",
    "header-missing": "The log has no header before its first block.",
    "cut-in-header": "The log ends within its header.",
    "header-unreadable": "The header of the log is incomplete.",
    "flood": "Nearly all lines of the file are blank.",
    "content-too-large": "The decompressed file is too large.",
    "compression-unreadable": "The file cannot be decompressed.",
    "window-too-large": "The file needs too much memory for its decompression.",
    "archive-unreadable": "The archive cannot be read.",
    "archive-without-log": "The archive has no log.",
    "companion-archive": "The log and its other files are not in one archive.",
    "archive-in-a-pipe": "The archive is not in a file.",
    "file-unreadable": "The file cannot be opened.",
    "value-out-of-range": "A number of the log is too large for any drive.",
}
LONGER_SLICES = "Enter a longer slice length, or send each run separately."
SEPARATELY = f"Send each run separately. {OFFLINE}"


def of_limit(error: Exception) -> Refusal | None:
    """Return the refusal of a log that would meet the same limit at every attempt; None for any other error.

    `/api/v1/validate/` uses it, too.
    """
    if isinstance(error, OutputLimitError):
        most = units.size(error.output_bytes)
        return _limited("reading-too-large", f"at most {most} of slices, minutes and findings", "more", LONGER_SLICES)
    if isinstance(error, TooManySlicesError):
        most = f"at most {ROWS_MAX:,} slices, counted for each histogram"
        return _limited("too-many-slices", most, f"{error.rows:,}", LONGER_SLICES)
    if isinstance(error, ProcessorLimitError):
        return _limited("processor-limit", f"a log that is read in {error.allowed}", "more", SEPARATELY)
    if isinstance(error, ReaderKilledError) and error.limit == "memory":
        return _limited("memory-limit", f"a log that is read in {error.allowed} of memory", "more", SEPARATELY)
    return None


def of_reader(error: Exception) -> Refusal:
    """Return the refusal of a log that the reader could not read, or not within its limits."""
    if refusal := of_limit(error):
        return refusal
    if isinstance(error, (ReaderKilledError, ReaderBrokenError)):
        return Refusal(
            "reader-failed",
            503,
            "The reader did not finish. This is not a verdict on your log.",
            remedy=f"Try again in {in_words(DOWN_WAIT_S)}. {OFFLINE}",
            wait_s=DOWN_WAIT_S,
        )
    found = unreadable(error)
    stopped = f"Reading stopped at line {found['line']:,d}." if found["line"] else "Nothing could be read."
    sentence = f"{UNREADABLE.get(found['id'], '')} {stopped}".strip()
    return Refusal(found["id"], 422, sentence, found["expected"], found["got"], found["remedy"], found["line"])


def is_about_header(error: Exception) -> bool:
    """Return whether a log in plain text was refused because of its first lines, so that they can be quoted."""
    if not isinstance(error, FormatError) or error.error["id"] not in HEADER_ERRORS:
        return False
    source = error.document["input"]
    return (source["compression"], source["encoding"], source["members"]) == ("none", "utf-8", [])


def with_quote(refusal: Refusal, first_line: tuple[int, str] | None) -> Refusal:
    """Return a refusal with the first line of the log as it was found, and with a header to compare it with."""
    if first_line is None:
        return refusal
    number, text = first_line
    quoted = text if len(text) <= QUOTED_CHARS else f"{text[:QUOTED_CHARS]}…"
    return replace(refusal, quote=(number, quoted), sample=SAMPLE_HEADER)


def _limited(problem: str, expected: str, found: str, remedy: str) -> Refusal:
    sentence = "The register stopped reading at a limit. This is not a verdict on your log."
    return Refusal(problem, 422, sentence, expected, found, remedy)
