"""The queue of readings: each attempt is recorded before it starts, and a failed reading can be queued again."""

import logging
import time
from datetime import timedelta
from decimal import InvalidOperation
from functools import partial

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import DataError, transaction
from django.dispatch import Signal
from django.utils import timezone

from results import locks
from results.evidence.store import EvidenceDamagedError, companion_paths, open_evidence, path_of
from results.history import record_event
from results.ingest.rows import record_input, record_runs
from results.models import Evidence, Profile, Reading, Submission
from results.reader import process as reader_process
from results.reader.process import (
    Document,
    FormatError,
    OutputLimitError,
    ReaderBrokenError,
    ReaderKilledError,
    TooManySlicesError,
    failed_attempt,
    gave_up,
    unreadable,
)

# Sent after commit with `reading_id`. Only a notification: a receiver that fails or is missing delays a reading until
# the next sweep.
reading_pending = Signal()


logger = logging.getLogger(__name__)

PAUSES_S = (30, 300)  # after the first and the second attempt that count: a busy machine is often past its peak by then
OWN_FAULT_PAUSE_S = 60
FILE_UNREADABLE = "file-unreadable"  # of docs/reference/findings.md: the one error that is never the log's
SWEEP_S = 10  # a sweep that took longer leaves the rest to the next one: the same workers also poll the dispatches


# Not tried again: the same bytes would be read the same.
LOG_ERRORS = (FormatError, TooManySlicesError, OutputLimitError, DataError, InvalidOperation)


class OvertakenError(Exception):
    """Another attempt started the reading meanwhile: its rows count, and ours are rolled back."""


def sweep() -> int:
    """Read the waiting logs, oldest first, and return the number of started readings."""
    try:
        reader_process.reader_version()
    except ReaderBrokenError:
        logger.exception("readings wait: no reader")  # no reading starts, so no attempt is lost
        return 0
    started, taken = time.monotonic(), 0
    for reading_id in list(Reading.objects.due().order_by("created_at").values_list("pk", flat=True)):
        if time.monotonic() - started > SWEEP_S:
            break
        try:
            taken += read_one(reading_id)
        except Exception:
            logger.exception("reading %s: attempt failed; the next sweep tries again", reading_id)
    return taken


def read_one(reading_id: int) -> bool:
    """Attempt a reading once. Return False if it is finished or paused, or if another worker has it."""
    with locks.try_lock(locks.READING, reading_id) as is_ours:
        if not is_ours or not Reading.objects.due().filter(pk=reading_id).exists():
            return False
        reading = Reading.objects.select_related("evidence__submission__organisation").get(pk=reading_id)
        if reading.counted_attempts >= settings.READ_MAX_ATTEMPTS:
            _fail(reading, gave_up(reading.error))  # the last attempt ended with its worker
        else:
            _attempt(reading)
    return True


def _attempt(reading: Reading) -> None:
    """Read the log once. The attempt is counted before it begins: a log that ends its worker is counted too."""
    reading.attempts += 1
    reading.counted_attempts += 1
    Reading.objects.filter(pk=reading.pk).update(
        state=Reading.State.READING,
        attempts=reading.attempts,
        counted_attempts=reading.counted_attempts,
        reader_version=reader_process.reader_version(),
        started_at=timezone.now(),
        next_attempt_at=None,
    )
    profile = Profile.current()
    try:
        document = read_evidence(reading.evidence, profile)
        _finish(reading, document, profile)
    except LOG_ERRORS as error:
        _fail(reading, unreadable(error), error.document if isinstance(error, FormatError) else None)
    except (ReaderKilledError, ReaderBrokenError) as error:
        _try_again(reading, error, PAUSES_S[min(reading.counted_attempts, len(PAUSES_S)) - 1])
    except (EvidenceDamagedError, OSError) as error:
        reading.counted_attempts -= 1
        _try_again(reading, error, OWN_FAULT_PAUSE_S)


def read_evidence(evidence: Evidence, profile: Profile, slice_length_s: int | None = None) -> Document:
    """Read a stored log in its submission's slices or in others; raises as process.read(), and EvidenceDamagedError."""
    open_evidence(evidence).close()  # raises if the bytes are missing
    path, submission = path_of(evidence.sha256), evidence.submission
    try:
        slice_length_s = slice_length_s or submission.slice_length_s
        document = reader_process.read(path, slice_length_s, profile.document, companion_paths(submission))
    except FormatError as error:
        _refuse_damage(evidence, error.document)
        raise
    _refuse_damage(evidence, document)
    return document


