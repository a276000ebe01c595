from datetime import timedelta

import pytest
from django.utils import timezone

from results.errors import ReviewRefusedError
from results.ingest.queue import sweep
from results.lifecycle.review import create_product, decline, publish
from results.lifecycle.review_claims import LONGEST, claim, claim_of, claimed_by, free_for, release, remove_old_claims
from results.lifecycle.submission_states import with_state
from results.models import ReviewClaim, Submission
from tests.results.builders import log_bytes, make_organisation, make_user, send
from tests.results.fixtures import evidence_dir, program, stand_in

__all__ = ["evidence_dir", "program", "stand_in"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def submission(evidence_dir, stand_in):
    submission = send(make_organisation(), log_bytes("four-us"))
    sweep()
    run = submission.runs.get()
    submission.runs.update(facts=run.facts | {"devices": [], "is_virtual_device": None})
    return submission


@pytest.fixture
def rita():
    return make_user("rita", is_reviewer=True)


@pytest.fixture
def rolf():
    return make_user("rolf", is_reviewer=True)


def age_claim(by):
    ReviewClaim.objects.update(claimed_at=timezone.now() - by)


def test_another_reviewer_claims_only_after_the_release(submission, rita, rolf):
    claim(submission, rita)
    claim(submission, rita)
    with pytest.raises(ReviewRefusedError, match="rita works on"):
        claim(submission, rolf)
    assert release(submission, rolf) is False
    assert release(submission, rita) is True
    claim(submission, rolf)
    assert claim_of(submission).reviewer == rolf


def test_a_claim_ends_after_a_day(submission, rita, rolf):
    claim(submission, rita)
    age_claim(LONGEST - timedelta(minutes=1))
    with pytest.raises(ReviewRefusedError):
        claim(submission, rolf)
    remove_old_claims()
    assert ReviewClaim.objects.count() == 1
    age_claim(LONGEST)
    assert claim_of(submission) is None
    remove_old_claims()
    assert not ReviewClaim.objects.exists()


@pytest.mark.parametrize("decide", [publish, lambda each, by: decline(each, by, "wrong drive")])
def test_a_decision_ends_the_own_claim(submission, rita, decide):
    create_product(submission, rita)
    claim(submission, rita)
    decide(submission, rita)
    assert not ReviewClaim.objects.exists()
    with pytest.raises(ReviewRefusedError, match="does not wait for a reviewer"):
        claim(submission, rita)


def test_the_queue_shows_what_is_free_and_what_is_claimed(submission, rita, rolf, settings):
    settings.REVIEWS_NEEDED = 2
    queue = with_state(Submission.objects.all())

    def shown():
        return [list(show(queue, person)) for person in (rita, rolf) for show in (free_for, claimed_by)]

    assert shown() == [[submission], [], [submission], []]
    claim(submission, rita)
    assert shown() == [[submission], [submission], [], []]
    create_product(submission, rita)
    publish(submission, rita)
    assert shown() == [[], [], [submission], []]
