"""The native program `drivetest` as the register meets it: an executable that reads a log and prints JSON.

Uploads are hostile, so each reading is a process of its own with limits on time, memory and output.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import jsonschema
from django.conf import settings

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

    def __init__(self) -> None:
        super().__init__("output", f"{settings.READ_OUTPUT_BYTES} bytes")


class ReaderBrokenError(Exception):
    """The reader is missing, crashed or printed invalid output: the operator has to act, not the sender."""


def read(path: Path, slice_length_s: int, profile_document: str, companions: Sequence[Path] = ()) -> Document:
    """Return what `drivetest read --json` says about a log, checked against its schema.

    Raises FormatError and TooManySlicesError (report to the sender), ReaderKilledError (try again), ReaderBrokenError
    (report to the operator).
    """
    with TemporaryFile() as profile:  # a file without a name: a worker that is killed leaves none behind
        profile.write(profile_document.encode())  # the hash is over these bytes
        profile.flush()
        options = ["--slice-sec", str(slice_length_s), "--profile", f"/proc/self/fd/{profile.fileno()}"]
        return _answer([*options, "--series-sec", str(SERIES_S)], path, companions, [profile])


def read_intervals(path: Path, from_s: int, to_s: int, companions: Sequence[Path] = ()) -> Document:
    """Return a reading whose runs have a series of seconds, or of report intervals where those are longer.

    Raises as read() does.
    """
    window = ["--series-sec", "1", "--from-sec", str(from_s), "--to-sec", str(to_s), "--slice-sec", str(NO_SLICE_S)]
    return _answer(window, path, companions)


def _answer(options: list[str], path: Path, companions: Sequence[Path], handed: Sequence[IO[bytes]] = ()) -> Document:
    attached = [word for companion in companions for word in ("--with", str(companion))]
    with TemporaryFile() as stdout, TemporaryFile() as stderr:
        status = _run_confined(["read", "--json", *options, *attached, str(path)], handed, stdout, stderr)
        _refuse_failure(status, stderr)
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


def _run_confined(command: list[str], handed: Sequence[IO[bytes]], stdout: IO[bytes], stderr: IO[bytes]) -> int:
    """Return the exit status, negative for a signal. Output goes to files: their size is what the kernel limits."""
    limits = [os.getpid(), settings.READ_MEMORY_BYTES, settings.READ_OUTPUT_BYTES, settings.READ_TIMEOUT_S + 1]
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", SANDBOX, *(str(limit) for limit in limits), settings.DRIVETEST, *command],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        pass_fds=[file.fileno() for file in handed],
        env={},  # the register's passwords must not reach a program that reads hostile bytes
    )
    try:
        return process.wait(settings.READ_TIMEOUT_S)
    except subprocess.TimeoutExpired as error:
        raise ReaderKilledError("time", f"{settings.READ_TIMEOUT_S} s") from error
    finally:
        process.kill()
        process.wait()


def _refuse_failure(status: int, stderr: IO[bytes]) -> None:
    if status in {READ, UNREADABLE}:
        return
    stderr.seek(0)
    output = stderr.read(STDERR_SHOWN_BYTES).decode(errors="replace").strip()
    # Rust ends itself with SIGABRT and these words when the kernel refuses it more memory.
    if status == -signal.SIGABRT and "memory allocation" in output:
        raise ReaderKilledError("memory", f"{settings.READ_MEMORY_BYTES} bytes")
    if status == -signal.SIGXFSZ:
        raise OutputLimitError
    if status == -signal.SIGXCPU:
        raise ReaderKilledError("time", f"{settings.READ_TIMEOUT_S} s of a processor")
    raise ReaderBrokenError(f"drivetest read: expected exit status 0 or 3, got {status}: {output or 'no output'}")


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
    # A slice is kept with a place for each histogram, also for one that it does not hold.
    _refuse_many_rows(sum(len(run["slices"]) * len(run["histograms"]) for run in document["runs"]))
    return document


def _refuse_many_rows(rows: int) -> None:
    if rows > ROWS_MAX:
        raise TooManySlicesError(rows)


@cache
def _validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
