"""Readings of logs that are not stored, for `/try/` and `/api/v1/validate/`.

The files of a request are in a temporary directory while drivetest reads them, and nowhere else. The directory is
removed at the end of the request. If the process is killed before, the next reading removes it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from results.evidence.base import file_name
from results.evidence.scratch import scratch_directory
from results.models import Profile
from results.reader import process as reader_process
from results.reader.process import Document, ReaderLimits

HEAD_BYTES = 64 * 1024  # of a log, where its first line with text is searched
LOG_NAME = "log"  # the sender's name of a log is not used


class UnstoredFiles:
    """The files of one request: a log, and the companion files that belong to it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.log: Path | None = None
        self.companions: list[Path] = []

    def create_log(self) -> IO[bytes]:
        """Return the log as an empty file."""
        self.log = self.directory / LOG_NAME
        return self.log.open("wb")

    def create_companion(self, name: str) -> IO[bytes]:
        """Return a companion file as an empty file, in its own directory, because two may have the same name.

        The reading has it under its name: the reader recognises a companion by its name.
        """
        directory = self.directory / str(len(self.companions))
        directory.mkdir()
        path = directory / file_name(name)
        self.companions.append(path)
        return path.open("wb")

    def read(self, slice_length_s: int, limits: ReaderLimits | None = None) -> Document:
        """Return the reading of the log by the current profile. Raises what reader_process.read() raises."""
        if self.log is None:
            raise ValueError("expected a log, got none: create_log() comes first")
        return reader_process.read(self.log, slice_length_s, Profile.current().document, self.companions, limits)

    def first_line(self) -> tuple[int, str] | None:
        """Return number and text of the first line that is not blank, of a log in plain UTF-8; None without one."""
        if self.log is None:
            return None
        with self.log.open("rb") as file:
            head = file.read(HEAD_BYTES)
        lines = enumerate(head.decode("utf-8-sig", errors="replace").split("\n"), 1)
        return next(((number, line.strip()) for number, line in lines if line.strip()), None)


@contextmanager
def unstored_files() -> Iterator[UnstoredFiles]:
    """Provide files for one request in a temporary directory, and remove the directory at the end, also after errors.

    The directory is locked meanwhile, so that other processes do not take it for a leftover.
    """
    with scratch_directory() as directory:
        yield UnstoredFiles(directory)
