"""The migration of slices: it preserves every count and is reversible."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from results.models import Run, Slice

BEFORE = [("results", "0017_earlier_results")]
# Rows by histogram and slice as before: the second slice lacks the first histogram, and ordinal 1 has no rows.
OLD = {(0, 1): [5, 0, 7], (2, 1): [1], (2, 2): [], (2, 4): [0, 2**62]}
NEW = {
    1: [[5, 0, 7], [None, None, None], [1, 0, 0]],
    2: [[None], [None], [0]],
    4: [[None, None], [None, None], [0, 2**62]],
}


def migrate(state):
    executor = MigrationExecutor(connection)
    executor.migrate(state)
    return executor.loader.project_state(state).apps


def old_rows(apps):
    place = ("start_s", "end_s", "first_line", "last_line")
    fields = ("histogram__run", "histogram__ordinal", "number", "counts", "ops_count", *place)
    return sorted(apps.get_model("results", "Slice").objects.values_list(*fields))


def add_old_run(apps, ordinals):
    """A run as it was stored before, with these of its histograms."""
    run = apps.get_model("results", "Run").objects.create(tier="reviewed", statistic="worst-slice")
    by_ordinal = {place: run.histograms.create(ordinal=place, name="h", ops_count=0, counts=[]) for place in ordinals}
    for (ordinal, number), counts in OLD.items():
        place = {"start_s": number, "end_s": number + 1, "first_line": 2 * number, "last_line": 2 * number + 1}
        by_ordinal[ordinal].slices.create(number=number, counts=counts, ops_count=sum(counts), **place)


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_rows_of_histograms_become_rows_of_their_run_and_can_be_restored():
    # Of all apps: the reversal also reverses every migration that depends on it.
    newest = MigrationExecutor(connection).loader.graph.leaf_nodes()
    apps = migrate(BEFORE)
    for ordinals in ((0, 2), (0, 1, 2)):
        add_old_run(apps, ordinals)
    before = old_rows(apps)
    migrate(newest)
    assert Run.objects.count() == 2
    for run in Run.objects.all():
        assert {each.number: each.counts for each in run.slices.all()} == NEW
        rows = run.slices.order_by("number").values_list("start_s", "last_line")
        assert list(rows) == [(1, 3), (2, 5), (4, 9)]
    assert old_rows(migrate(BEFORE)) == before
    migrate(newest)
    assert [each.counts for each in Slice.objects.filter(number=4)] == [NEW[4]] * 2
