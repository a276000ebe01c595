"""The native program `drivetest` as the register meets it: an executable that reads a log and prints JSON.

Uploads are hostile, so each reading is a process of its own with limits on time, memory and output.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import jsonschema
from django.conf import settings

from results.logs.tracing import span

Document = dict[str, Any]

SANDBOX = Path(__file__).with_name("sandbox.py")
SCHEMA = Path(__file__).with_name("schemas") / "drivecert.reading.2.json"
VERSION_TIMEOUT_S = 10
# Slices times histograms: more than a day in slices of 60 s with 64 histograms. Status lines times operations: three
# days of YCSB with its default of a line every 10 s.
ROWS_MAX = 100_000
NO_SLICE_S = 10**9  # longer than any log: no slices are requested, because there may be too many
SERIES_S = 60  # interval stored in the database with the slices; seconds are read again
READ, UNREADABLE = 0, 3  # exit statuses of docs/reference/formats.md
STDERR_SHOWN_BYTES = 2000


@dataclass(frozen=True)
class ReaderLimits:
    """The limits of one reading: `wall_s` on the clock, `cpu_s` of processor time, memory and output."""

    wall_s: int
    cpu_s: int
    memory_bytes: int
    output_bytes: int

    @classmethod
    def of_settings(cls) -> "ReaderLimits":
        """Return the limits of readings whose log is stored."""
        return cls(settings.READ_TIMEOUT_S, settings.READ_CPU_S, settings.READ_MEMORY_BYTES, settings.READ_OUTPUT_BYTES)


class FormatError(Exception):
    """The file is not a readable log: the sender has to act. `document` is the output of the reader."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.error: Document = document["error"]
        super().__init__(self.error["sentence"])


class TooManySlicesError(Exception):
    """The slice length makes more rows than the register stores for one log: the sender has to choose longer slices."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        super().__init__(f"expected at most {ROWS_MAX} slices times histograms, got {rows}")


class ReaderKilledError(Exception):
    """The reader was stopped at a limit: "time", "memory" or "output". Another try may do better."""

    def __init__(self, limit: str, allowed: str) -> None:
        self.limit = limit
        self.allowed = allowed
        super().__init__(f"drivetest read: stopped at its limit of {limit}, {allowed}")


class OutputLimitError(ReaderKilledError):
    """The reader printed more than it may: another try would print the same."""

    def __init__(self, output_bytes: int) -> None:
        self.output_bytes = output_bytes
        super().__init__("output", f"{output_bytes} bytes")


class ProcessorLimitError(ReaderKilledError):
    """The reader used more processor time than it may, so the log is at fault and not a busy machine."""

    def __init__(self, cpu_s: int) -> None:
        super().__init__("time", f"{cpu_s} s of a processor")


class ReaderBrokenError(Exception):
    """The reader is missing, crashed or printed invalid output: the operator has to act, not the sender.

    `status` is its exit status, negative for a signal; None if it is not the cause.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        self.status = status
        super().__init__(message)


def read(
    path: Path,
    slice_length_s: int,
    profile_document: str,
    companions: Sequence[Path] = (),
    limits: ReaderLimits | None = None,
) -> Document:
    """Return the report of `drivetest read --json` about a log, checked against its schema.

    Raises FormatError and TooManySlicesError (report to the sender), ReaderKilledError (try again), ReaderBrokenError
    (report to the operator).
    """
    with TemporaryFile() as profile:  # a file without a name: a worker that is killed leaves none behind
        profile.write(profile_document.encode())  # the hash is over these bytes
        profile.flush()
        options = ["--slice-sec", str(slice_length_s), "--profile", f"/proc/self/fd/{profile.fileno()}"]
        return _answer([*options, "--series-sec", str(SERIES_S)], path, companions, [profile], limits)


