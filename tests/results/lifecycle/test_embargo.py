"""Embargoed submissions: reviewed and hidden until their minute, then disclosed by the register itself."""

import io
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest
from django.utils import timezone

from results.errors import ReviewRefusedError
from results.ingest.queue import sweep
from results.intake.submissions import CompanionUpload, accept_submission
from results.lifecycle import visibility
from results.lifecycle.embargo import DAYS_MAX, change_embargo, complaint_about, disclose_due
from results.lifecycle.review import create_product, decline, publish
from results.lifecycle.submission_states import with_state
from results.models import Event, Product, Run, Submission, Verdict
from results.reevaluation.slice_lengths import may_change_slices
from tests.results.builders import FACTS, log_bytes, make_organisation, make_user, send

pytestmark = pytest.mark.django_db


def minute(**ahead):
    return timezone.now().replace(second=0, microsecond=0) + timedelta(**ahead)


@pytest.fixture
def vera(db):
    return make_user("vera", make_organisation())


@pytest.fixture
def rita(db):
    return make_user("rita", is_reviewer=True)


@pytest.fixture
def submission(evidence_dir, stand_in, vera, rita):
    """Return a reviewed submission under embargo until a minute of tomorrow."""
    facts = replace(FACTS, embargo_until=minute(days=1))
    submission = send(vera.memberships.get().organisation, log_bytes("four-us"), vera, facts)
    sweep()
    create_product(submission, rita)
    publish(submission, rita)
    return Submission.objects.get(pk=submission.pk)


def state_of(submission):
    return with_state(Submission.objects.filter(pk=submission.pk)).get().state


def let_it_end(submission, **ago):
    Submission.objects.filter(pk=submission.pk).update(embargo_until=timezone.now() - timedelta(**ago))


def test_a_reviewed_run_under_embargo_is_hidden(submission, rita):
    run = submission.runs.get()
    assert (run.visibility, run.tier, run.published_at) == ("embargoed", "reviewed", None)
    assert state_of(submission) == "embargoed"
    assert not Run.objects.public().exists()
    assert not Product.objects.public().exists()
    event = Event.objects.get(kind="run-embargoed")
    assert (event.actor, event.details["until"]) == (rita, submission.embargo_until.isoformat())


def test_a_run_becomes_public_at_its_minute_and_not_before(submission):
    assert disclose_due() == 0
    assert state_of(submission) == "embargoed"
    let_it_end(submission, seconds=0)
    assert (disclose_due(), disclose_due()) == (1, 0)
    run = submission.runs.get()
    assert (run.visibility, run.published_at is not None, state_of(submission)) == ("public", True, "published")
    assert Event.objects.get(kind="run-published", subject_id=run.public_id).actor is None


def test_an_embargoed_run_cannot_be_disclosed_earlier(submission):
    with pytest.raises(ReviewRefusedError, match="is under embargo until"):
        visibility.disclose(submission.runs.get())


def test_an_embargo_that_ended_before_the_review_delays_nothing(evidence_dir, stand_in, vera, rita):
    submission = send(vera.memberships.get().organisation, log_bytes("four-us"), vera)
    let_it_end(submission, minutes=1)
    sweep()
    create_product(submission, rita)
    publish(submission, rita)
    assert submission.runs.get().visibility == "public"


def test_the_sender_can_move_an_embargo_both_ways_and_each_change_is_recorded(submission, vera):
    before, later, sooner = submission.embargo_until, minute(days=9), minute(hours=1)
    change_embargo(submission, later, vera)
    change_embargo(submission, sooner, vera)
    changes = [event.details for event in Event.objects.filter(kind="submission-embargo-changed")]
    moments = [moment.isoformat() for moment in (before, later, sooner)]
    assert [(each["before"], each["after"]) for each in changes] == list(pairwise(moments))
    assert state_of(submission) == "embargoed"


def test_ending_an_embargo_discloses_reviewed_runs_at_once(submission, vera):
    change_embargo(submission, None, vera)
    assert state_of(submission) == "published"


def test_an_embargo_cannot_hide_a_public_run(submission, vera, rita):
    change_embargo(submission, None, vera)
    with pytest.raises(ReviewRefusedError, match="an embargo cannot hide it again"):
        change_embargo(submission, minute(days=1), vera)
    visibility.withdraw(submission.runs.get(), rita, "wrong firmware")
    with pytest.raises(ReviewRefusedError, match="an embargo cannot hide it again"):
        change_embargo(submission, minute(days=1), vera)
    assert state_of(submission) == "withdrawn"


def test_an_embargo_ends_at_a_whole_minute_within_a_year(monkeypatch):
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)  # otherwise a minute may end meanwhile
    assert complaint_about(minute(minutes=1)) == complaint_about(minute(days=DAYS_MAX)) == ""
    assert "whole minute" in complaint_about(minute(days=1) + timedelta(seconds=1))
    assert "after now" in complaint_about(minute())
    assert f"at most {DAYS_MAX} days" in complaint_about(minute(days=DAYS_MAX, minutes=1))


