"""Questions of reviewers about a submission, and the answers of its organisation. Neither is public."""

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils import timezone

from results.errors import ReviewRefusedError
from results.history import record_event
from results.lifecycle.submission_states import REVIEWABLE, with_state
from results.models import Question, Submission

ASKED_KIND, ANSWERED_KIND = "submission-question-asked", "submission-question-answered"


def ask(submission: Submission, reviewer: AbstractBaseUser, text: str) -> Question:
    """Ask the organisation of a submission under review. Raises ReviewRefusedError while a question is open."""
    if not text.strip():
        raise ReviewRefusedError("Enter the text of the question.", "empty-text")
    with transaction.atomic():
        locked = Submission.objects.select_for_update().get(pk=submission.pk)
        state = with_state(Submission.objects.filter(pk=locked.pk)).get().state
        if state not in REVIEWABLE:
            raise ReviewRefusedError(
                f"The submission is {state}. Only about one under review can a question be asked.", "not-under-review"
            )
        if open_question(locked) is not None:
            raise ReviewRefusedError(
                "A question about this submission waits for its answer. Ask again after it.", "question-open"
            )
        question = Question.objects.create(submission=locked, asked_by_id=reviewer.pk, text=text.strip())
        _record(reviewer, ASKED_KIND, question)
    return question


def answer(submission: Submission, user: AbstractBaseUser, text: str) -> None:
    """Answer the open question about a submission. Raises ReviewRefusedError without one, or without a text."""
    if not text.strip():
        raise ReviewRefusedError("Enter the text of the answer.", "empty-text")
    with transaction.atomic():
        locked = Submission.objects.select_for_update().get(pk=submission.pk)
        question = open_question(locked)
        if question is None:
            raise ReviewRefusedError(
                "No question about this submission is open: it was answered already, or lapsed.", "no-open-question"
            )
        answered = {"answer": text.strip(), "answered_by": user.pk, "answered_at": timezone.now()}
        Question.objects.filter(pk=question.pk).update(**answered)
        _record(user, ANSWERED_KIND, question)


def open_question(submission: Submission) -> Question | None:
    """Return the question that waits for an answer, or None."""
    return submission.questions.filter(answered_at__isnull=True, lapsed_at__isnull=True).first()


def _record(actor: AbstractBaseUser, kind: str, question: Question) -> None:
    record_event(actor, kind, ("submission", question.submission.public_id), "", {"question": question.pk})
