"""Bytes of drafts in the evidence store: appended in pieces, and made evidence when their draft is submitted."""

from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path

import zstandard

from results.evidence.base import LEFTOVER_AGE_S, StagedBytesLostError, Stored, StoreUnavailableError
from results.evidence.store import configured_store

__all__ = [
    "LEFTOVER_AGE_S",
    "StagedBytes",
    "StagedBytesLostError",
    "adopt",
    "append",
    "leftovers",
    "remove",
    "remove_abandoned",
    "remove_result",
    "result_size_bytes",
    "seal",
    "staged_file",
    "store_result",
    "stored_result",
    "temporary_directory",
]


@dataclass(frozen=True)
class StagedBytes:
    """A complete file of the staging area."""

    key: str
    stored: Stored


def append(key: str, offset: int, piece: bytes) -> None:
    """Write a piece at its offset and wait until it is safe. Bytes after the offset, of a crash, are cut off.

    Raises StagedBytesLostError if the file is shorter than the offset, StoreFullError without room, and
    StoreUnavailableError.
    """
    configured_store().append(key, offset, piece)


def seal(key: str, size_bytes: int) -> Stored:
    """Return the hash of a complete file. Nothing writes to it afterwards. Raises StagedBytesLostError."""
    return configured_store().seal(key, size_bytes)


def adopt(staged: StagedBytes) -> Stored:
    """Make evidence of a staged file. Its bytes are not sent through this machine again."""
    configured_store().adopt(staged.key, staged.stored)
    return staged.stored


def staged_file(key: str, filename: str = "") -> AbstractContextManager[Path]:
    """Provide a staged file as a file of this machine, which has the name from the sender if one is given.

    Raises StagedBytesLostError if there is none.
    """
    return configured_store().staged_file(key, filename)


def temporary_directory(key: str) -> AbstractContextManager[Path]:
    """Provide a directory of this machine under a new key. It is removed at the end, also after errors."""
    return configured_store().temporary_directory(key)


def remove(key: str) -> None:
    """Remove a file of a draft. The bytes stay if they are evidence.

    If the store does not answer, the file stays without a row, and is removed later (`leftovers`).
    """
    with suppress(StoreUnavailableError):
        configured_store().remove(key)


def store_result(key: str, document: bytes) -> None:
    """Store the result of a reading, compressed, until a submission takes it over."""
    configured_store().put_result(key, zstandard.compress(document))


def stored_result(key: str) -> bytes | None:
    """Return a stored result; None if there is none, or if it is damaged: the log is then read again."""
    packed = configured_store().result(key)
    try:
        return zstandard.decompress(packed) if packed is not None else None
    except zstandard.ZstdError:
        return None


def result_size_bytes(key: str) -> int | None:
    """Return the compressed size of a stored result; None without one."""
    return configured_store().result_size_bytes(key)


def remove_result(key: str) -> None:
    """Remove a stored result, if there is one, as remove()."""
    with suppress(StoreUnavailableError):
        configured_store().remove_result(key)


def leftovers() -> tuple[list[str], list[str]]:
    """Return the keys of files and of results that are older than a day; the caller knows which ones have a row."""
    return configured_store().leftovers()


def remove_abandoned() -> int:
    """Remove what interrupted copies into the store left more than a day ago, and return their number."""
    return configured_store().remove_abandoned()
