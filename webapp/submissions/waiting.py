"""What a submission waits for, in words: the next step, who must act, and the deadline; questions and answers."""

from collections.abc import Iterable
from typing import Any

from django.utils import timezone

from results.lifecycle.deadlines import RULES, Party, deadline_of, listed_deadline
from results.lifecycle.review_claims import claims_of, free_for
from results.lifecycle.review_queue import Missing, next_of
from results.lifecycle.submission_states import REVIEWABLE, StatedSubmission, in_states
from results.models import Submission, WaitingStep
from webapp.accounts.models import User
from webapp.submissions.listing import verdict_words

STEP_WORDS = {
    WaitingStep.READING: "the register reads the log",
    WaitingStep.IDENTITY: "a reviewer assigns a product",
    WaitingStep.REVIEW: "reviewers approve or decline the submission",
    WaitingStep.ANSWER: "its organisation answers the question of a reviewer",
    WaitingStep.EMBARGO_END: "the register publishes the runs when the embargo ends",
}
PARTY_WORDS = {
    Party.REGISTER: "the register",
    Party.REVIEWER: "a reviewer",
    Party.SUBMITTER: "the organisation that submitted the log",
    Party.OPERATOR: "an operator",
}
THEN_WORDS = {
    "reading-overdue": "the reading is overdue",
    "identity-overdue": "the product is overdue",
    "review-overdue": "the review is overdue",
    "declined": "the submission is declined",
    "embargo-overdue": "the publication is overdue",
}


def waiting_part(submission: StatedSubmission) -> dict[str, Any] | None:
    """Return the next step of a submission with its deadline; None if the submission has ended."""
    deadline = deadline_of(submission)
    if deadline is None:
        return None
    step = WaitingStep(deadline.step)
    rule = RULES[step]
    return {
        "step": STEP_WORDS[step],
        "party": PARTY_WORDS[rule.party],
        "due_at": deadline.due_at,
        "then": THEN_WORDS[rule.then],
        "is_overdue": deadline.due_at <= timezone.now(),
    }


def queue_rows(submissions: Iterable[StatedSubmission]) -> list[dict[str, Any]]:
    """Return the rows of the review queue: verdict, what is missing, who has claimed it, and whether it is overdue."""
    now, shown = timezone.now(), list(submissions)
    verdicts, claims = verdict_words(shown), claims_of([each.pk for each in shown])
    deadlines = {
        each.pk: listed_deadline(each, has_question=each.missing == Missing.ANSWER)  # type: ignore[attr-defined]
        for each in shown
    }
    return [
        {
            "submission": submission,
            "verdict": verdicts.get(submission.pk, ""),
            "claim": claims.get(submission.pk),
            "missing": Missing(submission.missing).label,  # type: ignore[attr-defined]
            "approvals": submission.approvals_given or 0,  # type: ignore[attr-defined]
            "age": now - submission.received_at,
            "due_at": deadline.due_at if (deadline := deadlines[submission.pk]) else None,
            "is_overdue": deadline is not None and deadline.due_at <= now,
        }
        for submission in shown
    ]


def next_in_queue(submission: StatedSubmission, reviewer: User) -> StatedSubmission | None:
    """Return the submission that a reviewer opens after this one: none that is approved by them, or another's."""
    queue = in_states(Submission.objects.all(), REVIEWABLE)
    return next_of(free_for(queue, reviewer), submission)
