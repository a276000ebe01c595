from datetime import timedelta

import pytest
from django.utils import timezone

from results.errors import ReviewRefusedError
from results.ingest.queue import sweep
from results.lifecycle import visibility
from results.lifecycle.deadlines import (
    NEAR,
    NEAR_KIND,
    OVERDUE_KIND,
    RULES,
    STEPS,
    Party,
    Rule,
    deadline_of,
    sweep_deadlines,
)
from results.lifecycle.questions import answer, ask, open_question
from results.lifecycle.review import create_product, publish
from results.lifecycle.submission_states import SubmissionState, with_state
from results.models import Approval, Deadline, Event, Submission, WaitingStep
from tests.results.builders import log_bytes, make_organisation, make_user, send

pytestmark = pytest.mark.django_db
FINAL = {"failed", "declined", "published", "withdrawn", "sequestered", "retracted", "example"}


@pytest.fixture
def rita(db):
    return make_user("rita", is_reviewer=True)


@pytest.fixture
def vera(db):
    return make_user("vera", make_organisation())


@pytest.fixture
def submission(evidence_dir, stand_in, vera):
    return send(vera.memberships.get().organisation, log_bytes("four-us"), vera)


def stated(submission):
    return with_state(Submission.objects.filter(pk=submission.pk)).get()


def pass_deadline():
    Deadline.objects.update(due_at=timezone.now() - timedelta(seconds=1))


def overdue():
    return [(event.details["step"], event.details["then"]) for event in Event.objects.filter(kind=OVERDUE_KIND)]


def test_every_state_that_is_not_final_has_a_limit():
    assert set(STEPS) == {state for state in SubmissionState if state.value not in FINAL}
    assert set(RULES) == set(WaitingStep)


def test_a_submission_waits_for_one_step_after_the_other(submission, rita, vera):
    assert deadline_of(stated(submission)).step == "reading"
    sweep()
    assert deadline_of(stated(submission)).step == "identity"
    create_product(submission, rita)
    assert deadline_of(stated(submission)).step == "review"
    ask(submission, rita, "Which slot?")
    assert deadline_of(stated(submission)).step == "answer"
    answer(submission, vera, "Slot 1.")
    assert deadline_of(stated(submission)).step == "review"
    publish(submission, rita)
    assert deadline_of(stated(submission)) is None


def test_the_limit_of_the_first_step_counts_from_the_receipt(submission):
    assert deadline_of(stated(submission)).due_at == submission.received_at + timedelta(days=1)


def test_a_sweep_stores_the_step_and_a_repeated_one_changes_nothing(submission):
    assert sweep_deadlines() == 0
    before = Deadline.objects.values().get()
    assert (before["step"], before["overdue_at"]) == ("reading", None)
    sweep_deadlines()
    assert Deadline.objects.values().get() == before


def test_a_limit_that_passes_is_recorded_once(submission, rita):
    sweep()
    create_product(submission, rita)
    sweep_deadlines()
    pass_deadline()
    assert [sweep_deadlines(), sweep_deadlines()] == [1, 0]
    assert overdue() == [("review", "review-overdue")]
    assert Event.objects.get(kind=OVERDUE_KIND).details["party"] == "reviewer"
    publish(submission, rita)
    sweep_deadlines()
    assert not Deadline.objects.exists()


@pytest.mark.parametrize(("left", "announced"), [(NEAR + timedelta(minutes=1), 0), (NEAR - timedelta(minutes=1), 1)])
def test_a_deadline_of_a_person_is_announced_once_when_it_is_near(submission, rita, left, announced):
    sweep()
    create_product(submission, rita)
    sweep_deadlines()
    Deadline.objects.update(due_at=timezone.now() + left)
    assert [sweep_deadlines(), sweep_deadlines()] == [0, 0]
    near = Event.objects.filter(kind=NEAR_KIND)
    assert near.count() == announced
    for event in near:
        due_at = Deadline.objects.get().due_at.isoformat()
        assert event.details == {"step": "review", "party": "reviewer", "deadline": due_at}
    assert overdue() == []


@pytest.mark.parametrize(("limit", "lead"), [(3, 1.5), (4, 2), (14, 2)])
def test_a_short_limit_is_announced_at_its_half(limit, lead):
    rule = Rule(timedelta(days=limit), Party.REVIEWER, "then")
    assert rule.reminder_lead == timedelta(days=lead)


def test_the_register_needs_no_announcement_of_its_own_deadline(submission):
    sweep_deadlines()  # one day for the reading: near from the beginning
    sweep_deadlines()
    assert not Event.objects.filter(kind=NEAR_KIND).exists()


def test_a_new_step_has_a_new_limit(submission, rita):
    sweep()
    sweep_deadlines()
    pass_deadline()
    sweep_deadlines()
    create_product(submission, rita)
    assert sweep_deadlines() == 0
    deadline = Deadline.objects.get()
    assert (deadline.step, deadline.overdue_at) == ("review", None)
    assert deadline.due_at > timezone.now() + timedelta(days=13)


def test_a_question_without_an_answer_ends_the_submission_as_declined(submission, rita, settings):
    settings.REVIEWS_NEEDED = 2
    sweep()
    create_product(submission, rita)
    publish(submission, rita)
    ask(submission, rita, "Which slot?")
    sweep_deadlines()
    pass_deadline()
    assert sweep_deadlines() == 1
    assert stated(submission).state == "declined"
    assert open_question(submission) is None
    assert Event.objects.get(kind="submission-declined").details == {"code": "no-answer"}
    assert Approval.objects.get().void_reason == "declined"


def test_the_limit_of_an_embargo_counts_from_its_end(submission, rita):
    sweep()
    create_product(submission, rita)
    until = timezone.now() + timedelta(days=30)
    Submission.objects.update(embargo_until=until)
    for run in submission.runs.all():
        visibility.publish(run, rita)
    sweep_deadlines()
    assert Deadline.objects.get().due_at == until + timedelta(days=1)
    Submission.objects.update(embargo_until=until + timedelta(days=2))
    sweep_deadlines()
    assert Deadline.objects.get().due_at == until + timedelta(days=3)


def test_a_submission_has_one_open_question(submission, rita, vera):
    with pytest.raises(ReviewRefusedError, match="Only about one under review"):
        ask(submission, rita, "Which slot?")
    sweep()
    ask(submission, rita, "Which slot?")
    with pytest.raises(ReviewRefusedError, match="waits for its answer"):
        ask(submission, rita, "Which firmware?")
    with pytest.raises(ReviewRefusedError, match="text of the answer"):
        answer(submission, vera, " ")
    answer(submission, vera, "Slot 1.")
    with pytest.raises(ReviewRefusedError, match="No question"):
        answer(submission, vera, "Slot 2.")
    ask(submission, rita, "Which firmware?")
    assert [event.kind for event in Event.objects.filter(kind__startswith="submission-question").order_by("pk")] == [
        "submission-question-asked", "submission-question-answered", "submission-question-asked",
    ]  # fmt: skip
