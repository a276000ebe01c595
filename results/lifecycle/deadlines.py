"""Deadlines of submissions: the next step, who must act, until when, and what happens when the limit passes.

`Rule` also decides when a reminder about an objection or a takedown is due (`objections`, `takedowns`). The sweep
stores the step of each submission that has not ended. It records one event two days before a limit of a person, and
one for each limit that passes. An unanswered question ends the submission as declined; the other steps become overdue,
and stay possible.
"""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from django.db import transaction
from django.db.models import Max, Q
from django.utils import timezone

from results.errors import contained
from results.history import record_event
from results.lifecycle.approvals import void_approvals
from results.lifecycle.questions import open_question
from results.lifecycle.submission_states import DECLINED_KIND, StatedSubmission, SubmissionState, in_states
from results.models import Deadline, Event, Question, Run, Submission, Visibility, VoidReason, WaitingStep

log = logging.getLogger(__name__)
NEAR_KIND, OVERDUE_KIND = "submission-deadline-near", "submission-overdue"
NEAR = timedelta(days=2)  # half of the limit, if the limit is shorter than four days
NO_ANSWER = "The question of the reviewer was not answered in time."


class Party(StrEnum):
    """Who must act."""

    REGISTER = "register"
    REVIEWER = "reviewer"
    SUBMITTER = "submitter"
    OPERATOR = "operator"


@dataclass(frozen=True)
class Rule:
    """The limit of a step or state, who must act, and the state to which it moves when the limit passes."""

    limit: timedelta
    party: Party
    then: str

    @property
    def reminder_lead(self) -> timedelta:
        """Return how long before the deadline the person who must act is reminded of it."""
        return min(NEAR, self.limit / 2)

    def is_near(self, due_at: datetime, reminded_at: datetime | None) -> bool:
        """Return whether a person is to be reminded of a deadline now. Each deadline has one reminder.

        The register itself needs none.
        """
        is_soon = timezone.now() < due_at <= timezone.now() + self.reminder_lead
        return is_soon and reminded_at is None and self.party is not Party.REGISTER


RULES = {
    WaitingStep.READING: Rule(timedelta(days=1), Party.REGISTER, "reading-overdue"),
    WaitingStep.IDENTITY: Rule(timedelta(days=7), Party.REVIEWER, "identity-overdue"),
    WaitingStep.REVIEW: Rule(timedelta(days=14), Party.REVIEWER, "review-overdue"),
    WaitingStep.ANSWER: Rule(timedelta(days=14), Party.SUBMITTER, "declined"),
    WaitingStep.EMBARGO_END: Rule(timedelta(days=1), Party.REGISTER, "embargo-overdue"),
}
STEPS = {
    SubmissionState.RECEIVED: WaitingStep.READING,
    SubmissionState.READING: WaitingStep.READING,
    SubmissionState.AWAITING_IDENTITY: WaitingStep.IDENTITY,
    SubmissionState.IN_REVIEW: WaitingStep.REVIEW,
    SubmissionState.EMBARGOED: WaitingStep.EMBARGO_END,
}


def step_of(submission: StatedSubmission) -> WaitingStep | None:
    """Return the next step of a submission; None if it has ended."""
    step = STEPS.get(SubmissionState(submission.state))
    if step in {WaitingStep.IDENTITY, WaitingStep.REVIEW} and open_question(submission) is not None:
        return WaitingStep.ANSWER
    return step


def deadline_of(submission: StatedSubmission) -> Deadline | None:
    """Return the deadline of a submission, stored or not yet; None if it has ended."""
    step = step_of(submission)
    if step is None:
        return None
    return _deadline(submission, step, Deadline.objects.filter(submission=submission.pk).first())


def listed_deadline(submission: StatedSubmission, *, has_question: bool) -> Deadline | None:
    """Return the same for a row of a list that was fetched with its stored deadline, mostly without a query."""
    step = STEPS.get(SubmissionState(submission.state))
    if step is None:
        return None
    return _deadline(submission, WaitingStep.ANSWER if has_question else step, getattr(submission, "deadline", None))


def _deadline(submission: StatedSubmission, step: WaitingStep, stored: Deadline | None) -> Deadline:
    if stored is not None and stored.step == step and not _is_moved(stored, submission):
        return stored
    since = _changed_at(submission) if stored else submission.received_at
    return Deadline(submission=submission, step=step, since=since, due_at=_due_at(step, since, submission))


