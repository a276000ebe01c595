"""The state of a submission of several runs: it is in review while one of its runs waits for a reviewer."""

import pytest

from results.errors import ReviewRefusedError
from results.lifecycle import visibility
from results.lifecycle.review import decline, publish
from results.lifecycle.submission_states import with_state
from results.models import Run, Submission
from tests.results.builders import make_user
from tests.results.rows import from_a_log, make_product

pytestmark = pytest.mark.django_db


@pytest.fixture
def rita(db):
    return make_user("rita", is_reviewer=True)


@pytest.fixture
def submission(db):
    """Return a log with three runs that no reviewer has seen."""
    product, of_log = make_product(), from_a_log()
    of_log["submission"].product = product
    of_log["submission"].save()
    for ordinal in range(3):
        Run.objects.create(product=product, ordinal=ordinal, tier="vendor-reported", statistic="worst-slice", **of_log)
    return Submission.objects.get()


def state_of(submission):
    return with_state(Submission.objects.filter(pk=submission.pk)).get().state


def show(submission, *visibilities):
    for run, state in zip(submission.runs.order_by("pk"), visibilities, strict=False):
        Run.objects.filter(pk=run.pk).update(visibility=state, predates_approvals=True)


@pytest.mark.parametrize("visibility", ["public", "embargoed", "withdrawn"])
def test_a_submission_with_one_waiting_run_is_in_review(submission, visibility):
    show(submission, visibility, visibility)
    assert state_of(submission) == "in-review"
    show(submission, visibility, visibility, visibility)
    assert state_of(submission) == {"public": "published"}.get(visibility, visibility)


def test_a_submission_with_one_run_recalled_from_its_embargo_is_in_review(submission, rita):
    show(submission, "embargoed", "embargoed", "embargoed")
    visibility.recall(submission.runs.first(), rita, "the wrong drive")
    assert state_of(submission) == "in-review"


def test_a_waiting_run_of_several_can_be_declined_and_then_published(submission, rita):
    show(submission, "public", "public")
    decline(submission, rita, "cut short")
    assert state_of(submission) == "published"
    publish(submission, rita)
    assert {run.visibility for run in submission.runs.all()} == {"public"}
    with pytest.raises(ReviewRefusedError, match="is published, or waits"):
        decline(submission, rita, "late")


def test_a_declined_run_that_is_recalled_waits_again(submission, rita):
    decline(submission, rita, "no product")
    assert state_of(submission) == "declined"
    show(submission, "embargoed", "embargoed", "embargoed")
    assert state_of(submission) == "embargoed"
    for run in submission.runs.all():
        visibility.recall(run, rita, "the wrong drive")
    assert state_of(submission) == "in-review"
    decline(submission, rita, "still the wrong drive")
    assert state_of(submission) == "declined"
