"""The withdrawal of a submission by its sender: what becomes of its runs, and the way back."""

import pytest

from results.errors import ReviewRefusedError
from results.ingest.queue import sweep
from results.lifecycle import review
from results.lifecycle.own_withdrawal import may_return, may_withdraw, return_own, withdraw_own
from results.lifecycle.submission_states import with_state
from results.models import Event, Run, Submission
from tests.results.builders import log_bytes, make_organisation, make_user, send

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("evidence_dir", "stand_in")]


@pytest.fixture
def vera():
    return make_user("vera", make_organisation())


@pytest.fixture
def submission(vera):
    submission = send(vera.memberships.get().organisation, log_bytes("four-us"), vera)
    sweep()
    return Submission.objects.get(pk=submission.pk)


def state(submission):
    return with_state(Submission.objects.filter(pk=submission.pk)).get().state


def make_public(submission):
    Run.objects.update(visibility="public", published_at="2026-01-01T00:00Z")


@pytest.mark.parametrize("before", ["unreviewed", "embargoed"])
def test_a_run_that_is_not_public_is_retracted_and_leaves_the_review(submission, vera, before):
    Run.objects.update(visibility=before, tier="reviewed")
    withdraw_own(submission, vera, "wrong drive")
    run = Run.objects.get()
    assert (run.visibility, run.tier, state(submission)) == ("retracted", "vendor-reported", "retracted")
    assert not Run.objects.public().exists()
    event = Event.objects.get(kind="run-retracted")
    assert (event.actor, event.reason, event.details) == (vera, "wrong drive", {"before": before, "after": "retracted"})


def test_a_public_run_is_withdrawn_and_stays_readable(submission, vera):
    make_public(submission)
    withdraw_own(submission, vera, "wrong drive")
    assert Run.objects.get().visibility == "withdrawn"
    assert not may_withdraw(submission)
    assert not may_return(submission)


def test_no_reviewer_publishes_a_retracted_run(submission, vera):
    withdraw_own(submission, vera, "wrong drive")
    with pytest.raises(ReviewRefusedError):
        review.publish(submission, make_user("rita", is_reviewer=True))
    assert Run.objects.get().visibility == "retracted"


def test_a_retracted_run_returns_to_review(submission, vera):
    withdraw_own(submission, vera, "wrong drive")
    assert may_return(submission)
    return_own(submission, vera)
    assert (Run.objects.get().visibility, state(submission)) == ("unreviewed", "awaiting-identity")
    with pytest.raises(ReviewRefusedError):
        return_own(submission, vera)


def test_a_withdrawal_needs_a_reason_and_changes_nothing_without_one(submission, vera):
    with pytest.raises(ReviewRefusedError, match="Enter a reason"):
        withdraw_own(submission, vera, " ")
    assert Run.objects.get().visibility == "unreviewed"


def test_one_run_can_be_withdrawn_alone(submission, vera):
    run = Run.objects.get()
    with pytest.raises(ReviewRefusedError):
        withdraw_own(submission, vera, "wrong drive", "r-unknown")
    withdraw_own(submission, vera, "wrong drive", run.public_id)
    assert Run.objects.get().visibility == "retracted"
