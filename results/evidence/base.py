"""The interface, values and errors of the evidence store: `directory.py` and `object_storage.py` implement it.

Both give the same guarantees. Stored bytes are never replaced and never deleted. A file gets its name only when it is
complete and its hash is known. A row refers to it only after that.
"""

import errno
import hashlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from django.conf import settings

CHUNK_BYTES = 1024 * 1024
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
NAME_BYTES = 200  # of the 255 that a file system allows: the end stays, because it shows the kind of file
LEFTOVER_AGE_S = 24 * 3600  # a file without a row: its process ended between the two


class StoreError(Exception):
    """The bytes could not be stored; no partial file remains under their name."""


class TooLargeError(StoreError):
    """More bytes than one log may have."""


class StoreFullError(StoreError):
    """The store has no room; the operator has to make some."""


class StoreUnavailableError(StoreError, OSError):
    """The store does not answer now; nothing is lost, and the same step works later."""


class UnsafeStoreError(StoreError):
    """The store does not keep what the register needs of it; the operator has to choose another one."""


class EvidenceDamagedError(Exception):
    """The file of a row is missing or is not what was stored; restore it from a backup.

    `found_bytes` is its length; None if it is missing.
    """

    def __init__(self, message: str, found_bytes: int | None = None) -> None:
        super().__init__(message)
        self.found_bytes = found_bytes


class StagedBytesLostError(Exception):
    """The file of an upload has fewer bytes than were reported as received; it has to be sent again."""


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


class EvidenceStore(Protocol):
    """A kind of the evidence store: evidence by its hash, and the staging area of drafts by secret keys."""

    def check(self) -> None:
        """Raise UnsafeStoreError or StoreUnavailableError if the store cannot be used."""
        ...

    def free_bytes(self) -> int | None:
        """Return the free space; None if the store does not state it. Raises StoreUnavailableError."""
        ...

    def put(self, stream: ByteStream) -> Stored:
        """Keep the bytes of a stream and return their address once they are safe. Raises StoreError."""
        ...

    def open(self, stored: Stored) -> BinaryIO:
        """Open the bytes at an address. Raises EvidenceDamagedError if they are missing or of another length."""
        ...

    def addresses(self, prefix: str) -> Iterator[Stored]:
        """Yield what is stored under the hashes that begin with at least two characters."""
        ...

    def local_file(self, stored: Stored, filename: str = "") -> AbstractContextManager[Path]:
        """Provide evidence as a file of this machine, whose name is `filename` if one is given."""
        ...

    def append(self, key: str, offset: int, piece: bytes) -> None:
        """Write a piece of a staged file at its offset, and wait until it is safe; as staging.append()."""
        ...

    def seal(self, key: str, size_bytes: int) -> Stored:
        """Return the hash of a complete staged file; as staging.seal()."""
        ...

    def adopt(self, key: str, stored: Stored) -> None:
        """Make evidence of a sealed file; its bytes do not pass this machine."""
        ...

    def staged_file(self, key: str, filename: str = "") -> AbstractContextManager[Path]:
        """Provide a staged file as a file of this machine. Raises StagedBytesLostError if it is missing."""
        ...

    def remove(self, key: str) -> None:
        """Remove a staged file, if there is one."""
        ...

    def temporary_directory(self, key: str) -> AbstractContextManager[Path]:
        """Provide a directory of this machine for large files, which is removed at the end, also after errors."""
        ...

    def put_result(self, key: str, packed: bytes) -> None:
        """Keep the compressed result of a reading."""
        ...

    def result(self, key: str) -> bytes | None:
        """Return a compressed result; None if there is none."""
        ...

    def result_size_bytes(self, key: str) -> int | None:
        """Return the size of a compressed result; None if there is none."""
        ...

    def remove_result(self, key: str) -> None:
        """Remove a result, if there is one."""
        ...

    def leftovers(self) -> tuple[list[str], list[str]]:
        """Return the keys of staged files and of results that are older than LEFTOVER_AGE_S."""
        ...

    def remove_abandoned(self) -> int:
        """Remove what interrupted copies left more than LEFTOVER_AGE_S ago, and return their number."""
        ...


def copy_hashed(stream: ByteStream, write: Callable[[bytes], object]) -> Stored:
    """Pass on the bytes of a stream and return their address. Raises TooLargeError beyond UPLOAD_MAX_BYTES."""
    digest, size_bytes = hashlib.sha256(), 0
    while chunk := stream.read(CHUNK_BYTES):
        size_bytes += len(chunk)
        if size_bytes > settings.UPLOAD_MAX_BYTES:
            raise TooLargeError(f"expected at most {settings.UPLOAD_MAX_BYTES} bytes, got more; compress the log")
        digest.update(chunk)
        write(chunk)
    return Stored(digest.hexdigest(), size_bytes)


def file_name(filename: str) -> str:
    """Return a name that every file system takes; "." and ".." are none."""
    name = filename.replace("/", "_").encode(errors="replace")[-NAME_BYTES:].decode(errors="ignore")
    return name if name.strip(".") else "companion"
