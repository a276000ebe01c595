"""The column store after a change: equal to a new one, with only the changes read again."""

import gc
import resource
import weakref
from decimal import Decimal
from pathlib import Path

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from results.models import Annotation, Product, Run, Share, Verdict, Visibility
from tests.results.builders import other_session
from webapp.register.drives.store import column_store, row_reader
from webapp.register.drives.store.row_reader import RowReader

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader():
    """A reader that has read nothing."""
    return RowReader(column_store.column_encodings())


def store_contents(read):
    """Return the contents of a store, with texts in place of their codes."""
    columns = {code: (column, [column.word(row) for row in range(read.count)]) for code, column in read.columns.items()}
    return read.count, read.runs, read.slugs, columns, read.names.texts, read.remarks


def withdraw(runs):
    Run.objects.filter(pk=runs[1].pk).update(visibility=Visibility.WITHDRAWN)


def rename(runs):
    Product.objects.filter(pk=runs[0].product_id).update(model="AAA", endurance_dwpd=Decimal("0.3"))


def annotate(runs):
    Annotation.objects.create(run=runs[2], text="Seen twice.")


def evaluate_again(runs):
    Verdict.objects.create(
        run=runs[3],
        profile=runs[3].verdicts.get().profile,
        outcome="pass",
        headline="",
        document={},
        reader_version="1",
    )


def read_again(runs):
    runs[3].shares.all().delete()
    Share.objects.create(
        run=runs[3], statistic="worst-slice", threshold_us=1000, share_pct=Decimal("0.5"), printed="0.50"
    )


def correct_in_place(runs):
    Share.objects.filter(run=runs[1], threshold_us=1000).update(printed="0.11", share_pct=Decimal("0.11"))


def hide(runs):
    Run.objects.filter(pk=runs[0].pk).update(visibility=Visibility.UNREVIEWED)


def delete(runs):
    runs[1].shares.all().delete()
    runs[1].delete()


CHANGES = [withdraw, rename, annotate, evaluate_again, read_again, correct_in_place, hide, delete]


@pytest.fixture
def runs(make_published_run, make_log_run):
    """Three published results and one from a log."""
    shares = ({1000: "4.00"}, {1000: "0.10", 8000: "0.02"}, {1000: "4.00", 64000: "0.01"})
    return [*map(make_published_run, shares), make_log_run()]


@pytest.mark.parametrize("change", CHANGES)
def test_an_update_after_any_change_equals_a_store_built_from_scratch(reader, runs, change):
    before, version = store_contents(reader.store("before")), column_store.current_version()
    change(runs)
    after = store_contents(reader.store("after"))
    assert after == store_contents(RowReader(column_store.column_encodings()).store("after"))
    assert after != before
    assert column_store.current_version() != version


def test_a_retracted_annotation_is_removed(reader, runs):
    annotate(runs)
    before = reader.store("before")
    Annotation.objects.update(retracted_at="2026-01-01T00:00:00Z")
    after = reader.store("after")
    assert (list(before.remarks.values()), after.remarks) == ([[("annotation", "Seen twice.", "")]], {})


def test_a_new_result_gets_its_place_in_the_order(reader, runs, make_product, make_published_run):
    reader.store("before")
    make_published_run(product=make_product(vendor="Aardvark"), tps=Decimal(1))
    after = reader.store("after")
    assert store_contents(after) == store_contents(RowReader(column_store.column_encodings()).store("after"))
    assert (after.columns["vendor"].word(0), after.columns["tps"].words[0]) == ("Aardvark", "1")


def test_only_changed_results_are_read_again(reader, runs, monkeypatch):
    reader.store("before")
    read = []
    original = row_reader.remarks_of
    monkeypatch.setattr(row_reader, "remarks_of", lambda run: read.append(run.pk) or original(run))
    reader.store("the same")
    assert read == []
    withdraw(runs)
    reader.store("after")
    assert read == [runs[1].pk]


def test_an_unchanged_column_is_reused(reader, runs):
    before = reader.store("before")
    withdraw(runs)
    after = reader.store("after")
    assert after.columns["tps"] is before.columns["tps"]
    assert after.columns["visibility"].words == ("public", "withdrawn")


