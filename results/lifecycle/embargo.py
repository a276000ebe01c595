"""The embargo of a submission: the minute before which none of its runs is public, who sets it, and its end.

Queries for public runs never compare times. Reviewed runs under embargo have a state of their own
(Visibility.EMBARGOED), which no public query names, until the register discloses them. While no worker runs, they stay
hidden.
"""

import logging
from datetime import UTC, datetime, timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from results.errors import ReviewRefusedError, contained
from results.history import EMBARGO_CHANGED, record_event
from results.lifecycle import visibility
from results.models import Run, Submission, Visibility

log = logging.getLogger(__name__)
DAYS_MAX = 366
SHOWN_BEFORE = (
    "A run of the submission was public, so an embargo cannot hide it again. Withdraw the run, with the reason."
)
NOT_LATER = (
    "A reviewer can only set an embargo or let it end later. Only the organisation that submitted the log shortens or "
    "ends it."
)


class MomentError(ReviewRefusedError):
    """The requested end of an embargo is not valid; the sender has to state another one."""


def refuse_moment(until: datetime | None) -> None:
    """Raise MomentError if the requested end of an embargo is not valid."""
    if until is not None and (complaint := complaint_about(until)):
        raise MomentError(complaint)


def complaint_about(until: datetime) -> str:
    """Return what is wrong with the requested end of an embargo; "" if it is valid."""
    now = timezone.now()
    if until.second or until.microsecond:
        return "Expected a whole minute, such as 2027-01-31T09:00Z."
    if until <= now:
        return f"Expected a moment after now, {_text_of(now)}; got {_text_of(until)}."
    if until > now + timedelta(days=DAYS_MAX):
        return f"Expected at most {DAYS_MAX} days from now; got {_text_of(until)}."
    return ""


def change_embargo(submission: Submission, until: datetime | None, actor: AbstractBaseUser) -> None:
    """Set the end of a submission's embargo. None ends the embargo: reviewed runs become public at once.

    Raises ReviewRefusedError if the end is not valid, or if a run of the submission has been public.
    """
    if move_end(submission, until, actor):
        disclose_due()


def lengthen_embargo(submission: Submission, until: datetime | None, reviewer: AbstractBaseUser, reason: str) -> None:
    """Set an embargo, or end it later, as a reviewer. The organisation reads the reason.

    Raises ReviewRefusedError as change_embargo does, and for an end that is not later: a reviewer makes no result
    public sooner than its sender chose.
    """
    if not reason.strip():
        raise ReviewRefusedError("Enter a reason. The organisation reads it.")
    with transaction.atomic():
        before = Submission.objects.select_for_update().get(pk=submission.pk).embargo_until
        if until is None or (before is not None and until <= before):
            raise ReviewRefusedError(NOT_LATER + (f" It ends at {_text_of(before)}." if before else ""))
        move_end(submission, until, reviewer, reason.strip())


def move_end(submission: Submission, until: datetime | None, actor: AbstractBaseUser | None, reason: str = "") -> bool:
    """Store the end of an embargo without disclosing runs. Return False if it is unchanged. Raises as above."""
    refuse_moment(until)
    with transaction.atomic():
        locked = Submission.objects.select_for_update().get(pk=submission.pk)
        if not may_change_embargo(locked):
            raise ReviewRefusedError(SHOWN_BEFORE)
        before = locked.embargo_until
        if before == until:
            return False
        Submission.objects.filter(pk=locked.pk).update(embargo_until=until)
        details = {"before": _iso(before), "after": _iso(until)}
        record_event(actor, EMBARGO_CHANGED, ("submission", locked.public_id), reason, details)
    return True


def may_change_embargo(submission: Submission) -> bool:
    """Return whether nothing of a submission was ever shown to everyone."""
    return not submission.runs.exclude(visibility__in=[Visibility.UNREVIEWED, Visibility.EMBARGOED]).exists()


def disclose_due() -> int:
    """Publish the reviewed runs whose embargo has ended, and return their number. Repeated calls do no harm.

    A run that can no longer be published after a re-evaluation goes back into review.
    """
    ended = Q(submission__embargo_until__lte=timezone.now()) | Q(submission__embargo_until=None)
    due = Run.objects.embargoed().filter(ended, submission__isnull=False).order_by("pk")
    disclosed = 0
    for run in due.select_related("submission"):
        # One run that cannot be shown must not delay the others, nor the purge of withdrawn pages.
        with contained(log, "run %s: its embargo has ended, and it could not be shown", run.public_id):
            disclosed += _end(run)
    return disclosed


def _end(run: Run) -> bool:
    """Disclose one run; False if another process did, or the embargo was changed meanwhile."""
    with transaction.atomic():
        submission = Submission.objects.select_for_update(of=("self",)).get(runs=run)
        locked = submission.runs.embargoed().filter(pk=run.pk).first()
        if locked is None or visibility.embargo_of(locked) is not None:
            return False
        try:
            visibility.disclose(locked)
        except ReviewRefusedError as refusal:
            visibility.recall(locked, None, str(refusal))
            return False
    return True


def _iso(moment: datetime | None) -> str:
    return moment.astimezone(UTC).isoformat() if moment else ""


def _text_of(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
