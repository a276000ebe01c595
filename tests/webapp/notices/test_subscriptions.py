"""Who is notified of which change, in the transaction of the change."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from results.history import record_event
from results.ingest.queue import sweep
from results.lifecycle import embargo, review, visibility
from results.models import Submission
from tests.results.builders import log_bytes, make_user
from tests.results.builders import send as send_log
from tests.results.rows import from_a_log, make_product, make_run
from webapp.accounts import organisations
from webapp.accounts.audit.trail import Actor
from webapp.notices import subscriptions
from webapp.notices.models import Notice

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("evidence_dir", "stand_in")]


@pytest.fixture
def wanda(exemplar):
    """A viewer of the organisation of vera."""
    user = make_user("wanda")
    user.memberships.create(organisation=exemplar, role="viewer")
    return user


@pytest.fixture
def published(exemplar, vera, rita):
    """A public run of the organisation of vera. The notices of its publication are gone."""
    run = make_run(make_product(), visibility="unreviewed", **from_a_log())
    Submission.objects.update(organisation=exemplar)
    run.submission.refresh_from_db()
    visibility.publish(run, rita)
    assert take_notices() == of_members("published", "vera")
    return run


def take_notices():
    """Return who was notified of what since the last call."""
    found = {(each.recipient.username, each.kind, each.audience) for each in Notice.objects.all()}
    Notice.objects.all().delete()
    return found


def of_members(kind, *names):
    return {(name, kind, "members") for name in names}


def of_reviewers(kind, *names):
    return {(name, kind, "reviewers") for name in names}


def test_members_and_reviewers_are_notified_from_the_receipt_to_the_review(exemplar, vera, wanda, otto, rita, olga):
    submission = send_log(exemplar, log_bytes("four-us"), vera)
    assert take_notices() == of_members("received", "wanda"), "the sender knows it"
    sweep()
    waits = of_members("awaiting-identity", "vera", "wanda") | of_reviewers("awaiting-identity", "rita")
    assert take_notices() == of_members("read", "vera", "wanda") | waits
    review.create_product(submission, rita)
    assert take_notices() == of_members("in-review", "vera", "wanda")
    review.decline(submission, rita, "No.")
    assert take_notices() == of_members("declined", "vera", "wanda")


def test_a_submission_of_a_known_product_goes_straight_into_review(exemplar, vera, rita):
    make_run(make_product(part_number="EX4-3T2", capacity_gb=3200))  # public, so that it matches for everyone
    send_log(exemplar, log_bytes("four-us"))
    take_notices()
    sweep()
    waits = of_members("in-review", "vera") | of_reviewers("in-review", "rita")
    assert take_notices() == of_members("read", "vera") | waits


def test_a_failed_reading_waits_for_the_sender_and_not_for_reviewers(exemplar, vera, rita):
    send_log(exemplar, b"no log at all", vera)
    sweep()
    assert take_notices() == of_members("reading-failed", "vera")


def test_a_reviewer_of_the_submitting_organisation_is_notified_as_a_member_only(exemplar, vera, rita):
    rita.memberships.create(organisation=exemplar, role="viewer")
    send_log(exemplar, log_bytes("four-us"))
    sweep()
    assert {notice.audience for notice in Notice.objects.filter(recipient=rita)} == {"members"}
    assert Notice.objects.filter(recipient=rita, kind="awaiting-identity").count() == 1


def test_each_change_of_a_run_notifies_the_members_but_not_its_actor(published, exemplar, vera, rita):
    rita.memberships.create(organisation=exemplar, role="viewer")
    visibility.withdraw(published, rita, "wrong firmware")
    assert take_notices() == of_members("withdrawn", "vera")
    independent = make_user("rudi", is_reviewer=True)
    visibility.reinstate(published, independent, "it was the right one")
    assert take_notices() == of_members("reinstated", "vera", "rita")
    visibility.supersede(published, make_run(published.product), independent, "longer")
    assert take_notices() == of_members("superseded", "vera", "rita")
    visibility.unsupersede(published, independent, "both count")
    assert take_notices() == of_members("reinstated", "vera", "rita")


def test_an_embargo_notifies_at_its_approval_its_recall_and_its_end(exemplar, vera, rita):
    second = make_user("rudi", is_reviewer=True)
    run = make_run(make_product(), visibility="unreviewed", **from_a_log())
    Submission.objects.update(organisation=exemplar, embargo_until=timezone.now() + timedelta(days=1))
    visibility.publish(run, rita)
    assert take_notices() == of_members("embargoed", "vera")
    visibility.recall(run, rita, "wrong product")
    assert take_notices() == of_members("recalled", "vera") | of_reviewers("recalled", second.username)
    visibility.publish(run, rita)
    take_notices()
    Submission.objects.update(embargo_until=timezone.now() - timedelta(minutes=1))
    embargo.disclose_due()
    assert take_notices() == of_members("published", "vera")


def test_questions_and_deadlines_notify_those_who_must_act(submission, vera, rita):
    subject = ("submission", submission.public_id)
    record_event(rita, "submission-question-asked", subject, "", {"question": 1})
    assert take_notices() == of_members("question", "vera")
    record_event(vera, "submission-question-answered", subject, "", {"question": 1})
    assert take_notices() == of_reviewers("answered", "rita")
    record_event(None, "submission-deadline-near", subject, "", {"party": "submitter"})
    assert take_notices() == of_members("deadline-near", "vera") | of_reviewers("deadline-near", "rita")


@pytest.mark.parametrize(("party", "acts"), [("reviewer", "reviewers"), ("submitter", "members"), ("register", "")])
def test_a_passed_deadline_states_who_must_act(submission, vera, rita, party, acts):
    details = {"step": "review", "party": party, "then": "review-overdue"}
    record_event(None, "submission-overdue", ("submission", submission.public_id), "", details)
    assert {notice.details["acts"] for notice in Notice.objects.all()} == {acts}
    assert take_notices() == of_members("deadline-passed", "vera") | of_reviewers("deadline-passed", "rita")


def test_closed_accounts_and_example_runs_have_no_notices(exemplar, vera, rita):
    vera.is_active = rita.is_active = False
    vera.save()
    rita.save()
    send_log(exemplar, log_bytes("four-us"))
    sweep()
    assert take_notices() == set()
    wilma = make_user("wilma", exemplar)
    Submission.objects.update(demo_run_id="r-example1")
    review.decline(Submission.objects.get(), rita, "No.")
    assert take_notices() == set()
    Submission.objects.update(demo_run_id="")
    review.decline(Submission.objects.get(), rita, "No.")
    assert take_notices() == of_members("declined", wilma.username)


def test_operators_learn_of_a_new_organisation_and_its_members_of_the_confirmation(olga, rita, db):
    nora = make_user("nora")
    created = organisations.create(nora, Actor(nora), "Acme", "vendor", "https://acme.example")
    assert take_notices() == {("olga", "organisation-waits", "operators")}
    organisations.confirm(created, Actor(olga), "Acme")
    assert take_notices() == of_members("organisation-confirmed", "nora")


def test_an_operator_who_creates_and_confirms_is_not_notified(olga):
    created = organisations.create(olga, Actor(olga), "Acme", "vendor", "https://acme.example")
    organisations.confirm(created, Actor(olga), "Acme")
    assert take_notices() == set()


def test_a_change_that_is_rolled_back_leaves_no_notice(submission, vera, rita):
    with transaction.atomic():
        review.decline(submission, rita, "No.")
        assert Notice.objects.exists()
        transaction.set_rollback(True)
    assert take_notices() == set()


def test_no_change_is_recorded_without_its_notices(submission, vera, rita, monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr(subscriptions, "notify", fail)
    with pytest.raises(ZeroDivisionError):
        review.decline(submission, rita, "No.")
    monkeypatch.undo()
    review.decline(submission, rita, "No.")
    assert take_notices() == of_members("declined", "vera")


def test_the_sender_is_the_first_of_the_members(exemplar, evidence_dir):
    users = [make_user(name, exemplar) for name in ("anna", "bert", "carl")]
    send_log(exemplar, b"no log at all", users[1])
    sweep()
    names = Notice.objects.order_by("pk").values_list("recipient__username", flat=True)
    assert list(names.filter(kind="reading-failed")) == ["bert", "anna", "carl"]
