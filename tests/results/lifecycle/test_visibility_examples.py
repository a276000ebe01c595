"""Example runs have transitions of their own: no reviewer moves them, and no other run takes theirs."""

import pytest

from results.errors import ReviewRefusedError
from results.lifecycle import review, visibility
from results.lifecycle.submission_states import REVIEWABLE, SubmissionState, with_state
from results.models import Event, Submission, Visibility
from tests.results.builders import make_user
from tests.results.rows import from_a_log, make_product, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def rita(db):
    return make_user("rita", is_reviewer=True)


def make_example(state="unreviewed"):
    rows = from_a_log()
    Submission.objects.filter(pk=rows["submission"].pk).update(demo_run_id="demo-loop", origin="demo", is_virtual=True)
    return make_run(None, visibility=state, is_demo=True, is_virtual=True, **rows)


def test_an_example_is_shown_and_removed_with_an_event_each():
    run = make_example()
    visibility.show_example(run)
    run.refresh_from_db()
    assert (run.visibility, run.published_at is not None) == (Visibility.PUBLIC, True)
    visibility.remove_example(run, "on request")
    run.refresh_from_db()
    assert run.visibility == Visibility.UNREVIEWED
    kinds = Event.objects.filter(subject_id=run.public_id).order_by("pk").values_list("kind", "reason")
    assert list(kinds) == [("run-shown-as-example", ""), ("run-removed-as-example", "on request")]


@pytest.mark.parametrize(("state", "move"), [("public", "show_example"), ("unreviewed", "remove_example")])
def test_an_example_is_not_shown_twice_and_not_removed_twice(state, move):
    run = make_example(state)
    reasons = ("again",) if move == "remove_example" else ()
    with pytest.raises(ReviewRefusedError, match=f"is {state}"):
        getattr(visibility, move)(run, *reasons)


@pytest.mark.parametrize("name", ["withdraw", "reinstate", "recall", "unsupersede"])
def test_a_reviewer_moves_no_example(name, rita):
    run = make_example("public")
    assert visibility.allowed_transitions(run, rita) == []
    with pytest.raises(ReviewRefusedError, match=r"manage\.py demo --remove"):
        getattr(visibility, name)(run, rita, "because")


@pytest.mark.parametrize(("state", "move"), [("unreviewed", "show_example"), ("public", "remove_example")])
def test_no_other_run_becomes_an_example_or_leaves_as_one(state, move):
    run = make_run(make_product(), visibility=state)
    reasons = ("because",) if move == "remove_example" else ()
    with pytest.raises(ReviewRefusedError, match="is no example run"):
        getattr(visibility, move)(run, *reasons)
    run.refresh_from_db()
    assert run.visibility == state


@pytest.mark.parametrize("state", ["unreviewed", "public"])
def test_an_example_waits_for_no_reviewer_and_another_submission_does(state):
    example, other = make_example(state), make_run(None, visibility="unreviewed", **from_a_log())
    states = dict(with_state(Submission.objects.all()).values_list("pk", "state"))
    assert states == {example.submission_id: SubmissionState.EXAMPLE, other.submission_id: "awaiting-identity"}
    assert (SubmissionState.EXAMPLE in REVIEWABLE, SubmissionState.AWAITING_IDENTITY in REVIEWABLE) == (False, True)


def test_an_example_gets_no_product_and_another_submission_does(rita):
    product, example = make_product(), make_example()
    with pytest.raises(ReviewRefusedError, match="example of the register"):
        review.name_product(example.submission, product, rita)
    other = make_run(None, visibility="unreviewed", **from_a_log())
    review.name_product(other.submission, product, rita)
    other.refresh_from_db()
    assert other.product == product