def test_the_number_of_queries_after_a_change_does_not_depend_on_the_rows(reader, runs, make_published_run):
    reader.store("before")
    counts = []
    for more in (1, 5):
        for _ in range(more):
            make_published_run()
        with CaptureQueriesContext(connection) as queries:
            reader.store("after")
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_a_store_without_results_is_empty(reader):
    assert reader.store("first").count == 0


def test_removing_the_last_result_leaves_an_empty_store(reader, make_published_run):
    run = make_published_run()
    assert reader.store("before").count == 1
    Run.objects.filter(pk=run.pk).update(visibility=Visibility.UNREVIEWED)
    assert store_contents(reader.store("after")) == store_contents(
        RowReader(column_store.column_encodings()).store("after")
    )


def test_only_a_small_table_is_read_while_nothing_has_changed(runs):
    column_store.current_store()
    with CaptureQueriesContext(connection) as queries:
        column_store.current_store()
    assert ["results_listingchange" in query["sql"] and "results_run" not in query["sql"] for query in queries] == [
        True
    ]


@pytest.mark.django_db(transaction=True)
def test_a_rolled_back_transaction_is_in_no_version(make_published_run):
    version, count = column_store.current_version(), column_store.current_store().count
    with transaction.atomic():
        make_published_run()
        assert column_store.current_version() != version
        assert column_store.current_store().count == count + 1
        transaction.set_rollback(True)
    assert column_store.current_version() == version
    assert column_store.current_store().count == count
    make_published_run()
    assert column_store.current_version() != version


SHARE = """
INSERT INTO results_share (run_id, statistic, threshold_us, share_pct, printed)
VALUES (%s, %s, %s, 1, '1.00') RETURNING id
"""


@pytest.mark.django_db(transaction=True)
def test_a_row_committed_after_one_with_a_higher_id_is_not_missed(reader, make_published_run):
    run = make_published_run({1000: "4.00"})
    with other_session() as late:
        late.autocommit = False
        (lower,) = late.execute(SHARE, [run.pk, run.statistic, 8000]).fetchone()
        higher = Share.objects.create(run=run, statistic=run.statistic, threshold_us=64000, share_pct=1, printed="1.00")
        version, before = column_store.current_version(), store_contents(reader.store("before"))
        late.commit()
    assert lower < higher.pk
    assert column_store.current_version() != version
    after = store_contents(reader.store("after"))
    assert after != before
    assert after == store_contents(RowReader(column_store.column_encodings()).store("after"))


@pytest.mark.django_db(transaction=True)
def test_a_reader_that_waited_gets_the_current_register(make_published_run, monkeypatch):
    make_published_run()
    column_store.current_store()
    original = column_store.current_version

    def version_before_a_change():
        found = original()
        make_published_run()  # while the first answer waits for its turn
        return found

    make_published_run()
    monkeypatch.setattr(column_store, "current_version", version_before_a_change)
    got = column_store.current_store()
    monkeypatch.undo()
    assert (got.count, got.version) == (3, original())
    assert column_store.current_store() is got


@pytest.mark.django_db(transaction=True)
def test_a_current_store_is_returned_while_another_is_built(make_published_run):
    make_published_run()
    kept = column_store.current_store()
    with column_store._building:
        assert column_store.current_store() is kept


def test_an_earlier_state_is_freed_at_once_after_a_change(client, runs):
    client.get("/drives/")
    earlier = weakref.ref(column_store.current_store())
    assert earlier().cache
    gc.collect()
    gc.disable()
    try:
        withdraw(runs)
        column_store.current_store()
        assert earlier() is None
    finally:
        gc.enable()


def test_freed_memory_is_returned_to_the_system():
    def resident_mb():
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6

    pieces = [bytes(2000) for _ in range(50_000)]
    full = resident_mb()
    kept = pieces[::100]  # between freed pieces, so that the allocator keeps their memory
    del pieces
    column_store.return_freed_memory()
    assert resident_mb() < full - 50
    del kept
