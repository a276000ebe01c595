import importlib

import pytest
from django.apps import apps
from django.db import connection

from results.history import record_event, run_subject
from results.models import Approval, Run
from tests.results.builders import make_user
from tests.results.rows import from_a_log, judge, make_product, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_triggers():
    """Disable the triggers, which the release creates after the migration of the data."""
    with connection.cursor() as cursor:
        for table in ("results_approval", "results_run"):
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")


def migrate():
    importlib.import_module("results.migrations.0033_decisions_before_approvals").mark_and_approve(apps, None)


@pytest.mark.parametrize(
    ("state", "is_marked"),
    [("unreviewed", False), ("embargoed", False), ("public", True), ("withdrawn", True), ("superseded", True)],
)
def test_only_runs_that_were_public_before_are_marked(state, is_marked):
    product = make_product()
    successor = make_run(product) if state == "superseded" else None
    run = make_run(product, visibility=state, superseded_by=successor, predates_approvals=False, **from_a_log())
    record_event(make_user("rita"), "run-embargoed", run_subject(run))
    migrate()
    assert Run.objects.get(pk=run.pk).predates_approvals is is_marked


def test_a_run_under_embargo_gets_the_approval_of_its_reviewer():
    run = make_run(make_product(), visibility="embargoed", predates_approvals=False, **from_a_log())
    verdict, rita = judge(run, "pass"), make_user("rita")
    event = record_event(rita, "run-embargoed", run_subject(run))
    migrate()
    approval = Approval.objects.get()
    assert (approval.run, approval.reviewer, approval.verdict, approval.reading) == (run, rita, verdict, run.reading)
    assert (approval.reviews_needed, approval.carried_out_at, approval.step) == (1, event.at, "embargo")


def test_a_run_under_embargo_without_a_reviewer_is_marked():
    run = make_run(make_product(), visibility="embargoed", predates_approvals=False, **from_a_log())
    migrate()
    assert Run.objects.get(pk=run.pk).predates_approvals is True
