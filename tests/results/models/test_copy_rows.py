import pytest
from django.db import DataError, IntegrityError, transaction

from results.ingest.act import SLICE_COLUMNS
from results.models import Run, Slice
from results.models.copy_rows import copy_rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def run():
    return Run.objects.create(tier="vendor-reported", statistic="worst-slice")


def row(run, number, counts):
    return [run.pk, number, 0, 60, 1, 9, counts]


def test_rows_are_as_if_they_had_been_inserted(run):
    written = [[[0, 2**63 - 1], [None, None]], [[None], [None]], []]
    copy_rows(Slice, SLICE_COLUMNS, [row(run, number, counts) for number, counts in enumerate(written)])
    assert list(Slice.objects.values_list("counts", flat=True)) == written


@pytest.mark.parametrize(("numbers", "count", "error"), [((1, 1), 1, IntegrityError), ((1, 2), 2**63, DataError)])
def test_a_row_that_cannot_be_is_refused_as_an_insert_refuses_it(run, numbers, count, error):
    with pytest.raises(error), transaction.atomic():
        copy_rows(Slice, SLICE_COLUMNS, [row(run, number, [[count]]) for number in numbers])
    assert not Slice.objects.exists()
