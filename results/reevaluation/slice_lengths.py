"""Change of a log's slice length by its sender, as long as none of its runs is past review."""

from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from results import locks
from results.errors import ReviewRefusedError
from results.history import record_event
from results.ingest.queue import read_evidence, retry_reading
from results.lifecycle.approvals import void_approvals
from results.models import Profile, Reading, Submission, Visibility, VoidReason
from results.models.row_operations import lock_log
from results.reevaluation.recompute import UNREADABLE, Order, rewrite_runs

CHANGED = "submission-slices-changed"
PUBLISHED = (
    "The slice length cannot change, because figures of this log were published, or were reviewed and wait for the end "
    "of an embargo."
)
UNFINISHED = "The log has not been read yet. Try again later."
UNREADABLE_IN_ANY = "The file could not be read, and this does not depend on the slice length. Nothing was changed."
# Errors that longer slices may avoid; results/reader/process.py gives their remedies.
DEPENDS_ON_SLICES = frozenset({"too-many-slices", "reading-too-large", "reader-gave-up"})
BUSY = "The log is being read now. Try again later."


def may_change_slices(submission: Submission) -> bool:
    """Return whether the slice length may change: no run of the submission is past review."""
    return not submission.runs.exclude(visibility=Visibility.UNREVIEWED).exists()


def depends_on_slices(error: dict[str, Any] | None) -> bool:
    """Return whether a log may be read in slices of another length; a file that is no log never is."""
    return error is None or error["id"] in DEPENDS_ON_SLICES


def read_in_slices(submission: Submission, slice_length_s: int, actor: AbstractBaseUser) -> None:
    """Read and judge a stored log in other slices; its runs keep their ids, and the earlier result stays readable.

    A log whose reading failed is queued again. Raises ReviewRefusedError, and changes nothing, if the slice length may
    not change or the log cannot be read with it.
    """
    reading = Reading.objects.filter(evidence=submission.log_id).order_by("-created_at", "-pk").first()
    if not may_change_slices(submission):
        raise ReviewRefusedError(PUBLISHED)
    if reading is None or reading.state in {Reading.State.PENDING, Reading.State.READING}:
        raise ReviewRefusedError(UNFINISHED)
    if reading.state == Reading.State.FAILED:
        if not depends_on_slices(reading.error):
            raise ReviewRefusedError(UNREADABLE_IN_ANY)
        with transaction.atomic():
            lock_log(submission)
            _change(submission, slice_length_s, actor)
            retry_reading(submission, actor, {"slice_length_s": slice_length_s})
        return
    with locks.try_lock(locks.RECOMPUTE, submission.pk) as is_ours:
        if not is_ours:
            raise ReviewRefusedError(BUSY)
        _read(submission, slice_length_s, actor)


def _read(submission: Submission, slice_length_s: int, actor: AbstractBaseUser) -> None:
    profile = Profile.current()
    try:
        document = read_evidence(submission.log, profile, slice_length_s)
        with transaction.atomic():
            lock_log(submission)
            if not may_change_slices(submission):
                raise ReviewRefusedError(PUBLISHED)
            reason = _change(submission, slice_length_s, actor)
            rewrite_runs(submission, document, profile, Order(reason, is_dry=False))
    except UNREADABLE as error:
        raise ReviewRefusedError(f"Nothing was changed: in slices of {slice_length_s} s {error}") from error


def _change(submission: Submission, slice_length_s: int, actor: AbstractBaseUser) -> str:
    """Store the new length with an event, and return the reason that the history shows."""
    before_s = submission.slice_length_s
    Submission.objects.filter(pk=submission.pk).update(slice_length_s=slice_length_s)
    for run in submission.runs.order_by("pk"):
        void_approvals(run, VoidReason.SLICES_CHANGED)
    reason = f"read in slices of {slice_length_s} s instead of {before_s} s"
    details = {"before": before_s, "after": slice_length_s}
    record_event(actor, CHANGED, ("submission", submission.public_id), reason, details)
    return reason
