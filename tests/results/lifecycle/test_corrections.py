import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from results.errors import ReviewRefusedError
from results.lifecycle.corrections import annotate, correct, retract, take_back
from results.models import Annotation, Event, Run
from tests.results.builders import make_user
from tests.results.rows import from_a_log, make_product, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def rita(db):
    return make_user("rita", is_reviewer=True)


@pytest.fixture
def run(db):
    return make_run(make_product(), firmware="FW1")


def test_an_annotation_is_shown_until_it_is_retracted(run, rita):
    annotation = annotate(run, " made with a beta firmware ", rita)
    assert list(run.annotations.current()) == [annotation]
    retract(annotation, rita, "it was not")
    assert not run.annotations.current().exists()
    assert list(Event.objects.values_list("kind", "reason")) == [
        ("run-annotated", "made with a beta firmware"),
        ("annotation-retracted", "it was not"),
    ]
    annotate(run, "made with a beta firmware", rita)
    assert Annotation.objects.count() == 2


def test_the_same_annotation_is_stored_once(run, rita):
    annotate(run, "beta firmware", rita)
    with pytest.raises(ReviewRefusedError, match="already"):
        annotate(run, "beta firmware", rita)


def test_an_annotation_is_retracted_once_and_with_a_reason(run, rita):
    annotation = annotate(run, "beta firmware", rita)
    with pytest.raises(ReviewRefusedError, match="reason is needed"):
        retract(annotation, rita, "")
    retract(annotation, rita, "no")
    with pytest.raises(ReviewRefusedError, match="retracted already"):
        retract(annotation, rita, "no")


def test_a_reviewer_cannot_correct_or_clear_their_own_run(rita):
    run = make_run(make_product(), **from_a_log())
    run.submission.submitted_by = rita
    run.submission.save()
    annotation = annotate(run, "beta firmware", rita)
    with pytest.raises(ReviewRefusedError, match="another reviewer"):
        retract(annotation, rita, "it was not")
    with pytest.raises(ReviewRefusedError, match="another reviewer"):
        correct(run, {"firmware": "FW2"}, rita, "a slip")


def test_a_correction_records_both_values_and_can_be_reversed(run, rita):
    event = correct(run, {"firmware": "FW2", "over_provisioning_pct": None}, rita, "a slip")
    assert event.details == {"changes": {"firmware": ["FW1", "FW2"]}}
    assert Run.objects.get(pk=run.pk).firmware == "FW2"
    take_back(event, rita, "no slip")
    assert Run.objects.get(pk=run.pk).firmware == "FW1"
    assert Event.objects.filter(kind="correction-taken-back").get().reason == "no slip"


def test_a_correction_with_a_later_one_cannot_be_reversed(run, rita):
    first = correct(run, {"firmware": "FW2"}, rita, "a slip")
    correct(run, {"firmware": "FW3"}, rita, "another slip")
    with pytest.raises(ReviewRefusedError, match="firmware was changed since"):
        take_back(first, rita, "no slip")


@pytest.mark.parametrize(
    ("stated", "reason", "complaint"),
    [
        ({"tps": 1}, "faster", "Not corrected by hand: tps"),
        ({"firmware": "FW1"}, "the same", "already has these values"),
        ({"firmware": "FW2"}, " ", "reason is needed"),
    ],
)
def test_an_invalid_correction_is_refused(run, rita, stated, reason, complaint):
    with pytest.raises(ReviewRefusedError, match=complaint):
        correct(run, stated, rita, reason)
    assert not Event.objects.exists()


def test_a_retraction_locks_the_run_so_that_tables_see_it_or_are_told(run, rita):
    annotation = annotate(run, "a remark", rita)
    with CaptureQueriesContext(connection) as queries:
        retract(annotation, rita, "no")
    statements = [query["sql"] for query in queries]
    locks = [place for place, sql in enumerate(statements) if "FOR UPDATE" in sql and "results_run" in sql]
    changes = [place for place, sql in enumerate(statements) if sql.startswith('UPDATE "results_annotation"')]
    assert locks[0] < changes[0]