def test_a_run_that_became_void_under_embargo_returns_to_review(submission):
    run = submission.runs.get()
    Verdict.objects.filter(run=run).update(outcome="void", headline="void: cut short")
    let_it_end(submission, seconds=1)
    assert disclose_due() == 0
    run.refresh_from_db()
    assert (run.visibility, run.tier) == ("unreviewed", "vendor-reported")
    assert "A void run is not published" in Event.objects.get(kind="run-recalled").reason


def test_a_reviewer_can_recall_an_embargoed_run_which_is_neither_declined_nor_resliced(submission, rita):
    with pytest.raises(ReviewRefusedError, match="waits for the end of its embargo"):
        decline(submission, rita, "late")
    assert not may_change_slices(submission)
    visibility.recall(submission.runs.get(), rita, "the wrong product")
    assert state_of(submission) == "in-review"


def test_a_run_without_a_submission_is_never_disclosed(submission):
    submission.runs.update(submission=None)
    let_it_end(submission, days=1)
    assert disclose_due() == 0


def test_a_second_submission_without_an_embargo_does_not_end_the_embargo(evidence_dir, stand_in, vera):
    until, organisation = minute(days=1), vera.memberships.get().organisation
    submission = send(organisation, b"no log", vera, replace(FACTS, embargo_until=until))
    sweep()
    again = replace(FACTS, slice_length_s=60)
    receipt = accept_submission(organisation, io.BytesIO(b"no log"), "load.log", again, "form", vera)
    assert receipt.is_read_again
    submission.refresh_from_db()
    assert (submission.slice_length_s, submission.embargo_until) == (60, until)


def send_again(submission, vera, until, companions=()):
    again = io.BytesIO(log_bytes("four-us"))
    facts = replace(FACTS, embargo_until=until)
    return accept_submission(submission.organisation, again, "load.log", facts, "api", vera, companions=companions)


def test_a_second_submission_with_another_minute_moves_the_embargo(submission, vera):
    before, until = submission.embargo_until, minute(days=3)
    receipt = send_again(submission, vera, until)
    submission.refresh_from_db()
    assert (receipt.is_new, receipt.is_embargo_changed, submission.embargo_until) == (False, True, until)
    event = Event.objects.get(kind="submission-embargo-changed")
    assert (event.actor, event.details) == (vera, {"before": before.isoformat(), "after": until.isoformat()})
    assert not send_again(submission, vera, until).is_embargo_changed
    assert Event.objects.filter(kind="submission-embargo-changed").count() == 1


def test_a_later_embargo_applies_to_a_submission_sent_without_one(evidence_dir, stand_in, vera, rita):
    submission = send(vera.memberships.get().organisation, log_bytes("four-us"), vera)
    sweep()
    send_again(submission, vera, minute(days=1))
    create_product(submission, rita)
    publish(Submission.objects.get(), rita)
    assert submission.runs.get().visibility == "embargoed"


def test_an_embargo_on_public_bytes_is_refused_and_nothing_is_stored(submission, vera):
    change_embargo(submission, None, vera)
    uploads = [CompanionUpload(io.BytesIO(b"stderr"), "load.err")]
    with pytest.raises(
        ReviewRefusedError, match=f"are submission {submission.public_id} already. A run of the submission was public"
    ):
        send_again(submission, vera, minute(days=1), uploads)
    submission.refresh_from_db()
    assert (submission.embargo_until, submission.companions.count()) == (None, 0)
    assert not send_again(submission, vera, None).is_new


def test_organisations_have_separate_embargoes_on_the_same_bytes(submission):
    otto = make_user("otto", make_organisation("other"))
    before = submission.embargo_until
    other = send(otto.memberships.get().organisation, log_bytes("four-us"), otto, replace(FACTS, embargo_until=None))
    send_again(other, otto, until := minute(days=9))
    submission.refresh_from_db()
    assert (submission.embargo_until, Submission.objects.get(pk=other.pk).embargo_until) == (before, until)


def test_the_warnings_that_the_reviewer_accepted_are_recorded_with_the_publication(evidence_dir, stand_in, vera, rita):
    facts = replace(FACTS, embargo_until=minute(days=1))
    submission = send(vera.memberships.get().organisation, log_bytes("four-us"), vera, facts)
    sweep()
    create_product(submission, rita)
    publish(submission, rita, ["Another size."])
    let_it_end(submission)
    assert disclose_due() == 1
    assert Event.objects.get(kind="run-published").details["in_spite_of"] == ["Another size."]


def test_a_run_that_cannot_be_shown_delays_no_other(submission, monkeypatch):
    let_it_end(submission)
    monkeypatch.setattr(visibility, "disclose", lambda run: 1 / 0)
    assert disclose_due() == 0
    monkeypatch.undo()
    assert disclose_due() == 1
