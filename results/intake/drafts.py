"""The end of a draft: it is submitted, deleted, or removed after its time."""

from dataclasses import replace
from functools import partial

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils import timezone

from results.evidence import staging
from results.evidence.staging import StagedBytes
from results.evidence.store import Stored
from results.ingest.queue import take_over
from results.intake.submissions import CompanionUpload, Receipt, SubmissionMetadata, accept_submission
from results.intake.uploads import DraftGoneError, complete, open_drafts, queue_reading
from results.models import Draft, DraftFile, DraftReading


class DraftUnreadError(Exception):
    """The draft has no result yet: its sender has to wait for it."""


def submit_draft(draft: Draft, facts: SubmissionMetadata, actor: AbstractBaseUser, origin: str) -> Receipt:
    """Submit the files of a draft in its slices; its bytes become evidence without a copy.

    A repeated request returns the submission of the first one. The result of the draft is taken over, so that the log
    is not read again. Raises DraftUnreadError, DraftGoneError, and what accept_submission() raises.
    """
    with transaction.atomic():
        locked = (
            Draft.objects.select_for_update(of=("self",)).select_related("organisation").filter(pk=draft.pk).first()
        )
        if locked is None:
            raise DraftGoneError(draft.public_id)
        if locked.submission is not None:
            return Receipt(locked.submission, is_new=False)
        reading = DraftReading.objects.filter(draft=locked).first()
        if reading is None or reading.state not in {DraftReading.State.DONE, DraftReading.State.FAILED}:
            raise DraftUnreadError(locked.public_id)
        receipt = _accept(locked, facts, actor, origin)
        Draft.objects.filter(pk=locked.pk).update(submission=receipt.submission)
        reading.delete()
        _remove_files(list(locked.files.all()))
    if receipt.is_new:
        take_over(receipt.submission.log.readings.select_related("evidence__submission").latest("pk"))
    return receipt


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
    """Remove the drafts whose time is over, and files that have no row; return the number of drafts.

    A submitted draft is a row that names its submission. It expires, too.
    """
    removed = 0
    for pk in Draft.objects.filter(expires_at__lte=timezone.now()).values_list("pk", flat=True):
        with transaction.atomic():
            locked = Draft.objects.select_for_update(of=("self",), skip_locked=True).filter(pk=pk).first()
            if locked is not None:
                _delete(locked)
                removed += 1
    _remove_leftovers()
    return removed


def _remove_leftovers() -> None:
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
