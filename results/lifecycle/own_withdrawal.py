"""The withdrawal of a submission by the organisation that sent it, and its return to review."""

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import QuerySet

from results.errors import ReviewRefusedError
from results.lifecycle import visibility
from results.lifecycle.visibility import SENDER_TRANSITIONS, TRANSITIONS
from results.models import Run, Submission, Visibility

WITHDRAWABLE = TRANSITIONS["withdraw"].before | SENDER_TRANSITIONS["retract"].before


def may_withdraw(submission: Submission) -> bool:
    """Return whether the submission has a run that its sender can withdraw."""
    return not submission.demo_run_id and submission.runs.filter(visibility__in=WITHDRAWABLE).exists()


def withdraw_own(submission: Submission, actor: AbstractBaseUser, reason: str, run_id: str = "") -> None:
    """Withdraw one run of a submission, or all. Public runs stay readable with the reason; others are retracted.

    Raises ReviewRefusedError without a reason, and without such a run.
    """
    with transaction.atomic():
        runs = _locked_runs(submission).filter(visibility__in=WITHDRAWABLE)
        chosen = list(runs.filter(public_id=run_id) if run_id else runs)
        if not chosen:
            raise ReviewRefusedError("The submission has no run that can be withdrawn.")
        for run in chosen:
            is_public = run.visibility in TRANSITIONS["withdraw"].before
            (visibility.withdraw if is_public else visibility.retract)(run, actor, reason)


def may_return(submission: Submission) -> bool:
    """Return whether the submission has a run that its sender can return to review."""
    return submission.runs.filter(visibility=Visibility.RETRACTED).exists()


def return_own(submission: Submission, actor: AbstractBaseUser) -> None:
    """Return the retracted runs of a submission to review. Raises ReviewRefusedError if there is none."""
    with transaction.atomic():
        runs = list(_locked_runs(submission).filter(visibility=Visibility.RETRACTED))
        if not runs:
            raise ReviewRefusedError("The submission has no run that its sender withdrew before it was public.")
        for run in runs:
            visibility.restore(run, actor)


def _locked_runs(submission: Submission) -> QuerySet[Run]:
    """Return the runs in the order of their locks, with the submission locked first."""
    Submission.objects.select_for_update().get(pk=submission.pk)
    return Run.objects.filter(submission=submission).order_by("pk")