def _changed_at(submission: Submission) -> datetime:
    """Return when the newest change of a submission or its runs was recorded: the step after it began then.

    Pages show the deadline of the new step before the sweep stores it, and the moment does not differ afterwards.
    """
    runs = Run.objects.filter(submission=submission.pk).values("public_id")
    about = Q(subject_type="submission", subject_id=submission.public_id) | Q(subject_type="run", subject_id__in=runs)
    events = Event.objects.filter(about).exclude(kind__in=[NEAR_KIND, OVERDUE_KIND])
    newest: datetime | None = events.aggregate(at=Max("at"))["at"]
    return newest or submission.received_at


def sweep_deadlines() -> int:
    """Store the steps that submissions wait for, and handle limits that passed; return their number.

    Repeated calls do no harm: each limit is handled once, also by two workers at the same time.
    """
    waiting = in_states(Submission.objects.all(), STEPS).order_by("pk")
    Deadline.objects.exclude(submission__in=waiting.values("pk")).delete()
    passed = 0
    for submission in waiting.select_related("organisation"):
        with contained(log, "submission %s: its deadline could not be handled", submission.public_id):
            passed += _handle(submission)
    return passed


def _handle(submission: StatedSubmission) -> bool:
    """Store the step, and announce its deadline or record that it passed. Return whether it passed now."""
    known = deadline_of(submission)
    if known is None or not _is_due(known):
        return False
    with transaction.atomic():
        Submission.objects.select_for_update().get(pk=submission.pk)
        current = deadline_of(submission)
        if current is None or not _is_due(current):  # another worker was faster
            return False
        if current._state.adding:
            columns = {"step": current.step, "since": current.since, "due_at": current.due_at}
            current, _ = Deadline.objects.update_or_create(
                submission=submission, defaults=columns | {"near_at": None, "overdue_at": None}
            )
        if _is_passed(current):
            _pass(current, submission)
            return True
        if _is_near(current):
            Deadline.objects.filter(pk=current.pk).update(near_at=timezone.now())
            _record(NEAR_KIND, current, submission, {"deadline": current.due_at.isoformat()})
    return False


def _is_due(deadline: Deadline) -> bool:
    """Return whether the sweep has something to do, so that most submissions are neither locked nor written."""
    return deadline._state.adding or _is_passed(deadline) or _is_near(deadline)


def _is_passed(deadline: Deadline) -> bool:
    return deadline.overdue_at is None and deadline.due_at <= timezone.now()


def _is_near(deadline: Deadline) -> bool:
    return RULES[WaitingStep(deadline.step)].is_near(deadline.due_at, deadline.near_at)


def _pass(deadline: Deadline, submission: StatedSubmission) -> None:
    now = timezone.now()
    Deadline.objects.filter(pk=deadline.pk).update(overdue_at=now)
    _record(OVERDUE_KIND, deadline, submission, {"then": RULES[WaitingStep(deadline.step)].then})
    if deadline.step == WaitingStep.ANSWER:
        Question.objects.filter(submission=submission.pk, answered_at=None, lapsed_at=None).update(lapsed_at=now)
        for run in submission.runs.filter(visibility=Visibility.UNREVIEWED):
            void_approvals(run, VoidReason.DECLINED)
        subject = ("submission", submission.public_id)
        record_event(None, DECLINED_KIND, subject, NO_ANSWER, {"code": "no-answer"})


def _record(kind: str, deadline: Deadline, submission: StatedSubmission, details: dict[str, str]) -> None:
    step = WaitingStep(deadline.step)
    stated = {"step": step.value, "party": RULES[step].party.value} | details
    record_event(None, kind, ("submission", submission.public_id), "", stated)


def _due_at(step: WaitingStep, since: datetime, submission: Submission) -> datetime:
    """Return the end of a limit. That of an embargo counts from the end of the embargo."""
    begin = submission.embargo_until if step is WaitingStep.EMBARGO_END and submission.embargo_until else since
    return begin + RULES[step].limit


def _is_moved(stored: Deadline, submission: Submission) -> bool:
    """Return whether the end of an embargo was changed after its deadline was stored."""
    step = WaitingStep(stored.step)
    return step is WaitingStep.EMBARGO_END and stored.due_at != _due_at(step, stored.since, submission)
