"""The queue of readings of submissions and drafts, each organisation in turn. A failed reading can be queued again.

The reading of a submission takes over the result of its draft, if the register has one for the same bytes, slices,
profile and reader. No log is then read twice.
"""

import json
import logging
import time
from collections.abc import Callable
from datetime import datetime
from functools import partial

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.dispatch import Signal

from results import locks
from results.errors import contained
from results.evidence.staging import remove_result, result_size_bytes, stored_result
from results.evidence.store import StoreUnavailableError, local_files
from results.history import record_event
from results.ingest.attempts import attempt, end_attempt, refuse_damage
from results.ingest.draft_readings import DraftJob, document_of_draft, result_key
from results.ingest.fair_share import ORGANISATIONS, in_turns, is_within_share
from results.ingest.rows import record_input, record_runs
from results.logs import tracing
from results.logs.context import bound
from results.models import DraftReading, Evidence, Profile, Reading, Submission
from results.reader import process as reader_process
from results.reader.process import Document, FormatError, ReaderBrokenError

# Sent after commit with `reading_id`. Only a notification: a receiver that fails or is missing delays a reading until
# the next sweep.
reading_pending = Signal()
# The same for a draft, with `draft_reading_id`.
draft_reading_pending = Signal()


logger = logging.getLogger(__name__)

SWEEP_S = 10  # a sweep that took longer leaves the rest to the next one: the same workers also poll the dispatches

TAKEN_OVER_AT_ONCE_BYTES = 256 * 1024  # compressed: its rows are written within the request that submits


def sweep() -> int:
    """Read the waiting logs, those of each organisation in turn, and return the number of started readings."""
    try:
        reader_process.reader_version()
    except ReaderBrokenError:
        logger.exception("readings wait: no reader")  # no reading starts, so no attempt is lost
        return 0
    started, taken = time.monotonic(), 0
    due = sorted([*_due(Reading, read_one), *_due(DraftReading, read_draft)], key=lambda each: each[0])
    for read, row_id in in_turns(((read, row_id), organisation_id) for _, organisation_id, read, row_id in due):
        if time.monotonic() - started > SWEEP_S:
            break
        with contained(logger, "%s %s: attempt failed; the next sweep tries again", read.__name__, row_id):
            taken += read(row_id)
    return taken


def _due(
    model: type[Reading | DraftReading], read: Callable[[int], bool]
) -> list[tuple[datetime, int, Callable[[int], bool], int]]:
    rows = model.objects.due().values_list("created_at", ORGANISATIONS[model], "pk")
    return [(at, organisation_id, read, pk) for at, organisation_id, pk in rows]


def read_one(reading_id: int) -> bool:
    """Attempt a reading once.

    Return False if it is finished or paused, if another worker has it, or if the share of its organisation is used up.
    """
    with locks.try_lock(locks.READING, reading_id) as is_ours:
        due = Reading.objects.due().select_related("evidence__submission__organisation")
        row = due.filter(pk=reading_id).first()
        if not is_ours or row is None or not is_within_share(row, row.evidence.organisation_id):
            return False
        with (
            bound(submission=row.evidence.submission.public_id, reading=row.pk),
            tracing.continued("reading", tracing.READING, row.pk),
        ):
            attempt(EvidenceJob(row))
    return True


def read_draft(draft_reading_id: int) -> bool:
    """Attempt the reading of a draft once, as read_one()."""
    with locks.try_lock(locks.DRAFT_READING, draft_reading_id) as is_ours:
        row = DraftReading.objects.due().select_related("draft").filter(pk=draft_reading_id).first()
        if not is_ours or row is None or not is_within_share(row, row.draft.organisation_id):
            return False
        with bound(draft_reading=row.pk), tracing.continued("reading of a draft", tracing.DRAFT_READING, row.pk):
            attempt(DraftJob(row))
    return True


def take_over(reading: Reading) -> bool:
    """Write the rows of a reading from the result of its draft. Return False if it is missing or large.

    The worker then does it, or reads the log.
    """
    try:
        size_bytes = result_size_bytes(_result_key(reading.evidence.submission, Profile.current()))
    except StoreUnavailableError:
        return False
    return size_bytes is not None and size_bytes <= TAKEN_OVER_AT_ONCE_BYTES and read_one(reading.pk)


