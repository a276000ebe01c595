"""The state of a submission of several runs: it is in review while one of its runs waits for a reviewer."""

from itertools import combinations_with_replacement
from itertools import product as product_of

import pytest
from django.db import connection

from results.errors import ReviewRefusedError
from results.lifecycle import visibility
from results.lifecycle.review import decline, publish
from results.lifecycle.submission_states import (
    DECLINED_KIND,
    INDEXED,
    RECALLED_KIND,
    REVIEWABLE,
    UNFINISHED,
    SubmissionState,
    in_states,
    with_state,
)
from results.models import Event, Evidence, Reading, Run, Submission, Visibility
from tests.database import rows_read
from tests.results.builders import make_organisation, make_user
from tests.results.rows import from_a_log, make_product, make_run

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


READINGS = (None, "pending", "reading", "failed", "done")
RUNS = [case for count in range(3) for case in combinations_with_replacement(Visibility.values, count)]
DECISIONS = ((), ("declined",), ("declined", "recalled"))
ENDED = Visibility.SUPERSEDED


def every_case(organisation, product):
    """Store a submission for each combination of a reading, runs, decisions, an example and a product."""
    cases = list(product_of(READINGS, RUNS, DECISIONS, ("", "demo"), (None, product)))
    logs = Evidence.objects.bulk_create(
        Evidence(organisation=organisation, sha256=f"{number:064x}", size_bytes=1) for number in range(len(cases))
    )
    submissions = Submission.objects.bulk_create(
        # A process of the earlier release does not set has_runs.
        Submission(organisation=organisation, origin="form", log=log, demo_run_id=demo and f"demo-{number}",
                   product=named, has_runs=bool(runs) and number % 3 > 0)
        for number, (log, (_, runs, _, demo, named)) in enumerate(zip(logs, cases, strict=True))
    )  # fmt: skip
    Reading.objects.bulk_create(
        Reading(evidence=log, reader_version="1", state=state)
        for log, (state, *_) in zip(logs, cases, strict=True)
        if state
    )
    successor = make_run(product)
    all_runs, events = [], []
    for submission, (_, visibilities, decisions, _, named) in zip(submissions, cases, strict=True):
        runs = [
            Run(submission=submission, product=named, visibility=each, tier="reviewed", statistic="worst-slice",
                superseded_by=successor if each == ENDED else None, predates_approvals=True)
            for each in visibilities
        ]  # fmt: skip
        all_runs += runs
        for decision in decisions:
            subject = ("submission", submission.public_id)
            if decision == "recalled":
                subject = ("run", runs[0].public_id if runs else "r-none")
            events.append(
                Event(kind=DECLINED_KIND if decision == "declined" else RECALLED_KIND, subject_type=subject[0],
                      subject_id=subject[1])
            )  # fmt: skip
    Run.objects.bulk_create(all_runs)
    Event.objects.bulk_create(events)


def analyse():
    """Update the planner's statistics, and keep them: autovacuum cannot see rows of this transaction, and counts none.

    With its counts, each query of a thousand submissions takes a minute.
    """
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE results_submission, results_run, results_reading, results_event")


def test_submissions_of_every_combination_are_found_by_their_states(db):
    every_case(make_organisation(), make_product())
    analyse()
    states = dict(with_state(Submission.objects.all()).values_list("pk", "state"))
    for wanted in (REVIEWABLE, UNFINISHED, INDEXED, *({each} for each in SubmissionState)):
        found = in_states(Submission.objects.all(), wanted).values_list("pk", flat=True)
        assert set(found) == {pk for pk, state in states.items() if state in wanted} != set(), wanted
        assert len(found) == len(set(found)), wanted


def test_the_queue_does_not_read_submissions_that_have_ended(submission):
    def read(submissions):
        analyse()
        return rows_read(lambda: list(submissions))

    waiting = in_states(Submission.objects.all(), INDEXED)
    few = read(waiting.all())
    add_published(make_organisation("other"), make_product(), 2000)
    assert read(waiting.all()) <= few + 50
    assert read(with_state(Submission.objects.all()).filter(state__in=INDEXED)) > 4000
    assert [each.pk for each in waiting] == [submission.pk]


def test_a_page_of_submissions_reads_only_their_runs(submission):
    add_published(make_organisation("other"), make_product(), 2000)
    analyse()
    assert rows_read(lambda: list(with_state(Submission.objects.order_by("-pk"))[:10])) < 200


def add_published(organisation, product, count):
    logs = Evidence.objects.bulk_create(
        Evidence(organisation=organisation, sha256=f"{number:064x}", size_bytes=1) for number in range(count)
    )
    Reading.objects.bulk_create(Reading(evidence=log, reader_version="1", state="done") for log in logs)
    submissions = Submission.objects.bulk_create(
        Submission(organisation=organisation, origin="form", log=log, product=product, has_runs=True) for log in logs
    )
    Run.objects.bulk_create(
        Run(submission=each, product=product, visibility="public", tier="reviewed", statistic="worst-slice",
            predates_approvals=True)
        for each in submissions
    )  # fmt: skip
