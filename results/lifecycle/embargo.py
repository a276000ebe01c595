"""The embargo of a submission: the minute before which none of its runs is public, who sets it, and its end.

Who asks for public runs never looks at the time: until the register itself discloses them, reviewed runs of such a
submission stand in a state of their own (Visibility.EMBARGOED), which no public query names. Where nothing runs that
could disclose them, they stay unseen.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from results.access.history import EMBARGO_CHANGED
from results.errors import ReviewRefusedError
from results.history import record_event
from results.lifecycle import visibility
from results.models import Run, Submission, Visibility

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser

log = logging.getLogger(__name__)
DAYS_MAX = 366
SHOWN_BEFORE = "It has been public: an embargo takes nothing back that everyone saw. Withdraw the run, with the reason."


class MomentError(ReviewRefusedError):
    """What was asked for is no moment to wait for: whoever asks has to state another one."""


def refuse_moment(until: datetime | None) -> None:
    """Raise MomentError where the end of an embargo that somebody asks for is none to wait for."""
    if until is not None and (complaint := complaint_about(until)):
        raise MomentError(complaint)


def complaint_about(until: datetime) -> str:
    """Return what is wrong with the end of an embargo that somebody asks for; "" where nothing is."""
    now = timezone.now()
    if until.second or until.microsecond:
        return "Expected a whole minute, such as 2027-01-31T09:00Z."
    if until <= now:
        return f"Expected a moment after now, {_said(now)}; got {_said(until)}."
    if until > now + timedelta(days=DAYS_MAX):
        return f"Expected at most {DAYS_MAX} days from now; got {_said(until)}."
    return ""


def change_embargo(submission: Submission, until: datetime | None, actor: AbstractBaseUser) -> None:
    """Let nothing of a submission be public before a minute, or with None at once what is reviewed already.

    Raises ReviewRefusedError where the moment is none to wait for, or a run of it has been public.
    """
    if move_end(submission, until, actor):
        disclose_due()


def move_end(submission: Submission, until: datetime | None, actor: AbstractBaseUser | None) -> bool:
    """Note another end of an embargo, and disclose nothing; False where it ends then already. Raises as above."""
    refuse_moment(until)
    with transaction.atomic():
        held = Submission.objects.select_for_update().get(pk=submission.pk)
        if not may_change_embargo(held):
            raise ReviewRefusedError(SHOWN_BEFORE)
        before = held.embargo_until
        if before == until:
            return False
        Submission.objects.filter(pk=held.pk).update(embargo_until=until)
        record_event(
            actor, EMBARGO_CHANGED, ("submission", held.public_id), "", {"before": _iso(before), "after": _iso(until)}
        )
    return True


def may_change_embargo(submission: Submission) -> bool:
    """Tell whether nothing of a submission was ever shown to everyone."""
    return not submission.runs.exclude(visibility__in=[Visibility.UNREVIEWED, Visibility.EMBARGOED]).exists()


def disclose_due() -> int:
    """Show everyone the reviewed runs whose embargo has ended; return how many. It may be asked at any time, twice.

    One that could not be published any more, since it was judged anew, goes back into review.
    """
    ended = Q(submission__embargo_until__lte=timezone.now()) | Q(submission__embargo_until=None)
    due = Run.objects.embargoed().filter(ended, submission__isnull=False).order_by("pk")
    return sum(_end_alone(run) for run in due.select_related("submission"))


def _end_alone(run: Run) -> bool:
    try:
        return _end(run)
    except Exception:  # one run that cannot be shown must not keep back all others, nor what purges withdrawn pages
        log.exception("run %s: its embargo has ended, and it could not be shown", run.public_id)
        return False


def _end(run: Run) -> bool:
    """Disclose one run; False where another process did, or somebody moved the moment in between."""
    with transaction.atomic():
        submission = Submission.objects.select_for_update(of=("self",)).get(runs=run)
        held = submission.runs.embargoed().filter(pk=run.pk).first()
        if held is None or visibility.embargo_of(held) is not None:
            return False
        try:
            visibility.disclose(held)
        except ReviewRefusedError as refusal:
            visibility.recall(held, None, str(refusal))
            return False
    return True


def _iso(moment: datetime | None) -> str:
    return moment.astimezone(UTC).isoformat() if moment else ""


def _said(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