class EvidenceJob:
    """The reading of a submitted log."""

    def __init__(self, row: Reading) -> None:
        self.row = row
        self.result_key = ""

    def read(self, profile: Profile) -> Document:
        """Return the result of the draft, or read the log."""
        self.result_key = _result_key(self.row.evidence.submission, profile)
        stored = stored_result(self.result_key)
        return document_of_draft(json.loads(stored)) if stored else read_evidence(self.row.evidence, profile)

    def finish(self, document: Document, profile: Profile) -> None:
        """Write all rows and the state in one transaction."""
        row = self.row
        with transaction.atomic():
            done = {"findings": document["findings"], "reader_version": document["reader"]["version"], "error": None}
            end_attempt(row, Reading.State.DONE, done | {"members": document["input"].get("members", [])})
            record_input(row.evidence, document)
            self._record("reading-done", {"runs": record_runs(row, document, profile)})

    def fail(self, error: Document, document: Document | None = None) -> None:
        """Write the error and the state in one transaction."""
        with transaction.atomic():
            end_attempt(self.row, Reading.State.FAILED, {"error": error})
            if document is not None:
                record_input(self.row.evidence, document)
            self._record("reading-failed", {"error": error["id"]})

    def _record(self, kind: str, details: Document) -> None:
        details |= {"reading": self.row.pk, "attempts": self.row.attempts}
        record_event(None, kind, ("submission", self.row.evidence.submission.public_id), "", details)
        transaction.on_commit(partial(remove_result, self.result_key))


def _result_key(submission: Submission, profile: Profile) -> str:
    files = [(each.evidence.sha256, each.filename) for each in submission.companions.select_related("evidence")]
    if submission.side_file is not None:
        files.append((submission.side_file.sha256, submission.side_file.filename))
    return result_key(submission.organisation_id, submission.log.sha256, files, submission.slice_length_s, profile)


def read_evidence(evidence: Evidence, profile: Profile, slice_length_s: int | None = None) -> Document:
    """Read a stored log in its submission's slices or in others; raises as process.read(), and EvidenceDamagedError."""
    slice_length_s = slice_length_s or evidence.submission.slice_length_s
    with local_files(evidence) as files:
        try:
            document = reader_process.read(files.log, slice_length_s, profile.document, files.companions)
        except FormatError as error:
            refuse_damage(files.log, evidence.sha256, error.document)
            raise
    refuse_damage(files.log, evidence.sha256, document)
    return document


def retry_reading(submission: Submission, actor: AbstractBaseUser | None, details: dict[str, object]) -> bool:
    """Queue the submission's failed reading again and write the event. Return False if it has not failed."""
    with transaction.atomic():
        # The filter of the update decides: of two concurrent requests, only one finds the reading failed.
        failed = Reading.objects.filter(evidence=submission.log_id, state=Reading.State.FAILED)
        reading = failed.order_by("-created_at", "-pk").first()
        if reading is None or not failed.filter(pk=reading.pk).update(**Reading.AFRESH, findings=[]):
            return False
        error_id = reading.error["id"] if reading.error else ""
        what = {"reading": reading.pk, "error": error_id} | details
        record_event(actor, "reading-queued-again", ("submission", submission.public_id), "", what)
        notify_reader(reading.pk)
    return True


def notify_reader(reading_id: int) -> None:
    """Send the signal after the commit. Django logs exceptions of receivers; they undo nothing."""
    tracing.store_trace(tracing.READING, reading_id)
    transaction.on_commit(partial(reading_pending.send_robust, sender=Reading, reading_id=reading_id))


def notify_draft_reader(draft_reading_id: int) -> None:
    """Send the signal for a draft, as notify_reader()."""
    tracing.store_trace(tracing.DRAFT_READING, draft_reading_id)
    send = partial(draft_reading_pending.send_robust, sender=DraftReading, draft_reading_id=draft_reading_id)
    transaction.on_commit(send)