def read_intervals(path: Path, from_s: int, to_s: int, companions: Sequence[Path] = ()) -> Document:
    """Return a reading whose runs have a series of seconds, or of report intervals where those are longer.

    Raises as read() does.
    """
    window = ["--series-sec", "1", "--from-sec", str(from_s), "--to-sec", str(to_s), "--slice-sec", str(NO_SLICE_S)]
    return _answer(window, path, companions)


def _answer(
    options: list[str],
    path: Path,
    companions: Sequence[Path],
    handed: Sequence[IO[bytes]] = (),
    limits: ReaderLimits | None = None,
) -> Document:
    limits = limits or ReaderLimits.of_settings()
    attached = [word for companion in companions for word in ("--with", str(companion))]
    command = [str(settings.DRIVETEST), "read", "--json", *options, *attached, str(path)]
    with TemporaryFile() as stdout, TemporaryFile() as stderr, span("drivetest read"):
        _refuse_failure(run_confined(command, limits, handed, stdout, stderr), limits, stderr)
        document = _parse(stdout)
    if document["error"] is not None:
        raise FormatError(document)
    return document


@cache
def reader_version() -> str:
    """Return the version that `drivetest --version` prints; queried once per process."""
    try:
        answer = subprocess.run(
            [settings.DRIVETEST, "--version"], capture_output=True, text=True, timeout=VERSION_TIMEOUT_S, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ReaderBrokenError(
            f"{settings.DRIVETEST}: expected the drivetest program, got: {error}; build it with `make run`"
        ) from error
    return answer.stdout.split()[-1]


def run_confined(
    command: list[str], limits: ReaderLimits, handed: Sequence[IO[bytes]], stdout: IO[bytes], stderr: IO[bytes]
) -> int:
    """Run a program that reads hostile bytes, and return its exit status, negative for a signal.

    Output goes to files: their size is what the kernel limits. Raises ReaderKilledError after the time on the clock.
    """
    arguments = [os.getpid(), limits.memory_bytes, limits.output_bytes, limits.cpu_s]
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", SANDBOX, *map(str, arguments), *command],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        pass_fds=[file.fileno() for file in handed],
        env={},  # the register's passwords must not reach a program that reads hostile bytes
    )
    try:
        return process.wait(limits.wall_s)
    except subprocess.TimeoutExpired as error:
        raise ReaderKilledError("time", f"{limits.wall_s} s") from error
    finally:
        process.kill()
        process.wait()


def _refuse_failure(status: int, limits: ReaderLimits, stderr: IO[bytes]) -> None:
    if status in {READ, UNREADABLE}:
        return
    stderr.seek(0)
    output = stderr.read(STDERR_SHOWN_BYTES).decode(errors="replace").strip()
    # Rust ends itself with SIGABRT and these words when the kernel refuses it more memory.
    if status == -signal.SIGABRT and "memory allocation" in output:
        raise ReaderKilledError("memory", f"{limits.memory_bytes} bytes")
    if status == -signal.SIGXFSZ:
        raise OutputLimitError(limits.output_bytes)
    if status == -signal.SIGXCPU:
        raise ProcessorLimitError(limits.cpu_s)
    raise ReaderBrokenError(
        f"drivetest read: expected exit status 0 or 3, got {status}: {output or 'no output'}", status
    )


def _parse(stdout: IO[bytes]) -> Document:
    stdout.seek(0)
    # PostgreSQL holds no NUL in text; a damaged log may well have some in a name.
    text = stdout.read().replace(rb"\u0000", rb"\ufffd")
    _refuse_many_rows(text.count(b'"ops_count"'))  # before parsing, which takes many times the memory of the text
    try:
        document: Document = json.loads(text)
        _validator().validate(document)
    except (ValueError, jsonschema.ValidationError) as error:
        problem = error.message if isinstance(error, jsonschema.ValidationError) else str(error)
        raise ReaderBrokenError(f"drivetest read: expected drivecert.reading/2, got: {problem[:500]}") from error
    # A slice has a place for each histogram, also for one that it does not have.
    _refuse_many_rows(sum(len(run["slices"]) * len(run["histograms"]) for run in document["runs"]))
    return document