def _refuse_damage(evidence: Evidence, document: Document) -> None:
    """Compare what was read with what was stored: a disk's fault must not become the log's."""
    path, got = path_of(evidence.sha256), document["input"]["sha256"]
    if got is None and (error := document["error"]) is not None and error["id"] != FILE_UNREADABLE:
        return  # the reader stopped before the last byte, for a reason in the log
    if got is None:
        raise EvidenceDamagedError(f"{path}: its bytes could not be read to their end; restore a backup")
    if got != evidence.sha256:
        raise EvidenceDamagedError(f"{path}: its bytes have the hash {got}; restore a backup")


def _finish(reading: Reading, document: Document, profile: Profile) -> None:
    """Write all rows and the state in one transaction."""
    with transaction.atomic():
        done = {"findings": document["findings"], "reader_version": document["reader"]["version"], "error": None}
        _end(reading, Reading.State.DONE, done | {"members": document["input"].get("members", [])})
        record_input(reading.evidence, document)
        _record(reading, "reading-done", {"runs": record_runs(reading, document, profile)})


def _fail(reading: Reading, error: Document, document: Document | None = None) -> None:
    with transaction.atomic():
        _end(reading, Reading.State.FAILED, {"error": error})
        if document is not None:
            record_input(reading.evidence, document)
        _record(reading, "reading-failed", {"error": error["id"]})


def _end(reading: Reading, state: str, columns: Document) -> None:
    """Leave the state `reading` once, and only for this attempt."""
    ours = Reading.objects.filter(pk=reading.pk, state=Reading.State.READING, attempts=reading.attempts)
    if not ours.update(state=state, finished_at=timezone.now(), **columns):
        raise OvertakenError(f"reading {reading.pk}: attempt {reading.attempts} was overtaken by another")


def _try_again(reading: Reading, error: Exception, pause_s: int) -> None:
    """Put the reading back into the queue with the reason, or mark it as failed after the last attempt."""
    logger.warning("reading %s, attempt %s: %s", reading.pk, reading.attempts, error)
    reading.error = failed_attempt(reading.error, error)
    if reading.counted_attempts >= settings.READ_MAX_ATTEMPTS:
        _fail(reading, gave_up(reading.error))
        return
    ours = Reading.objects.filter(pk=reading.pk, state=Reading.State.READING, attempts=reading.attempts)
    ours.update(
        state=Reading.State.PENDING,
        counted_attempts=reading.counted_attempts,
        error=reading.error,
        next_attempt_at=timezone.now() + timedelta(seconds=pause_s),
    )


def _record(reading: Reading, kind: str, details: Document) -> None:
    details |= {"reading": reading.pk, "attempts": reading.attempts}
    record_event(None, kind, ("submission", reading.evidence.submission.public_id), "", details)


QUEUED_AFRESH = {
    "state": Reading.State.PENDING,
    "counted_attempts": 0,
    "next_attempt_at": None,
    "error": None,
    "findings": [],
    "finished_at": None,
}


def retry_reading(submission: Submission, actor: AbstractBaseUser | None, details: dict[str, object]) -> bool:
    """Queue the submission's failed reading again and write the event. Return False if it has not failed."""
    with transaction.atomic():
        # The filter of the update decides: of two concurrent requests, only one finds the reading failed.
        failed = Reading.objects.filter(evidence=submission.log_id, state=Reading.State.FAILED)
        reading = failed.order_by("-created_at", "-pk").first()
        if reading is None or not failed.filter(pk=reading.pk).update(**QUEUED_AFRESH):
            return False
        error_id = reading.error["id"] if reading.error else ""
        what = {"reading": reading.pk, "error": error_id} | details
        record_event(actor, "reading-queued-again", ("submission", submission.public_id), "", what)
        notify_reader(reading.pk)
    return True


def notify_reader(reading_id: int) -> None:
    """Send the signal after the commit. Django logs exceptions of receivers; they undo nothing."""
    transaction.on_commit(partial(reading_pending.send_robust, sender=Reading, reading_id=reading_id))
