"""Bulk insert with COPY, and the lock order for the rows of a log."""

import io
import re
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import DataError, IntegrityError, transaction
from django.utils import timezone

from results.ingest.queue import sweep
from results.ingest.rows import SLICE_COLUMNS
from results.intake.submissions import accept_submission
from results.models import Run, Slice
from results.models.row_operations import copy_rows
from results.reevaluation.recompute import Order, recompute
from results.reevaluation.slice_lengths import read_in_slices
from tests.results.builders import FACTS, log_bytes, make_organisation, make_user, send
from tests.results.reevaluation.test_recompute import add_stricter_profile

pytestmark = pytest.mark.django_db


@pytest.fixture
def run():
    return Run.objects.create(tier="vendor-reported", statistic="worst-slice")


def row(run, number, counts):
    return [run.pk, number, 0, 60, 1, 9, counts]


def test_copied_rows_equal_inserted_rows(run):
    written = [[[0, 2**63 - 1], [None, None]], [[None], [None]], []]
    copy_rows(Slice, SLICE_COLUMNS, [row(run, number, counts) for number, counts in enumerate(written)])
    assert list(Slice.objects.values_list("counts", flat=True)) == written


@pytest.mark.parametrize(("numbers", "count", "error"), [((1, 1), 1, IntegrityError), ((1, 2), 2**63, DataError)])
def test_an_invalid_row_is_refused_as_by_an_insert(run, numbers, count, error):
    with pytest.raises(error), transaction.atomic():
        copy_rows(Slice, SLICE_COLUMNS, [row(run, number, [[count]]) for number in numbers])
    assert not Slice.objects.exists()


pytestmark = pytest.mark.django_db
IN_ORDER = ["results_reading", "results_submission", "results_run"]
LOCKED = re.compile(r'UPDATE "(\w+)"|SELECT .* FROM "(\w+)".* FOR (?:NO KEY )?UPDATE')


@pytest.fixture
def submission(evidence_dir, real_reader):
    vera = make_user("vera", make_organisation())
    submission = send(vera.memberships.get().organisation, log_bytes("four-us"), vera)
    sweep()
    return submission


def first_locked(queries):
    """Return the tables in the order in which rows of them are first locked."""
    found = [LOCKED.match(str(query["sql"])) for query in queries]
    return [name for name in dict.fromkeys(match[1] or match[2] for match in found if match) if name in IN_ORDER]


def test_a_second_submission_with_an_embargo_follows_the_lock_order(submission, connection_queries):
    until = timezone.now().replace(second=0, microsecond=0) + timedelta(days=1)
    with connection_queries() as queries:
        facts = replace(FACTS, embargo_until=until)
        again = io.BytesIO(log_bytes("four-us"))
        accept_submission(submission.organisation, again, "load.log", facts, "api", submission.submitted_by)
    assert first_locked(queries.captured_queries) == IN_ORDER[:2]


def test_a_re_evaluation_follows_the_lock_order(submission, connection_queries):
    add_stricter_profile()
    with connection_queries() as queries:
        assert recompute(Order(reason="other rules", is_dry=False)).cases
    assert first_locked(queries.captured_queries) == IN_ORDER


@pytest.mark.parametrize("is_failed", [False, True])
def test_a_reading_in_other_slices_follows_the_lock_order(submission, connection_queries, is_failed):
    if is_failed:
        submission.log.readings.update(state="failed", error={"id": "too-many-slices"})
    with connection_queries() as queries:
        read_in_slices(submission, 20, submission.submitted_by)
    assert first_locked(queries.captured_queries) == IN_ORDER
