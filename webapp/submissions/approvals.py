"""Approvals: given with the warnings that a reviewer accepts, and as the pages of a reviewer show them."""

from collections.abc import Collection, Sequence
from typing import Any

from results.errors import ReviewRefusedError
from results.lifecycle import review
from results.lifecycle.approvals import is_barred, open_approvals, progress_of
from results.models import Approval, ApprovedStep, Run, Submission, Visibility
from webapp.accounts.models import User
from webapp.submissions.review_warnings import review_warnings


class UntickedError(ReviewRefusedError):
    """Warnings that the reviewer did not accept, each in a sentence."""

    def __init__(self, sentences: list[str]) -> None:
        message = f"Not published. Tick each warning to publish despite it: {' '.join(sentences)}"
        super().__init__(message, "warnings-not-accepted")
        self.sentences = sentences


def approve(submission: Submission, reviewer: User, accepted: Collection[str]) -> bool:
    """Approve a submission, and return whether it is published or reviewed under embargo now.

    `accepted` has the warnings that the reviewer accepts. Raises UntickedError if one is missing, and what
    results.lifecycle.review.publish() raises.
    """
    runs = submission.runs.select_related("reading__evidence").prefetch_related("findings")
    warnings = review_warnings(submission, runs)
    missing = unaccepted(warnings, accepted)
    if missing and submission.submitted_by_id != reviewer.pk and not submission.is_virtual:
        raise UntickedError(missing)
    return review.publish(submission, reviewer, warnings)


def unaccepted(warnings: Sequence[str], accepted: Collection[str]) -> list[str]:
    """Return the warnings that a reviewer has not accepted."""
    return [sentence for sentence in warnings if sentence not in accepted]


def approvals_part(submission: Submission, runs: Sequence[Run], user: User) -> dict[str, Any] | None:
    """Return the approvals of the runs that wait for publication; None without such a run.

    All waiting runs of a submission are approved together, so the run with the fewest approvals counts.
    """
    waiting = [run for run in runs if run.visibility == Visibility.UNREVIEWED]
    if not waiting or submission.demo_run_id:
        return None
    progress = min((progress_of(run, ApprovedStep.PUBLISH) for run in waiting), key=lambda each: each.given)
    given = [approval for run in waiting for approval in open_approvals(run, ApprovedStep.PUBLISH)]
    return {
        "progress": progress,
        "is_last": progress.given + 1 >= progress.needed,
        "reviewers": sorted({approval.reviewer.get_username() for approval in given}),
        "is_given": any(approval.reviewer_id == user.pk for approval in given),
        "is_barred": any(is_barred(run, user) for run in waiting),
    }


def step_approvals(run: Run) -> list[Approval]:
    """Return the open approvals of a run's steps other than its publication, for the page of its review."""
    others = [step for step in ApprovedStep if step not in {ApprovedStep.PUBLISH, ApprovedStep.EMBARGO}]
    rows = run.approvals.filter(step__in=others, carried_out_at__isnull=True, voided_at__isnull=True)
    return list(rows.select_related("reviewer", "successor"))
