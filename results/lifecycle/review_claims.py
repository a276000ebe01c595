"""Claims: which reviewer works on a submission, for a day at most."""

from datetime import datetime, timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from results.errors import ReviewRefusedError
from results.lifecycle.submission_states import REVIEWABLE, StatedSubmission, with_state
from results.models import Approval, ReviewClaim, Submission

LONGEST = timedelta(days=1)


def claim(submission: Submission, reviewer: AbstractBaseUser) -> None:
    """Mark a submission as the reviewer's. Raises ReviewRefusedError if another reviewer has it."""
    with transaction.atomic():
        locked = Submission.objects.select_for_update().get(pk=submission.pk)
        if with_state(Submission.objects.filter(pk=locked.pk)).get().state not in REVIEWABLE:
            raise ReviewRefusedError(f"{locked.public_id} does not wait for a reviewer.")
        current = claim_of(locked)
        if current is not None and current.reviewer_id != reviewer.pk:
            name = current.reviewer.get_username()
            raise ReviewRefusedError(f"{name} works on {locked.public_id} since {current.claimed_at:%H:%M} UTC.")
        defaults = {"reviewer_id": reviewer.pk, "claimed_at": timezone.now()}
        ReviewClaim.objects.update_or_create(submission=locked, defaults=defaults)


def release(submission: Submission, reviewer: AbstractBaseUser) -> bool:
    """End the reviewer's own claim of a submission. Return False without one."""
    deleted, _ = ReviewClaim.objects.filter(submission=submission, reviewer=reviewer.pk).delete()
    return bool(deleted)


def claim_of(submission: Submission) -> ReviewClaim | None:
    """Return the claim of a submission; None if there is none, or if its time is over."""
    return _current().select_related("reviewer").filter(submission=submission).first()


def claims_of(submissions: list[int]) -> dict[int, ReviewClaim]:
    """Return the current claims of submissions, by the keys of these."""
    claims = _current().select_related("reviewer").filter(submission__in=submissions)
    return {claim.submission_id: claim for claim in claims}


def claimed_by(queue: QuerySet[StatedSubmission], reviewer: AbstractBaseUser) -> QuerySet[StatedSubmission]:
    """Return the submissions that the reviewer has claimed."""
    return queue.filter(Exists(_current().filter(submission=OuterRef("pk"), reviewer=reviewer.pk)))


def free_for(queue: QuerySet[StatedSubmission], reviewer: AbstractBaseUser) -> QuerySet[StatedSubmission]:
    """Return the submissions that no other reviewer has claimed, and that this one has not approved or sent."""
    others = _current().filter(submission=OuterRef("pk")).exclude(reviewer=reviewer.pk)
    own = Approval.objects.filter(run__submission=OuterRef("pk"), reviewer=reviewer.pk, voided_at=None)
    free = queue.filter(~Exists(others), ~Exists(own.filter(carried_out_at=None)))
    return free.exclude(submitted_by=reviewer.pk)


def remove_old_claims() -> None:
    """Delete the claims whose time is over."""
    ReviewClaim.objects.filter(claimed_at__lte=_oldest()).delete()


def _current() -> QuerySet[ReviewClaim]:
    return ReviewClaim.objects.filter(claimed_at__gt=_oldest())


def _oldest() -> datetime:
    return timezone.now() - LONGEST
