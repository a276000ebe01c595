"""The bytes of evidence on disk, addressed by their hash: written once, never altered, never deleted.

A file is complete before it has its name, and has its name before a row refers to it. A crash in between leaves a file
that nothing points to, which is harmless; a file in `incoming/` is an incomplete copy.
"""

import errno
import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from django.conf import settings

from results.evidence.durable import sync_directory
from results.models import Evidence, ObjectionFile, Submission

CHUNK_BYTES = 1024 * 1024
NAME_BYTES = 200  # of the 255 that a file system allows: the end stays, because it shows the kind of file
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class StoreError(Exception):
    """The bytes could not be stored; no partial file remains under their name."""


class TooLargeError(StoreError):
    """More bytes than one log may have."""


class StoreFullError(StoreError):
    """The file system has no room; the operator has to make some."""


class EvidenceDamagedError(Exception):
    """The file of a row is missing or is not what was stored; restore it from a backup."""


class ByteStream(Protocol):
    """A source of bytes: an open file, an upload or a pipe."""

    def read(self, size: int, /) -> bytes:
        """Return up to `size` bytes, none at the end."""
        ...


@dataclass(frozen=True)
class Stored:
    """The address of stored bytes: their SHA-256 in hexadecimal, and their number."""

    sha256: str
    size_bytes: int


def store(stream: ByteStream) -> Stored:
    """Keep the bytes of a stream and return their address once they are safe on disk.

    Raises TooLargeError beyond UPLOAD_MAX_BYTES and StoreFullError without room; nothing is stored then.
    """
    with _incoming_file() as (temporary, descriptor):
        stored = _copy(stream, descriptor)
        link_into_store(temporary, stored)
    return stored


def path_of(sha256: str) -> Path:
    """Return where the bytes of a hash are stored: two levels of directories keep each of them small."""
    return Path(settings.EVIDENCE_DIR) / sha256[:2] / sha256[2:4] / sha256


def open_evidence(evidence: Evidence | ObjectionFile) -> BinaryIO:
    """Open the bytes as received. Raises EvidenceDamagedError if they are missing or of another length."""
    path = path_of(evidence.sha256)
    try:
        size_bytes = path.stat().st_size
    except FileNotFoundError as error:
        raise EvidenceDamagedError(f"{path}: expected the bytes of {evidence}, got none; restore a backup") from error
    if size_bytes != evidence.size_bytes:
        raise EvidenceDamagedError(f"{path}: expected {evidence.size_bytes} bytes, got {size_bytes}; restore a backup")
    return path.open("rb")


@contextmanager
def _incoming_file() -> Iterator[tuple[Path, int]]:
    """Open a new file in the same file system, removed at the end (a stored one has its second name by then)."""
    directory = Path(settings.EVIDENCE_DIR) / "incoming"
    make_directory(directory)
    temporary = directory / secrets.token_hex(16)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o440)
    try:
        yield temporary, descriptor
    finally:
        os.close(descriptor)
        temporary.unlink()


def _copy(stream: ByteStream, descriptor: int) -> Stored:
    digest, size_bytes = hashlib.sha256(), 0
    while chunk := stream.read(CHUNK_BYTES):
        size_bytes += len(chunk)
        if size_bytes > settings.UPLOAD_MAX_BYTES:
            raise TooLargeError(f"expected at most {settings.UPLOAD_MAX_BYTES} bytes, got more; compress the log")
        digest.update(chunk)
        _write(descriptor, chunk)
    os.fsync(descriptor)
    return Stored(digest.hexdigest(), size_bytes)


def _write(descriptor: int, chunk: bytes) -> None:
    rest = memoryview(chunk)
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except OSError as error:
        if error.errno in NO_ROOM:
            raise StoreFullError(f"{settings.EVIDENCE_DIR}: no room for the log: {error.strerror}") from error
        raise


def link_into_store(temporary: Path, stored: Stored) -> None:
    """Give complete bytes their name in the store.

    A link, unlike a rename, never replaces a file that is there: the same hash is the same bytes.
    """
    path = path_of(stored.sha256)
    make_directory(path.parent)
    try:
        os.link(temporary, path)
    except FileExistsError:
        if path.stat().st_size != stored.size_bytes:
            raise EvidenceDamagedError(f"{path}: expected {stored.size_bytes} bytes; restore a backup") from None
    # Also if the file existed: another process may have linked it without reaching this line.
    sync_directory(path.parent)


def make_directory(directory: Path) -> None:
    """Create a directory and the ones above it, each safe on disk in the one above."""
    if directory.is_dir():
        return
    make_directory(directory.parent)
    directory.mkdir(mode=0o750, exist_ok=True)
    sync_directory(directory.parent)


def companion_paths(submission: Submission) -> list[Path]:
    """Return paths of what belongs to a submission's log: its companions, and the side file of a run of our lab.

    Each path ends in the name from the sender: the reader recognises a companion by its name. The names are links next
    to the store, created on demand and never removed: a worker that is killed leaves nothing that would not be made
    again. Raises EvidenceDamagedError if the bytes of one are missing.
    """
    companions = submission.companions.select_related("evidence")
    files = [(companion.evidence, companion.filename) for companion in companions]
    if submission.side_file is not None:
        files.append((submission.side_file, submission.side_file.filename))
    return [_named_path(evidence, filename) for evidence, filename in files]


def _named_path(evidence: Evidence, filename: str) -> Path:
    open_evidence(evidence).close()  # raises if the bytes are missing
    directory = Path(settings.EVIDENCE_DIR) / "named" / evidence.sha256
    directory.mkdir(mode=0o750, parents=True, exist_ok=True)
    link = directory / file_name(filename)
    with suppress(FileExistsError):  # the same bytes under the same name: an earlier attempt has made it
        link.symlink_to(os.path.relpath(path_of(evidence.sha256), directory))
    return link


def file_name(filename: str) -> str:
    """Return a name that every file system takes; "." and ".." are none."""
    name = filename.replace("/", "_").encode(errors="replace")[-NAME_BYTES:].decode(errors="ignore")
    return name if name.strip(".") else "companion"
