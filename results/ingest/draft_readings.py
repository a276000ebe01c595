"""Readings of drafts: their results are stored for the submission, and partly shown as a preview."""

import hashlib
import json
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from typing import Any

from django.db import transaction

from results.evidence.staging import StagedBytesLostError, staged_file, store_result
from results.evidence.store import StoreFullError, StoreUnavailableError
from results.ingest.attempts import DraftFailureError, end_attempt, refuse_damage
from results.models import Draft, DraftFile, DraftReading, Profile
from results.reader import process as reader_process
from results.reader.process import Document, FormatError

PREVIEW_RUNS = 20  # an archive may hold 64 logs, and a file any number of runs
PREVIEW_SLICES = 1_000  # of each run


def result_key(
    organisation_id: int, log_sha256: str, companions: Iterable[tuple[str, str]], slice_length_s: int, profile: Profile
) -> str:
    """Return the name of the result of a draft: all that decides the result, and the organisation.

    Another organisation that sends the same bytes waits for its own reading, and learns nothing.
    """
    profile_sha256 = hashlib.sha256(profile.document.encode()).hexdigest()
    version = reader_process.reader_version()
    inputs = [organisation_id, log_sha256, sorted(companions), slice_length_s, profile_sha256, version]
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()


def document_of_draft(stored: dict[str, Any]) -> Document:
    """Return the document of the result of a draft. Raises DraftFailureError if the log could not be read."""
    if stored["error"] is not None:
        raise DraftFailureError(stored["error"], stored["document"])
    document: Document = stored["document"]
    return document


class DraftJob:
    """The reading of a draft."""

    def __init__(self, row: DraftReading) -> None:
        self.row = row

    def read(self, profile: Profile) -> Document:
        """Read the staged log with its companions, in the slices of the draft."""
        draft, files = self.row.draft, list(self.row.draft.files.all())
        log, companions = log_of(files), [each for each in files if each.role == DraftFile.Role.COMPANION]
        self.row.result_key = _key_of(draft, log, companions, profile)
        with ExitStack() as opened:
            path = opened.enter_context(staged_file(log.key))
            paths = [opened.enter_context(staged_file(each.key, each.filename)) for each in companions]
            try:
                document = reader_process.read(path, draft.slice_length_s, profile.document, paths)
            except FormatError as error:
                refuse_damage(path, log.sha256, error.document)
                raise
        refuse_damage(path, log.sha256, document)
        return document

    def finish(self, document: Document, profile: Profile) -> None:
        """Store the result, and what the preview shows."""
        self._end(DraftReading.State.DONE, document, None)

    def fail(self, error: Document, document: Document | None = None) -> None:
        """Store the error."""
        self._end(DraftReading.State.FAILED, document, error)

    def _end(self, state: str, document: Document | None, error: Document | None) -> None:
        if self.row.result_key:
            with suppress(StoreFullError, StoreUnavailableError):  # the submission then reads the log again
                store_result(self.row.result_key, json.dumps({"document": document, "error": error}).encode())
        preview = None if error is not None or document is None else preview_of(document)
        with transaction.atomic():
            columns = {"result_key": self.row.result_key, "document": preview, "error": error}
            end_attempt(self.row, state, columns)


def log_of(files: Iterable[DraftFile]) -> DraftFile:
    """Return the log of a draft. Raises StagedBytesLostError if its sender has removed it meanwhile."""
    log = next((each for each in files if each.role == DraftFile.Role.LOG), None)
    if log is None:
        raise StagedBytesLostError("expected a log among the files of the draft, got none")
    return log


def _key_of(draft: Draft, log: DraftFile, companions: Iterable[DraftFile], profile: Profile) -> str:
    files = [(each.sha256, each.filename) for each in companions]
    return result_key(draft.organisation_id, log.sha256, files, draft.slice_length_s, profile)


def preview_of(document: Document) -> Document:
    """Return a document without what no preview shows, so that a web process can hold it.

    The intervals are left out, and of a large result all but the first runs and slices.
    """
    runs = [_short_run(run, ordinal) for ordinal, run in enumerate(document["runs"])]
    return document | {"runs": runs}


def _short_run(run: Document, ordinal: int) -> Document:
    slices = run["slices"][:PREVIEW_SLICES] if ordinal < PREVIEW_RUNS else []
    return run | {"slices": slices, "slices_count": len(run["slices"]), "series": None}
