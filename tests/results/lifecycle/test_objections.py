"""The states of an objection: each transition, both sides of each limit, and who may decide."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from results.errors import ReviewRefusedError
from results.history import for_everyone, history_of
from results.lifecycle import objections, visibility
from results.lifecycle.deadlines import NEAR
from results.lifecycle.objection_filing import file_objection
from results.lifecycle.objections import RULES, admit, decide, refuse, reply, sweep_objections, withdraw
from results.lifecycle.takedowns import end_takedown, request_takedown
from results.models import Event, Maker, Objection, ObjectionState, Takedown
from results.models.objection import ADMITTED_STATES, FINAL_STATES
from results.tasks import sweep_deadlines
from tests.results.builders import make_organisation, make_user
from tests.results.rows import from_a_log, make_product, make_run

pytestmark = pytest.mark.django_db
WITHDRAW, NOT_SHOWN = Objection.Outcome.WITHDRAW, Objection.Outcome.NOT_SHOWN
NO_EVIDENCE = Objection.Refusal.NO_EVIDENCE
MOMENT = timedelta(microseconds=1)


@pytest.fixture
def run(db):
    return make_run(make_product(), **from_a_log())


@pytest.fixture
def fiona(db):
    return make_user("fiona")


@pytest.fixture
def rita(db):
    return make_user("rita", is_reviewer=True)


@pytest.fixture
def sender(run):
    return make_user("sender", run.submission.organisation)


@pytest.fixture
def objection(run, fiona):
    return file_objection(run, fiona, "The drive was over-provisioned.")


@pytest.fixture
def admitted(objection, rita):
    admit(objection, rita)
    objection.refresh_from_db()
    return objection


def state_of(objection):
    objection.refresh_from_db()
    return objection.state


def later(monkeypatch, moment):
    monkeypatch.setattr(timezone, "now", lambda: moment)


def kinds_about(subject_type, subject_id):
    return list(Event.objects.filter(subject_type=subject_type, subject_id=subject_id).values_list("kind", flat=True))


def test_a_filed_objection_waits_7_days_for_a_reviewer_and_is_not_public(objection, run):
    assert (objection.state, objection.deadline - objection.state_since) == ("received", timedelta(days=7))
    assert not Objection.objects.admitted().exists()
    assert kinds_about("objection", objection.public_id) == ["objection-received"]
    assert "objection" not in str(list(for_everyone(history_of(run)).values_list("kind", flat=True)))


def test_an_admitted_one_is_public_and_waits_14_days_for_the_submitter(admitted, run, rita):
    assert (admitted.state, admitted.deadline - admitted.state_since) == ("admitted", timedelta(days=14))
    assert admitted.admitted_by == rita
    assert list(Objection.objects.admitted()) == [admitted]
    event = Event.objects.get(kind="objection-admitted")
    assert (event.subject_id, event.details["objection"]) == (run.public_id, admitted.public_id)
    assert event in for_everyone(history_of(run))


def test_a_result_that_no_organisation_submitted_waits_for_a_decision_at_once(fiona, rita):
    run = make_run(make_product(), tier="published")
    objection = file_objection(run, fiona, "A misprint.")
    admit(objection, rita)
    assert state_of(objection) == "in-decision"
    assert not objections.may_reply(objection)


def test_a_refusal_has_a_reason_and_stays_private(objection, run, rita):
    refuse(objection, rita, NO_EVIDENCE, "Name the figure.")
    assert state_of(objection) == "refused"
    assert (objection.refusal, objection.refusal_note, objection.deadline) == ("no-evidence", "Name the figure.", None)
    assert not Objection.objects.admitted().exists()
    assert kinds_about("objection", objection.public_id) == ["objection-received", "objection-refused"]
    assert kinds_about("run", run.public_id) == []


def test_only_its_filer_withdraws_it_and_only_before_the_admission(objection, fiona, rita):
    with pytest.raises(ReviewRefusedError, match="You did not file"):
        withdraw(objection, make_user("other"))
    withdraw(objection, fiona)
    assert state_of(objection) == "withdrawn"
    with pytest.raises(ReviewRefusedError, match="is withdrawn; only an objection that is admission-overdue or rec"):
        admit(objection, rita)


def test_nobody_withdraws_a_public_objection(admitted, fiona):
    with pytest.raises(ReviewRefusedError, match="is admitted until"):
        withdraw(admitted, fiona)


def test_the_submitter_replies_once_and_a_reviewer_decides_within_14_days(admitted, sender, rita):
    reply(admitted, sender, " It was not. ")
    assert (state_of(admitted), admitted.reply, admitted.replied_by) == ("in-decision", "It was not.", sender)
    assert admitted.deadline - admitted.state_since == timedelta(days=14)
    with pytest.raises(ReviewRefusedError, match="replies once"):
        reply(admitted, sender, "Again.")
    decide(admitted, rita, NOT_SHOWN, "The log shows none.")
    assert (state_of(admitted), admitted.outcome, admitted.outcome_note) == (
        "rejected",
        "not-shown",
        "The log shows none.",
    )
    event = Event.objects.get(kind="objection-rejected")
    assert (event.reason, event.details["outcome"]) == ("The log shows none.", "not-shown")


@pytest.mark.parametrize("outcome", Objection.Outcome)
def test_an_outcome_upholds_or_rejects_and_changes_no_result(admitted, run, sender, rita, outcome):
    reply(admitted, sender, "We disagree.")
    decide(admitted, rita, outcome, "Reason.")
    assert state_of(admitted) == ("upheld" if outcome in {"withdraw", "annotate", "correct"} else "rejected")
    run.refresh_from_db()
    assert run.visibility == "public"
    with pytest.raises(ReviewRefusedError, match="can be decided"):
        decide(admitted, rita, outcome, "Again.")


def test_nobody_decides_before_the_reply_or_its_limit(monkeypatch, admitted, rita):
    later(monkeypatch, admitted.deadline - MOMENT)
    sweep_objections()
    with pytest.raises(ReviewRefusedError, match="is admitted until"):
        decide(admitted, rita, WITHDRAW, "Too early.")
    later(monkeypatch, admitted.deadline)
    sweep_objections()
    decide(admitted, rita, WITHDRAW, "No reply came.")
    assert state_of(admitted) == "upheld"


@pytest.mark.parametrize("act", ["reply", "decide"])
def test_a_text_is_required(admitted, sender, rita, act):
    with pytest.raises(ReviewRefusedError, match="Enter the"):
        reply(admitted, sender, " ") if act == "reply" else decide(admitted, rita, WITHDRAW, " ")


def put_into(objection, state, rita, sender, monkeypatch):
    """Bring a received objection into a state that is not final."""
    if state not in {"received", "admission-overdue"}:
        admit(objection, rita)
        objection.refresh_from_db()
    if state in {"in-decision", "decision-overdue"}:
        reply(objection, sender, "No.")
        objection.refresh_from_db()
    if state in {"admission-overdue", "unanswered", "decision-overdue"}:
        later(monkeypatch, objection.deadline)
        sweep_objections()
    assert state_of(objection) == state


@pytest.mark.parametrize("state", RULES)
def test_each_state_moves_when_its_limit_passes_and_not_before(monkeypatch, objection, run, sender, rita, state):
    put_into(objection, state, rita, sender, monkeypatch)
    due = objection.deadline
    assert due - objection.state_since == RULES[state].limit
    later(monkeypatch, due - MOMENT)
    assert sweep_objections() == 0
    assert state_of(objection) == state
    events = Event.objects.count()
    later(monkeypatch, due)
    sweep_deadlines()
    assert state_of(objection) == RULES[state].then
    assert objection.deadline == due + RULES[objection.state].limit
    event = Event.objects.order_by("pk").last()
    assert (Event.objects.count(), event.actor) == (events + 1, None)
    is_public = state not in {"received", "admission-overdue"}
    assert event.subject_type == ("run" if is_public else "objection")
    assert sweep_objections() == 0


def reminders():
    return Event.objects.filter(kind="objection-deadline-near").order_by("pk")


@pytest.mark.parametrize("state", RULES)
def test_each_state_has_one_reminder_two_days_before_its_limit(monkeypatch, objection, rita, sender, state):
    put_into(objection, state, rita, sender, monkeypatch)
    earlier = reminders().count()
    later(monkeypatch, objection.deadline - NEAR - MOMENT)
    assert (sweep_objections(), reminders().count()) == (0, earlier)
    later(monkeypatch, objection.deadline - NEAR)
    assert [sweep_objections(), sweep_objections()] == [0, 0]
    assert reminders().count() == earlier + 1
    event = reminders().last()
    assert (event.subject_type, event.subject_id) == ("objection", objection.public_id)
    assert event.details["deadline"] == objection.deadline.isoformat()
    assert event.details["state"] == state_of(objection) == state


def test_a_new_limit_has_a_reminder_of_its_own(monkeypatch, objection):
    for count in (1, 2, 3):
        later(monkeypatch, objection.deadline - MOMENT)
        sweep_objections()
        assert reminders().count() == count
        later(monkeypatch, objection.deadline)
        assert sweep_objections() == 1
        objection.refresh_from_db()


def test_a_limit_that_passed_unseen_has_no_reminder_after_it(monkeypatch, objection):
    later(monkeypatch, objection.deadline)
    assert sweep_objections() == 1
    assert not reminders().exists()


def test_a_second_worker_with_an_older_row_reminds_nobody_again(monkeypatch, objection):
    later(monkeypatch, objection.deadline - NEAR)
    sweep_objections()
    assert objections._handle(objection) is False
    assert reminders().count() == 1


def test_a_withheld_result_has_no_reminder(monkeypatch, run, objection):
    request_takedown(run, make_user("olga", is_operator=True), Takedown.Ground.COURT_ORDER)
    later(monkeypatch, objection.deadline - NEAR)
    sweep_objections()
    assert not reminders().exists()


def test_every_state_is_final_or_has_a_limit_and_leads_to_a_state_with_one():
    assert set(RULES) | set(FINAL_STATES) == set(ObjectionState)
    assert not set(RULES) & set(FINAL_STATES)
    assert {rule.then for rule in RULES.values()} <= set(RULES)


@pytest.mark.parametrize("state", ["received", "admission-overdue"])
def test_an_overdue_objection_is_still_admitted_or_refused(monkeypatch, objection, rita, sender, state):
    put_into(objection, state, rita, sender, monkeypatch)
    admit(objection, rita)
    assert state_of(objection) == "admitted"


def test_a_late_reply_is_shown_and_leads_to_the_decision(monkeypatch, objection, rita, sender):
    put_into(objection, "unanswered", rita, sender, monkeypatch)
    reply(objection, sender, "Late, but here.")
    assert state_of(objection) == "in-decision"


def test_a_reply_to_an_overdue_decision_moves_no_limit(monkeypatch, objection, rita, sender):
    put_into(objection, "unanswered", rita, sender, monkeypatch)
    later(monkeypatch, objection.deadline)
    sweep_objections()
    due = Objection.objects.get().deadline
    reply(objection, sender, "Very late.")
    assert (state_of(objection), objection.deadline, objection.reply) == ("decision-overdue", due, "Very late.")


ACTS = {
    "admit": admit,
    "refuse": lambda objection, user: refuse(objection, user, NO_EVIDENCE),
    "decide": lambda objection, user: decide(objection, user, WITHDRAW, "Reason."),
}


def partial_reviewer(name, run, objection):
    """Return a reviewer who may not decide, for one of the reasons."""
    if name == "filer":
        objection.filed_by.is_reviewer = True
        objection.filed_by.save()
        return objection.filed_by
    reviewer = make_user(name, is_reviewer=True)
    if name == "colleague of the filer":
        reviewer.memberships.create(organisation_id=objection.organisations[0], role="viewer")
    elif name == "member of the submitter":
        reviewer.memberships.create(organisation=run.submission.organisation, role="viewer")
    elif name == "who sent the log":
        run.submission.submitted_by = reviewer
        run.submission.save()
    else:
        maker = make_organisation("maker")
        Maker.objects.create(spelling=run.product.vendor, organisation=maker)
        reviewer.memberships.create(organisation=maker, role="viewer")
    return reviewer


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize(
    "name", ["filer", "colleague of the filer", "member of the submitter", "who sent the log", "member of the maker"]
)
def test_a_partial_reviewer_decides_nothing(run, rita, sender, act, name):
    objection = file_objection(run, make_user("fiona", make_organisation("filing")), "Wrong.")
    if act == "decide":
        admit(objection, rita)
        reply(objection, sender, "No.")
    reviewer = partial_reviewer(name, run, objection)
    before = state_of(objection)
    with pytest.raises(ReviewRefusedError, match="A reviewer of another organisation has to decide"):
        ACTS[act](objection, reviewer)
    assert state_of(objection) == before
    ACTS[act](objection, make_user("independent", is_reviewer=True))


def test_a_reviewer_who_left_the_organisation_of_the_filer_stays_partial(run, monkeypatch):
    filing = make_organisation("filing")
    reviewer = make_user("ruth", filing, is_reviewer=True)
    objection = file_objection(run, make_user("fiona", filing), "Wrong.")
    reviewer.memberships.all().delete()
    with pytest.raises(ReviewRefusedError, match="another organisation"):
        admit(objection, reviewer)


def test_a_takedown_stops_everything_and_the_limits_pass_after_it(monkeypatch, run, objection, rita):
    olga = make_user("olga", is_operator=True)
    takedown = request_takedown(run, olga, Takedown.Ground.COURT_ORDER)
    with pytest.raises(ReviewRefusedError, match="is withheld for legal reasons"):
        admit(objection, rita)
    later(monkeypatch, objection.deadline)
    assert sweep_objections() == 0
    assert state_of(objection) == "received"
    end_takedown(takedown, olga, "Settled.")
    assert sweep_objections() == 1


def test_a_takedown_withholds_admitted_objections_too(run, admitted):
    request_takedown(run, make_user("olga", is_operator=True), Takedown.Ground.COURT_ORDER)
    assert not Objection.objects.admitted().exists()
    assert not Objection.objects.waiting().exists()


def test_an_objection_goes_on_after_its_result_is_withdrawn(run, admitted, sender, rita):
    visibility.withdraw(run, rita, "Wrong drive.")
    reply(admitted, sender, "We agree.")
    decide(admitted, rita, WITHDRAW, "Withdrawn already.")
    assert state_of(admitted) == "upheld"


@pytest.mark.parametrize(
    "columns",
    [
        {"state": "upheld"},
        {"deadline": None},
        {"state": "admitted"},
        {"reply": "text"},
        {"state": "refused", "deadline": None},
        {"outcome": "withdraw"},
    ],
)
def test_the_database_refuses_a_state_without_its_facts(objection, columns):
    with pytest.raises(IntegrityError), transaction.atomic():
        Objection.objects.filter(pk=objection.pk).update(**columns)


def test_the_database_refuses_a_decision_of_the_filer(admitted, fiona):
    with pytest.raises(IntegrityError, match="objection_is_not_decided_by_its_filer"), transaction.atomic():
        Objection.objects.filter(pk=admitted.pk).update(admitted_by=fiona)


def test_the_admitted_states_are_those_of_the_public():
    assert set(ADMITTED_STATES) == {"admitted", "unanswered", "in-decision", "decision-overdue", "upheld", "rejected"}
