"""Bytes of drafts on disk: appended in pieces, and linked into the store when their draft is submitted.

Each file has a directory of its own, because the reader recognises a companion by its name. The area is in the file
system of the store, so that a link makes evidence of the bytes without a copy.
"""

import errno
import hashlib
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import zstandard
from django.conf import settings

from results.evidence.durable import sync_directory, write_file
from results.evidence.store import NO_ROOM, Stored, StoreFullError, file_name, link_into_store, make_directory

BYTES = "bytes"
LEFTOVER_AGE_S = 24 * 3600  # a file without a row: its process ended between the two


class StagedBytesLostError(Exception):
    """The file of an upload has fewer bytes than were reported as received; it has to be sent again."""


@dataclass(frozen=True)
class StagedBytes:
    """A complete file of the staging area."""

    key: str
    stored: Stored


def staged_path(key: str) -> Path:
    """Return where the bytes of a file of a draft are."""
    return _area() / "files" / key / BYTES


def append(key: str, offset: int, piece: bytes) -> None:
    """Write a piece at its offset and wait until it is on disk. Bytes after the offset, of a crash, are cut off.

    Raises StagedBytesLostError if the file is shorter than the offset, and StoreFullError without room.
    """
    path = staged_path(key)
    is_new = not path.exists()
    if is_new:
        make_directory(path.parent)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640)
    try:
        size_bytes = os.fstat(descriptor).st_size
        if size_bytes < offset:
            raise StagedBytesLostError(f"{path}: expected at least {offset} bytes, got {size_bytes}")
        if size_bytes > offset:
            os.ftruncate(descriptor, offset)
        _write_at(descriptor, offset, piece)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if is_new:
        sync_directory(path.parent)


def _write_at(descriptor: int, offset: int, piece: bytes) -> None:
    rest = memoryview(piece)
    try:
        while rest:
            written = os.pwrite(descriptor, rest, offset)
            rest, offset = rest[written:], offset + written
    except OSError as error:
        if error.errno in NO_ROOM:
            raise StoreFullError(f"{settings.EVIDENCE_DIR}: no room for the upload: {error.strerror}") from error
        raise


def seal(key: str, size_bytes: int) -> Stored:
    """Return the hash of a complete file. Nothing writes to it afterwards. Raises StagedBytesLostError."""
    path = staged_path(key)
    if size_bytes == 0:
        append(key, 0, b"")
    try:
        path.chmod(0o440)
        with path.open("rb") as file:
            found_bytes = os.fstat(file.fileno()).st_size
            digest = hashlib.file_digest(file, "sha256")
    except FileNotFoundError as error:
        raise StagedBytesLostError(f"{path}: expected {size_bytes} bytes, got no file") from error
    if found_bytes != size_bytes:
        raise StagedBytesLostError(f"{path}: expected {size_bytes} bytes, got {found_bytes}")
    return Stored(digest.hexdigest(), size_bytes)


def adopt(staged: StagedBytes) -> Stored:
    """Make evidence of a staged file: its bytes get a second name in the store, and are not copied."""
    link_into_store(staged_path(staged.key), staged.stored)
    return staged.stored


def named_path(key: str, filename: str) -> Path:
    """Return a path of a staged file that ends in the name from the sender."""
    directory = staged_path(key).parent / "named"
    directory.mkdir(mode=0o750, exist_ok=True)
    link = directory / file_name(filename)
    with suppress(FileExistsError):
        link.symlink_to(Path("..") / BYTES)
    return link


@contextmanager
def temporary_directory(key: str) -> Iterator[Path]:
    """Provide a directory in the staging area under a new key. It is removed at the end, also after errors.

    A process that is killed leaves it behind without a row, as a file of an upload (`leftovers`).
    """
    directory = staged_path(key).parent
    make_directory(directory)
    try:
        yield directory
    finally:
        remove(key)


def remove(key: str) -> None:
    """Remove a file of a draft. The bytes stay if the store has a name for them."""
    shutil.rmtree(staged_path(key).parent, ignore_errors=True)


def store_result(key: str, document: bytes) -> None:
    """Store the result of a reading, compressed, until a submission takes it over."""
    path = _result_path(key)
    make_directory(path.parent)
    temporary = path.with_suffix(f".{os.getpid()}")
    try:
        write_file(temporary, zstandard.compress(document))
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        if error.errno in NO_ROOM or error.errno == errno.EROFS:
            raise StoreFullError(f"{path}: no room for the result of a reading: {error.strerror}") from error
        raise


def stored_result(key: str) -> bytes | None:
    """Return a stored result; None if there is none, or if it is damaged: the log is then read again."""
    try:
        with _result_path(key).open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as text:
            return text.read()
    except (FileNotFoundError, zstandard.ZstdError):
        return None


def result_size_bytes(key: str) -> int | None:
    """Return the compressed size of a stored result; None without one."""
    try:
        return _result_path(key).stat().st_size
    except FileNotFoundError:
        return None


def remove_result(key: str) -> None:
    """Remove a stored result, if there is one."""
    _result_path(key).unlink(missing_ok=True)


def leftovers() -> tuple[list[str], list[str]]:
    """Return the keys of files and of results that are older than a day; the caller knows which ones have a row."""
    oldest = time.time() - LEFTOVER_AGE_S
    files, results = _entries("files"), _entries("results")
    return (
        [path.name for path in files if _changed_at(path) < oldest],
        [path.stem for path in results if _changed_at(path) < oldest],
    )


def _entries(name: str) -> list[Path]:
    directory = _area() / name
    return list(directory.iterdir()) if directory.is_dir() else []


def _changed_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:  # another process has removed it
        return time.time()


def _result_path(key: str) -> Path:
    return _area() / "results" / f"{key}.zst"


def _area() -> Path:
    return Path(settings.EVIDENCE_DIR) / "staging"
