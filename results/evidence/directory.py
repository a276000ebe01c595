"""The evidence store in a directory of a POSIX file system.

A crash leaves a file that nothing points to, which is harmless; a file in `incoming/` is an incomplete copy. Staged
files are in the same file system, so that a link makes evidence of their bytes without a copy. Each has a directory of
its own, because the reader recognises a companion by its name.
"""

import errno
import hashlib
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from results.evidence.base import (
    LEFTOVER_AGE_S,
    NO_ROOM,
    ByteStream,
    EvidenceDamagedError,
    StagedBytesLostError,
    Stored,
    StoreError,
    StoreFullError,
    StoreUnavailableError,
    copy_hashed,
    file_name,
)
from results.evidence.durable import make_directory, sync_directory, write_file

BYTES = "bytes"
MARK = ".drivecert-evidence"  # in the directory itself: if its file system is not mounted, the mark is missing


class Directory:
    """A kind of EvidenceStore."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def prepare(self) -> None:
        """Create the directory with its mark."""
        make_directory(self.root)
        write_file(self.root / MARK, b"")
        sync_directory(self.root)

    def is_marked(self) -> bool:
        """Return whether this is the directory that was prepared, not the place at which it is mounted."""
        return (self.root / MARK).exists()

    def check(self) -> None:
        """Raise StoreUnavailableError without the mark: the file system of the directory is not mounted."""
        if not self.is_marked():
            raise StoreUnavailableError(
                f"{self.root}: expected the evidence store, found no {MARK} in it; mount its file system, or restore a "
                "backup if its disk is lost"
            )

    def free_bytes(self) -> int:
        """Return the free space of the file system of the directory."""
        self.check()
        if not os.access(self.root, os.W_OK):
            raise StoreUnavailableError(f"{self.root}: expected a directory in which the register may write, got none")
        try:
            return shutil.disk_usage(self.root).free
        except OSError as error:
            raise StoreUnavailableError(f"{self.root}: {error.strerror}") from error

    def put(self, stream: ByteStream) -> Stored:
        """Copy the bytes into a new file, and give it its name. Raises StoreError."""
        self.check()
        with self._store_errors("the file"), self._incoming_file() as (temporary, descriptor):
            stored = copy_hashed(stream, lambda chunk: _write(descriptor, chunk))
            os.fsync(descriptor)
            self._link(temporary, stored)
        return stored

    def path_of(self, sha256: str) -> Path:
        """Return where the bytes of a hash are stored: two levels of directories keep each of them small."""
        return self.root / sha256[:2] / sha256[2:4] / sha256

    def open(self, stored: Stored) -> BinaryIO:
        """Open the file. Raises EvidenceDamagedError if it is missing or of another length."""
        path = self.path_of(stored.sha256)
        try:
            size_bytes = path.stat().st_size
        except FileNotFoundError as error:
            raise EvidenceDamagedError(
                f"{path}: expected {stored.size_bytes} bytes, got none; restore a backup"
            ) from error
        if size_bytes != stored.size_bytes:
            raise EvidenceDamagedError(
                f"{path}: expected {stored.size_bytes} bytes, got {size_bytes}; restore a backup", size_bytes
            )
        return path.open("rb")

    def addresses(self, prefix: str) -> Iterator[Stored]:
        """Yield the files of the directory whose names begin with the prefix."""
        parent = self.root / prefix[:2]
        for directory in sorted(parent.iterdir()) if parent.is_dir() else []:
            for entry in os.scandir(directory):
                if entry.name.startswith(prefix):
                    yield Stored(entry.name, entry.stat().st_size)

    @contextmanager
    def local_file(self, stored: Stored, filename: str = "") -> Iterator[Path]:
        """Provide the file itself. With a name, it is a link next to the store, created on demand and never removed.

        A worker that is killed leaves nothing that would not be made again.
        """
        self.open(stored).close()  # raises if the bytes are missing
        path = self.path_of(stored.sha256)
        yield self._named(self.root / "named" / stored.sha256, path, filename) if filename else path

    def append(self, key: str, offset: int, piece: bytes) -> None:
        """Write a piece at its offset. Bytes after the offset, of a crash, are cut off."""
        self.check()
        path = self.staged_path(key)
        is_new = not path.exists()
        with self._store_errors("the file of a draft"):
            if is_new:
                make_directory(path.parent)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640)
            try:
                _cut(path, descriptor, offset)
                _write(descriptor, piece)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            if is_new:
                sync_directory(path.parent)

    def seal(self, key: str, size_bytes: int) -> Stored:
        """Return the hash of a complete file. Nothing writes to it afterwards."""
        path = self.staged_path(key)
        if size_bytes == 0:
            self.append(key, 0, b"")
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

    def adopt(self, key: str, stored: Stored) -> None:
        """Give the bytes a second name in the store."""
        with self._store_errors("the name of a file"):
            self._link(self.staged_path(key), stored)

    def staged_path(self, key: str) -> Path:
        """Return where the bytes of a file of a draft are."""
        return self._staging / "files" / key / BYTES

    @contextmanager
    def staged_file(self, key: str, filename: str = "") -> Iterator[Path]:
        """Provide the file itself, or a link to it with a name."""
        path = self.staged_path(key)
        if not path.exists():
            raise StagedBytesLostError(f"{path}: expected the bytes of a draft, got no file")
        yield self._named(path.parent / "named", path, filename) if filename else path

    def remove(self, key: str) -> None:
        """Remove a staged file. The bytes stay if the store has a name for them."""
        shutil.rmtree(self.staged_path(key).parent, ignore_errors=True)

    @contextmanager
    def temporary_directory(self, key: str) -> Iterator[Path]:
        """Provide a directory in the staging area under a new key.

        A process that is killed leaves it behind without a row, as a file of an upload (`leftovers`).
        """
        directory = self.staged_path(key).parent
        with self._store_errors("a temporary directory"):
            make_directory(directory)
        try:
            yield directory
        finally:
            self.remove(key)

    def put_result(self, key: str, packed: bytes) -> None:
        """Write a result to a file."""
        path = self._result_path(key)
        temporary = path.with_suffix(f".{os.getpid()}")
        try:
            with self._store_errors("the result of a reading"):
                make_directory(path.parent)
                write_file(temporary, packed)
                temporary.replace(path)
        except (StoreError, OSError):
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise

    def result(self, key: str) -> bytes | None:
        """Return the content of a result; None without one."""
        try:
            return self._result_path(key).read_bytes()
        except FileNotFoundError:
            return None

    def result_size_bytes(self, key: str) -> int | None:
        """Return the size of a result; None without one."""
        try:
            return self._result_path(key).stat().st_size
        except FileNotFoundError:
            return None

    def remove_result(self, key: str) -> None:
        """Remove a result, if there is one."""
        self._result_path(key).unlink(missing_ok=True)

    def leftovers(self) -> tuple[list[str], list[str]]:
        """Return the keys of files and of results that were last changed more than a day ago."""
        oldest = time.time() - LEFTOVER_AGE_S
        return (
            [path.name for path in self._entries("files") if _changed_at(path) < oldest],
            [path.stem for path in self._entries("results") if _changed_at(path) < oldest],
        )

    def remove_abandoned(self) -> int:
        """Remove the incomplete copies of processes that ended more than a day ago, and return their number."""
        directory, oldest = self.root / "incoming", time.time() - LEFTOVER_AGE_S
        old = [path for path in directory.iterdir() if _changed_at(path) < oldest] if directory.is_dir() else []
        for path in old:
            path.unlink(missing_ok=True)
        return len(old)

    @property
    def _staging(self) -> Path:
        return self.root / "staging"

    def _result_path(self, key: str) -> Path:
        return self._staging / "results" / f"{key}.zst"

    def _entries(self, name: str) -> list[Path]:
        directory = self._staging / name
        return list(directory.iterdir()) if directory.is_dir() else []

    @contextmanager
    def _incoming_file(self) -> Iterator[tuple[Path, int]]:
        """Open a new file in the same file system, removed at the end (a stored one has its second name by then)."""
        directory = self.root / "incoming"
        make_directory(directory)
        temporary = directory / secrets.token_hex(16)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o440)
        try:
            yield temporary, descriptor
        finally:
            os.close(descriptor)
            temporary.unlink()

    @contextmanager
    def _store_errors(self, what: str) -> Iterator[None]:
        """Raise StoreFullError if the file system is full, and StoreUnavailableError if it is read-only.

        New directories and names need space, too.
        """
        try:
            yield
        except OSError as error:
            if error.errno in NO_ROOM:
                raise StoreFullError(f"{self.root}: no room for {what}: {error.strerror}") from error
            if error.errno == errno.EROFS:
                raise StoreUnavailableError(f"{self.root}: {error.strerror}") from error
            raise

    def _link(self, temporary: Path, stored: Stored) -> None:
        """Give complete bytes their name in the store.

        A link, unlike a rename, never replaces a file that is there: the same hash is the same bytes.
        """
        path = self.path_of(stored.sha256)
        make_directory(path.parent)
        try:
            os.link(temporary, path)
        except FileExistsError:
            if path.stat().st_size != stored.size_bytes:
                raise EvidenceDamagedError(f"{path}: expected {stored.size_bytes} bytes; restore a backup") from None
        # Also if the file existed: another process may have linked it without reaching this line.
        sync_directory(path.parent)

    def _named(self, directory: Path, path: Path, filename: str) -> Path:
        link = directory / file_name(filename)
        # The bytes may be there under this name: an earlier attempt has made it.
        with self._store_errors("a name of a file"), suppress(FileExistsError):
            directory.mkdir(mode=0o750, parents=True, exist_ok=True)
            link.symlink_to(os.path.relpath(path, directory))
        return link


def _cut(path: Path, descriptor: int, offset: int) -> None:
    """Cut off the bytes after the offset, and go there. Raises StagedBytesLostError if there are fewer bytes."""
    size_bytes = os.fstat(descriptor).st_size
    if size_bytes < offset:
        raise StagedBytesLostError(f"{path}: expected at least {offset} bytes, got {size_bytes}")
    if size_bytes > offset:
        os.ftruncate(descriptor, offset)
    os.lseek(descriptor, offset, os.SEEK_SET)


def _write(descriptor: int, chunk: bytes) -> None:
    rest = memoryview(chunk)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _changed_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:  # another process has removed it
        return time.time()