def _refuse_many_rows(rows: int) -> None:
    if rows > ROWS_MAX:
        raise TooManySlicesError(rows)


@cache
def _validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))


# Errors of a reading that the reader itself did not report, in the shape of docs/reference/formats.md.
SHORTER = "Send the same file again and ask for longer slices (the profile judges slices of 3600 s)"
SEPARATE = "Send the runs of a file or archive separately, each as its own log"
SMALLER = f"{SHORTER}, or send the runs of a file or archive separately. The register still stores the file."
# Remedies for the sender of a log that meets a limit at every attempt.
REMEDIES = {
    "time": f"{SEPARATE}: a shorter log is read in less time",
    "memory": f"{SHORTER}, or send the runs of a file or archive separately",
}
OPERATOR = (
    "This is not a verdict on the log, and the register still stores it. After the operator has fixed the cause or "
    "raised the limit, a reviewer can retry the reading."
)


def failed_attempt(before: Document | None, error: Exception) -> Document:
    """Return the stored part of an attempt that did not come to an end: its words, and every limit met up to now."""
    met = list((before or {}).get("limits", []))
    if isinstance(error, ReaderKilledError):
        met.append({"limit": error.limit, "allowed": error.allowed})
    return {"id": type(error).__name__, "sentence": str(error), "limits": met}


def gave_up(last: Document | None) -> Document:
    """Return the error of a reading whose attempts are used up; `last` is the stored part of the one before."""
    sentence = last["sentence"] if last else "the reader ended without a message"
    met = last.get("limits", []) if last else []
    remedies = list(dict.fromkeys(REMEDIES[each["limit"]] for each in met if each["limit"] in REMEDIES))
    return _document(
        "reader-gave-up",
        f"The reader did not come to an end in {settings.READ_MAX_ATTEMPTS} attempts; the last: {sentence}",
        expected="a log that is read within the limits of time and memory",
        got=f"{settings.READ_MAX_ATTEMPTS} attempts without an end; the last: {sentence}",
        remedy=". ".join([*remedies, OPERATOR]),
    ) | {"limits": met}


def unreadable(error: Exception) -> Document:
    """Return the error of a log that another attempt would read the same: what its sender has to change."""
    if isinstance(error, FormatError):
        return error.error
    if isinstance(error, OutputLimitError):
        return _document(
            "reading-too-large",
            f"The reading of this file is larger than the register accepts: {error}.",
            expected=f"at most {error.output_bytes} bytes of slices, minutes and findings",
            got="more",
            remedy=SMALLER,
        ) | {"limits": [{"limit": error.limit, "allowed": error.allowed}]}
    if isinstance(error, ProcessorLimitError):
        return _document(
            "processor-limit",
            f"Reading this file takes too long: {error}.",
            expected=f"a file that is read in {error.allowed}",
            got="more",
            remedy=f"{SEPARATE}: a shorter log is read in less time. The register still stores the file.",
        ) | {"limits": [{"limit": error.limit, "allowed": error.allowed}]}
    if isinstance(error, TooManySlicesError):
        return _document(
            "too-many-slices",
            f"This file makes more rows than the register stores: {error}.",
            expected=f"at most {ROWS_MAX} slices times histograms, or status lines times operations",
            got=str(error.rows),
            remedy=SMALLER,
        )
    return _document(
        "value-out-of-range",
        "The log contains a number that is too large for any drive.",
        expected="rates, times and counts within the columns of the register",
        got=str(error).splitlines()[0] if str(error) else type(error).__name__,
        remedy="Check the configuration at the top of the log, and upload the log exactly as the program wrote it.",
    )


def _document(error_id: str, sentence: str, *, expected: str, got: str, remedy: str) -> Document:
    return {"id": error_id, "sentence": sentence, "line": None, "expected": expected, "got": got, "remedy": remedy}
