"""The files of a draft as a whole, and its end: it is submitted, deleted, or removed after its time."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from django.contrib.auth.models import AbstractBaseUser
from django.db import models, transaction
from django.utils import timezone

from results.evidence import staging
from results.evidence.staging import StagedBytes
from results.evidence.store import Stored
from results.ingest.queue import take_over
from results.ingest.several_drives import SeveralDrivesError, drives_of_document
from results.intake.submissions import CompanionUpload, Receipt, SubmissionMetadata, accept_submission
from results.intake.uploads import (
    DraftGoneError,
    UploadRefusedError,
    complete,
    open_drafts,
    queue_reading,
    refuse_role,
)
from results.models import Draft, DraftFile, DraftReading, Organisation, Submission

Role = DraftFile.Role


class DraftState(models.TextChoices):
    """The state of a draft, derived from its files, its reading and its submission; it is not stored."""

    ARRIVING = "arriving", "files are missing"
    READING = "reading", "the register reads the log"
    READ = "read", "the result is there"
    FAILED = "failed", "the log could not be read"
    SUBMITTED = "submitted", "submitted"


class DraftUnreadError(Exception):
    """The draft has no result yet: its sender has to wait for it."""


def state_of(draft: Draft, files: Sequence[DraftFile], reading: DraftReading | None) -> DraftState:
    """Return the state of a draft with its files and its reading."""
    if draft.submission_id is not None:
        return DraftState.SUBMITTED
    if not any(file.role == Role.LOG for file in files) or not all(file.is_complete for file in files):
        return DraftState.ARRIVING
    ended = {DraftReading.State.DONE: DraftState.READ, DraftReading.State.FAILED: DraftState.FAILED}
    return ended.get(DraftReading.State(reading.state), DraftState.READING) if reading else DraftState.READING


def gather_files(organisation: Organisation, keys: Sequence[str]) -> Draft:
    """Move files that were uploaded one by one into the draft of the first one, which is the log; return that draft.

    The drafts that the files leave are deleted. A repeated request moves nothing. Raises DraftGoneError if a file is
    not in an open draft of the organisation, and UploadRefusedError if a draft would keep other files, or if the files
    do not fit into one draft.
    """
    with transaction.atomic():
        named = DraftFile.objects.filter(key__in=keys)
        # By rising key, so that two requests with the same files wait instead of causing a deadlock.
        drafts = open_drafts(organisation).filter(pk__in=named.values("draft")).order_by("pk")
        locked = {draft.pk: draft for draft in drafts.select_for_update(of=("self",)).select_related("organisation")}
        files = {file.key: file for file in named.filter(draft__in=locked)}
        for key in keys:
            if key not in files:
                raise DraftGoneError(key)
        target = locked.pop(files[keys[0]].draft_id)
        _refuse_others(list(locked), keys)
        moved = [files[key] for key in dict.fromkeys(keys) if files[key].draft_id != target.pk]
        if _gather(target, files[keys[0]], moved):
            for draft in locked.values():
                _remove_result(draft)
                draft.delete()
            _remove_result(target)
            DraftReading.objects.filter(draft=target).delete()
            complete(target)
    return target


def _refuse_others(drafts: list[int], keys: Sequence[str]) -> None:
    other = DraftFile.objects.filter(draft__in=drafts).exclude(key__in=keys).select_related("draft").first()
    if other is not None:
        raise UploadRefusedError(
            f"The draft {other.draft.public_id} also has the file {other.filename}. Name all files of a draft, or none."
        )


def _gather(target: Draft, log: DraftFile, moved: Sequence[DraftFile]) -> bool:
    """Give the files their draft and their roles, and return whether anything changed."""
    is_log = log.role == Role.LOG
    if is_log and not moved:
        return False
    roles = list(target.files.exclude(pk=log.pk).values_list("role", flat=True))
    for file, role in [(log, Role.LOG), *((file, Role.COMPANION) for file in moved)]:
        refuse_role(roles, role, file.size_bytes)
        roles.append(role)
    DraftFile.objects.filter(pk__in=[file.pk for file in moved]).update(draft=target, role=Role.COMPANION)
    DraftFile.objects.filter(pk=log.pk).update(role=Role.LOG)
    return True


def submit_draft(draft: Draft, facts: SubmissionMetadata, actor: AbstractBaseUser, origin: str) -> Receipt:
    """Submit the files of a draft in its slices; its bytes become evidence without a copy.

    A repeated request returns the submission of the first one. The result of the draft is taken over, so that the log
    is not read again. Raises DraftUnreadError, DraftGoneError, SeveralDrivesError if the side files of an archive name
    several drives, and what accept_submission() raises.
    """
    with transaction.atomic():
        locked = lock_draft(draft)
        if locked.submission is not None:
            return Receipt(locked.submission, is_new=False)
        reading = reading_of(locked)
        if reading.document and (drives := drives_of_document(reading.document)):
            raise SeveralDrivesError(drives)
        receipt = _accept(locked, facts, actor, origin)
        end_draft(locked, reading, receipt.submission)
    if receipt.is_new:
        take_over(receipt.submission.log.readings.select_related("evidence__submission").latest("pk"))
    return receipt


def lock_draft(draft: Draft) -> Draft:
    """Lock a draft, submitted or not, until the transaction ends. Raises DraftGoneError.

    Its submission is not joined: after waiting for the lock, PostgreSQL joins the rows of the older snapshot, in which
    another request had not submitted the draft yet.
    """
    drafts = Draft.objects.select_for_update(of=("self",)).select_related("organisation")
    locked = drafts.filter(pk=draft.pk).first()
    if locked is None:
        raise DraftGoneError(draft.public_id)
    return locked


def reading_of(draft: Draft) -> DraftReading:
    """Return the ended reading of a draft. Raises DraftUnreadError without one."""
    reading = DraftReading.objects.filter(draft=draft).first()
    state = state_of(draft, list(draft.files.all()), reading)
    if reading is None or state not in {DraftState.READ, DraftState.FAILED}:
        raise DraftUnreadError(draft.public_id)
    return reading


def end_draft(locked: Draft, reading: DraftReading, submission: Submission) -> None:
    """Store the submission that a draft became, and remove its reading and files."""
    Draft.objects.filter(pk=locked.pk).update(submission=submission)
    reading.delete()
    _remove_files(list(locked.files.all()))


def _accept(draft: Draft, facts: SubmissionMetadata, actor: AbstractBaseUser, origin: str) -> Receipt:
    files = list(draft.files.all())
    log = next(file for file in files if file.role == DraftFile.Role.LOG)
    companions = [CompanionUpload(_staged(file), file.filename) for file in files if file.pk != log.pk]
    in_slices = replace(facts, slice_length_s=draft.slice_length_s)
    return accept_submission(
        draft.organisation, _staged(log), log.filename, in_slices, origin, actor, companions=companions
    )


def _staged(file: DraftFile) -> StagedBytes:
    return StagedBytes(file.key, Stored(file.sha256, file.size_bytes))


def change_draft_slices(draft: Draft, slice_length_s: int) -> None:
    """Read a draft again in slices of another length."""
    with transaction.atomic():
        locked = open_drafts().select_for_update(of=("self",)).filter(pk=draft.pk).first()
        if locked is None:
            raise DraftGoneError(draft.public_id)
        if locked.slice_length_s == slice_length_s:
            return
        locked.slice_length_s = slice_length_s
        locked.save(update_fields=["slice_length_s"])
        if DraftReading.objects.filter(draft=locked).exists():
            _remove_result(locked)
            queue_reading(locked)


def delete_draft(draft: Draft) -> None:
    """Delete a draft that is not submitted, with its files and its result."""
    with transaction.atomic():
        locked = Draft.objects.select_for_update(of=("self",)).filter(pk=draft.pk, submission=None).first()
        if locked is None:
            raise DraftGoneError(draft.public_id)
        _delete(locked)


def remove_file(file: DraftFile) -> None:
    """Remove one file of a draft. The draft is then read without it, and deleted without any file."""
    with transaction.atomic():
        draft = open_drafts().select_for_update(of=("self",)).filter(pk=file.draft_id).first()
        if draft is None:
            raise DraftGoneError(file.key)
        _remove_files([file])
        _remove_result(draft)
        DraftReading.objects.filter(draft=draft).delete()
        if draft.files.exists():
            complete(draft)
        else:
            draft.delete()


def remove_expired() -> int:
    """Remove the drafts whose time is over, and return their number.

    A submitted draft is a row that names its submission. It expires, too.
    """
    removed = 0
    for pk in Draft.objects.filter(expires_at__lte=timezone.now()).values_list("pk", flat=True):
        with transaction.atomic():
            locked = Draft.objects.select_for_update(of=("self",), skip_locked=True).filter(pk=pk).first()
            if locked is not None:
                _delete(locked)
                removed += 1
    return removed


def remove_leftovers() -> None:
    """Remove files that have no row, and what interrupted copies left, after a day. Evidence is never removed."""
    staging.remove_abandoned()
    files, results = staging.leftovers()
    for key in set(files) - set(DraftFile.objects.filter(key__in=files).values_list("key", flat=True)):
        staging.remove(key)
    for key in set(results) - set(
        DraftReading.objects.filter(result_key__in=results).values_list("result_key", flat=True)
    ):
        staging.remove_result(key)


def _delete(locked: Draft) -> None:
    _remove_files(list(locked.files.all()))
    _remove_result(locked)
    locked.delete()


def _remove_files(files: list[DraftFile]) -> None:
    """Delete the rows, and the bytes after the commit; a crash in between leaves files without a row."""
    DraftFile.objects.filter(pk__in=[file.pk for file in files]).delete()
    for file in files:
        transaction.on_commit(partial(staging.remove, file.key))


def _remove_result(draft: Draft) -> None:
    key = DraftReading.objects.filter(draft=draft).values_list("result_key", flat=True).first()
    if key:
        transaction.on_commit(partial(staging.remove_result, key))
