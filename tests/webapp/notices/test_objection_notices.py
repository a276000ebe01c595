"""Who is notified of an objection, when, and who must act."""

from datetime import timedelta

import pytest
from django.core.mail import get_connection
from django.utils import timezone

from results.lifecycle.corrections import annotate, reply_to_annotation
from results.lifecycle.deadlines import NEAR
from results.lifecycle.objection_filing import file_objection
from results.lifecycle.objections import admit, decide, refuse, reply, sweep_objections, withdraw
from results.lifecycle.takedowns import request_takedown
from results.models import Objection, Takedown
from tests.results.builders import make_organisation, make_user
from tests.results.rows import from_a_log, make_product, make_run
from webapp.notices.gathering import SETTLING, gather
from webapp.notices.messages import NothingToSendError, compose
from webapp.notices.models import Frequency, Mail, Notice
from webapp.notices.preferences import set_frequency
from webapp.templatetags.units import moment

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(exemplar, vera):
    run = make_run(make_product(), **from_a_log())
    run.submission.organisation = exemplar
    run.submission.save()
    return run


@pytest.fixture
def fiona(db):
    return make_user("fiona")


@pytest.fixture
def objection(run, fiona, rita):
    return file_objection(run, fiona, "Wrong drive.")


@pytest.fixture
def admitted(objection, rita):
    admit(objection, rita)
    take_notices()
    objection.refresh_from_db()
    return objection


def take_notices():
    """Return who was notified of what, and who must act, since the last call."""
    rows = Notice.objects.select_related("recipient")
    found = {(each.recipient.username, each.kind, each.details.get("acts", "")) for each in rows}
    Notice.objects.all().delete()
    return found


def test_independent_reviewers_are_notified_of_a_new_one_and_the_submitter_is_not(run, fiona, rita, exemplar):
    filing = make_organisation("filing")
    make_user("member-of-submitter", exemplar, is_reviewer=True)
    make_user("colleague", filing, is_reviewer=True)
    file_objection(run, make_user("felix", filing), "Wrong.")
    assert take_notices() == {("rita", "objection-received", "reviewers")}


def test_a_filer_who_reviews_gets_no_notice_as_a_reviewer(run, rita):
    filer = make_user("ruth", is_reviewer=True)
    objection = file_objection(run, filer, "Wrong.")
    admit(objection, rita)
    assert {each for each in take_notices() if each[0] == "ruth"} == {("ruth", "objection-admitted", "members")}


def test_filer_and_submitter_are_notified_of_the_admission(objection, rita):
    take_notices()
    admit(objection, rita)
    assert take_notices() == {("fiona", "objection-admitted", "members"), ("vera", "objection-admitted", "members")}


def test_only_the_filer_is_notified_of_a_refusal_and_reviewers_of_a_withdrawal(run, objection, fiona, rita):
    take_notices()
    refuse(objection, rita, Objection.Refusal.UNCLEAR)
    assert take_notices() == {("fiona", "objection-refused", "")}
    other = file_objection(run, fiona, "Again.")
    take_notices()
    withdraw(other, fiona)
    assert take_notices() == {("rita", "objection-withdrawn", "")}


def test_a_reply_reaches_filer_and_reviewers(admitted, vera):
    reply(admitted, vera, "No.")
    waits = ("rita", "objection-waits", "reviewers")
    assert take_notices() == {("fiona", "objection-replied", "reviewers"), waits}


@pytest.mark.parametrize(
    ("outcome", "kind", "acts"), [("withdraw", "objection-upheld", "reviewers"), ("known", "objection-rejected", "")]
)
def test_a_decision_reaches_all(admitted, vera, rita, outcome, kind, acts):
    make_user("rolf", is_reviewer=True)
    reply(admitted, vera, "No.")
    take_notices()
    decide(admitted, rita, Objection.Outcome(outcome), "Because.")
    assert take_notices() == {(name, kind, acts) for name in ("fiona", "vera", "rolf")}


