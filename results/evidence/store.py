"""The bytes of evidence, addressed by their hash: written once, never altered, never deleted.

EVIDENCE_STORE chooses where they are: a directory (`directory`), or object storage (`object_storage`).
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from django.conf import settings

from results.evidence.base import (
    ByteStream,
    EvidenceDamagedError,
    EvidenceStore,
    Stored,
    StoreError,
    StoreFullError,
    StoreUnavailableError,
    TooLargeError,
    UnsafeStoreError,
    file_name,
)
from results.evidence.directory import Directory
from results.models import Evidence, ObjectionFile, Submission

__all__ = [
    "DIRECTORY",
    "ByteStream",
    "EvidenceDamagedError",
    "StoreError",
    "StoreFullError",
    "StoreUnavailableError",
    "Stored",
    "TooLargeError",
    "UnsafeStoreError",
    "addresses",
    "check_store",
    "file_name",
    "free_bytes",
    "local_files",
    "open_address",
    "open_evidence",
    "prepare_store",
    "store",
]

DIRECTORY = "directory"


@dataclass(frozen=True)
class LocalFiles:
    """A log and the files that belong to it, as files of this machine."""

    log: Path
    companions: list[Path]


def configured_store() -> EvidenceStore:
    """Return the evidence store of the settings."""
    if settings.EVIDENCE_STORE == DIRECTORY:
        return Directory(Path(settings.EVIDENCE_DIR))
    from results.evidence.object_storage import object_storage  # noqa: PLC0415 - boto3 takes 0.2 s and 30 MB

    keys = (settings.S3_ACCESS_KEY_ID, settings.S3_SECRET_ACCESS_KEY)
    return object_storage(settings.EVIDENCE_STORE, settings.S3_ENDPOINT, settings.S3_REGION, *keys)


def prepare_store(*, is_new: bool = False) -> None:
    """Make the store ready, and try that it never replaces evidence. `is_new` says that no evidence has to be in it.

    Raises UnsafeStoreError, or StoreUnavailableError, also for a directory that lacks the newest evidence.
    """
    configured = configured_store()
    if isinstance(configured, Directory) and not configured.is_marked():
        newest = None if is_new else Evidence.objects.order_by("-pk").first()
        if newest is None or configured.path_of(newest.sha256).exists():
            configured.prepare()
    configured.check()


def check_store() -> None:
    """Check that the store can be used, as prepare_store(), but make nothing. Raises StoreError."""
    configured_store().check()


def free_bytes() -> int | None:
    """Return the free space of the store; None if it does not state it. Raises StoreUnavailableError."""
    return configured_store().free_bytes()


def store(stream: ByteStream) -> Stored:
    """Keep the bytes of a stream and return their address once they are safe in the store.

    Raises TooLargeError beyond UPLOAD_MAX_BYTES, StoreFullError without room, and StoreUnavailableError; nothing is
    stored then.
    """
    return configured_store().put(stream)


def address_of(row: Evidence | ObjectionFile) -> Stored:
    """Return the address of the bytes of a row."""
    return Stored(row.sha256, row.size_bytes)


def open_evidence(evidence: Evidence | ObjectionFile) -> BinaryIO:
    """Open the bytes as received. Raises EvidenceDamagedError if they are missing or of another length."""
    return open_address(address_of(evidence))


def open_address(stored: Stored) -> BinaryIO:
    """Open the bytes at an address, as open_evidence()."""
    return configured_store().open(stored)


def addresses(prefix: str) -> Iterator[Stored]:
    """Yield what the store has under hashes that begin with `prefix`, also files to which no row refers."""
    return configured_store().addresses(prefix)


@contextmanager
def local_files(evidence: Evidence) -> Iterator[LocalFiles]:
    """Provide the log of a submission and what belongs to it, companions and side file, as files of this machine.

    Each companion has the name from the sender: the reader recognises a companion by its name. Raises
    EvidenceDamagedError if the bytes of one are missing.
    """
    submission = evidence.submission
    with ExitStack() as opened:
        log = opened.enter_context(configured_store().local_file(address_of(evidence)))
        companions = [
            opened.enter_context(configured_store().local_file(address_of(file), filename))
            for file, filename in _companions(submission)
        ]
        yield LocalFiles(log, companions)


def _companions(submission: Submission) -> list[tuple[Evidence, str]]:
    companions = submission.companions.select_related("evidence")
    files = [(companion.evidence, companion.filename) for companion in companions]
    if submission.side_file is not None:
        files.append((submission.side_file, submission.side_file.filename))
    return files
