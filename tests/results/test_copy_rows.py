import pytest
from django.db import DataError, IntegrityError, transaction

from results.copy_rows import copy_rows
from results.ingest import SLICE_COLUMNS
from results.models import Histogram, Run, Slice

pytestmark = pytest.mark.django_db


@pytest.fixture
def histogram():
    run = Run.objects.create(tier="vendor-reported", statistic="worst-slice")
    return Histogram.objects.create(run=run, ordinal=0, name="reads", unit="us", ops_count=0, counts=[])


def row(histogram, number=1, counts=(1, 2)):
    return [histogram.pk, number, 0, 60, 1, 9, sum(counts), list(counts)]


def test_rows_are_as_if_they_had_been_inserted(histogram):
    copy_rows(Slice, SLICE_COLUMNS, [row(histogram, 1, [0, 2**63 - 1]), row(histogram, 2, [])])
    assert list(Slice.objects.values_list("number", "counts", "ops_count")) == [
        (1, [0, 2**63 - 1], 2**63 - 1),
        (2, [], 0),
    ]


@pytest.mark.parametrize(("numbers", "count", "error"), [((1, 1), 1, IntegrityError), ((1, 2), 2**63, DataError)])
def test_a_row_that_cannot_be_is_refused_as_an_insert_refuses_it(histogram, numbers, count, error):
    with pytest.raises(error), transaction.atomic():
        copy_rows(Slice, SLICE_COLUMNS, [row(histogram, number, [count]) for number in numbers])
    assert not Slice.objects.exists()