def test_a_passed_limit_reaches_owner_and_reviewers(monkeypatch, objection, rita):
    take_notices()
    monkeypatch.setattr(timezone, "now", lambda: objection.deadline)
    sweep_objections()
    assert take_notices() == {(name, "objection-overdue", "reviewers") for name in ("fiona", "rita")}
    admit(objection, rita)
    take_notices()
    deadline = Objection.objects.get().deadline
    monkeypatch.setattr(timezone, "now", lambda: deadline)
    sweep_objections()
    assert take_notices() == {(name, "objection-overdue", "reviewers") for name in ("fiona", "vera", "rita")}


def remind(monkeypatch):
    """Sweep two days before the limit of the only objection, twice, as two workers do."""
    deadline = Objection.objects.get().deadline
    monkeypatch.setattr(timezone, "now", lambda: deadline - NEAR)
    sweep_objections()
    sweep_objections()


def test_who_must_act_is_reminded_once_before_each_limit(monkeypatch, objection, rita, vera):
    take_notices()
    remind(monkeypatch)
    assert take_notices() == {("rita", "objection-deadline-near", "reviewers")}
    admit(objection, rita)
    take_notices()
    remind(monkeypatch)
    assert take_notices() == {("vera", "objection-deadline-near", "members")}
    reply(objection, vera, "No.")
    take_notices()
    remind(monkeypatch)
    assert take_notices() == {("rita", "objection-deadline-near", "reviewers")}


def test_partial_reviewers_and_those_who_want_no_mail_get_no_reminder(monkeypatch, objection, rita, exemplar):
    make_user("member-of-submitter", exemplar, is_reviewer=True)
    set_frequency(rita, Frequency.NONE)
    take_notices()
    remind(monkeypatch)
    assert {name for name, *_ in Notice.objects.values_list("recipient__username")} == {"rita"}
    gather(timezone.now() + SETTLING + timedelta(seconds=1))
    assert not Mail.objects.exists()


def test_a_reminder_names_the_deadline(monkeypatch, objection, rita):
    take_notices()
    remind(monkeypatch)
    message = mail_of(rita)
    assert message.subject.startswith("Action needed: ")
    assert message.subject.endswith(": deadline is near")
    assert f"Deadline: {moment(objection.deadline)}" in message.body


def test_annotations_reach_members_and_their_replies_reviewers(run, vera, rita):
    annotation = annotate(run, "Short.", rita)
    assert {each[:2] for each in take_notices()} == {("vera", "annotated")}
    reply_to_annotation(annotation, vera, "Yes.")
    assert {each[:2] for each in take_notices()} == {("rita", "annotation-replied")}


def mail_of(user):
    gather(timezone.now() + SETTLING + timedelta(seconds=1))
    mail = Mail.objects.filter(recipient=user).latest("pk")
    return compose(mail, get_connection())


def test_a_mail_names_the_deadline_and_the_next_step(objection, rita):
    message = mail_of(rita)
    assert message.subject.startswith(f"Action needed: Objection {objection.public_id} to run ")
    assert "Admit or refuse the objection." in message.body
    assert "Deadline: " in message.body
    assert f"/review/objections/{objection.public_id}/" in message.body
    assert "Wrong drive." not in message.body


def test_the_filer_reads_the_reason_of_the_decision(admitted, fiona, vera, rita):
    reply(admitted, vera, "No.")
    take_notices()
    decide(admitted, rita, Objection.Outcome.KNOWN, "The page states it.")
    message = mail_of(fiona)
    assert "> The page states it." in message.body
    assert "you are the person who filed an objection" in message.body


def test_under_a_takedown_and_after_a_change_of_organisation_nothing_is_sent(run, objection, rita, exemplar):
    gather(timezone.now() + SETTLING + timedelta(seconds=1))
    mail = Mail.objects.get(recipient=rita)
    rita.memberships.create(organisation=exemplar, role="viewer")
    with pytest.raises(NothingToSendError, match="no-access"):
        compose(mail, get_connection())
    rita.memberships.all().delete()
    compose(mail, get_connection())
    request_takedown(run, make_user("olga", is_operator=True), Takedown.Ground.COURT_ORDER)
    with pytest.raises(NothingToSendError, match="no-access"):
        compose(mail, get_connection())
