"""Attempts of readings: each is counted before it starts, and a log that fails for the register's fault is read again.

A job is one row of the queue with the way to read it, and to store the result.
"""

import logging
from datetime import timedelta
from decimal import InvalidOperation
from pathlib import Path
from typing import Protocol

from django.conf import settings
from django.db import DataError
from django.utils import timezone

from results.evidence.staging import StagedBytesLostError
from results.evidence.store import EvidenceDamagedError, StoreFullError
from results.models import Profile
from results.models.evidence import QueuedReading
from results.reader import process as reader_process
from results.reader.process import (
    Document,
    FormatError,
    OutputLimitError,
    ProcessorLimitError,
    ReaderBrokenError,
    ReaderKilledError,
    TooManySlicesError,
    failed_attempt,
    gave_up,
    unreadable,
)

logger = logging.getLogger(__name__)

PAUSES_S = (30, 300)  # after the first and the second attempt that count: a busy machine is often past its peak by then
DAMAGE_PAUSE_S = 60
AWAY_PAUSE_S = 20  # the store is away or full: its logs are read within 30 s after it is back
FILE_UNREADABLE = "file-unreadable"  # of docs/reference/findings.md: the one error that is never the log's

# Not tried again: the same bytes would be read the same.
LOG_ERRORS = (
    FormatError,
    TooManySlicesError,
    OutputLimitError,
    ProcessorLimitError,
    DataError,
    InvalidOperation,
)
State = QueuedReading.State


class OvertakenError(Exception):
    """Another attempt started the reading meanwhile: its rows count, and ours are rolled back."""


class DraftFailureError(Exception):
    """The draft of the same files could not be read; `error` and `document` are those of its reading."""

    def __init__(self, error: Document, document: Document | None) -> None:
        self.error, self.document = error, document
        super().__init__(error["sentence"])


class Job(Protocol):
    """A row of the queue, and how to read its log."""

    @property
    def row(self) -> QueuedReading:
        """Return the row of the queue."""
        ...

    def read(self, profile: Profile) -> Document:
        """Return the reading. Raises as reader_process.read(), and an error of damaged or lost bytes."""
        ...

    def finish(self, document: Document, profile: Profile) -> None:
        """Store the result and leave the state `reading`, in one transaction."""
        ...

    def fail(self, error: Document, document: Document | None = None) -> None:
        """Store the error and leave the state `reading`, in one transaction."""
        ...


def attempt(job: Job) -> None:
    """Read the log once. The attempt is counted before it begins: a log that ends its worker is counted too."""
    row = job.row
    if row.counted_attempts >= settings.READ_MAX_ATTEMPTS:
        job.fail(gave_up(row.error))  # the last attempt ended with its worker
        return
    row.attempts += 1
    row.counted_attempts += 1
    type(row)._default_manager.filter(pk=row.pk).update(
        state=State.READING,
        attempts=row.attempts,
        counted_attempts=row.counted_attempts,
        reader_version=reader_process.reader_version(),
        started_at=timezone.now(),
        next_attempt_at=None,
    )
    profile = Profile.current()
    try:
        document = job.read(profile)
        job.finish(document, profile)
    except LOG_ERRORS as error:
        job.fail(unreadable(error), error.document if isinstance(error, FormatError) else None)
    except DraftFailureError as failure:
        job.fail(failure.error, failure.document)
    except (ReaderKilledError, ReaderBrokenError) as error:
        _try_again(job, error, PAUSES_S[min(row.counted_attempts, len(PAUSES_S)) - 1])
    except (StoreFullError, OSError) as error:
        row.counted_attempts -= 1
        _try_again(job, error, AWAY_PAUSE_S)
    except (EvidenceDamagedError, StagedBytesLostError) as error:
        row.counted_attempts -= 1
        _try_again(job, error, DAMAGE_PAUSE_S)


def end_attempt(row: QueuedReading, state: str, columns: Document) -> None:
    """Leave the state `reading` once, and only for this attempt."""
    if not _of_attempt(row).update(state=state, finished_at=timezone.now(), **columns):
        raise OvertakenError(f"{row}: attempt {row.attempts} was overtaken by another")


def refuse_damage(path: Path, sha256: str, document: Document) -> None:
    """Compare what was read with what was stored: a disk's fault must not become the log's."""
    got = document["input"]["sha256"]
    if got is None and (error := document["error"]) is not None and error["id"] != FILE_UNREADABLE:
        return  # the reader stopped before the last byte, for a reason in the log
    if got is None:
        raise EvidenceDamagedError(f"{path}: its bytes could not be read to their end; restore a backup")
    if got != sha256:
        raise EvidenceDamagedError(f"{path}: its bytes have the hash {got}; restore a backup")


def _of_attempt(row: QueuedReading):  # type: ignore[no-untyped-def] # a query set of the row's own model
    return type(row)._default_manager.filter(pk=row.pk, state=State.READING, attempts=row.attempts)


def _try_again(job: Job, error: Exception, pause_s: int) -> None:
    """Put the reading back into the queue with the reason, or mark it as failed after the last attempt."""
    row = job.row
    logger.warning("%s, attempt %s: %s", row, row.attempts, error)
    row.error = failed_attempt(row.error, error)
    if row.counted_attempts >= settings.READ_MAX_ATTEMPTS:
        job.fail(gave_up(row.error))
        return
    _of_attempt(row).update(
        state=State.PENDING,
        counted_attempts=row.counted_attempts,
        error=row.error,
        next_attempt_at=timezone.now() + timedelta(seconds=pause_s),
    )
