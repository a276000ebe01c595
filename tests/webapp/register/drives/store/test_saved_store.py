"""The file of the column store: a new process starts from it, and reads only what changed since it was written."""

import os
import pickle

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from results.lifecycle.listing_changes import current_state, current_version
from results.models import ListingChange, Run, Visibility
from tests.webapp.register.drives.store.test_column_store import CHANGES, runs, store_contents, withdraw
from webapp.register.drives.store import column_store, saved_store
from webapp.register.drives.store.row_reader import RowReader

__all__ = ["runs"]

pytestmark = pytest.mark.django_db


@pytest.fixture
def file(tmp_path, settings, monkeypatch):
    """The file of a machine whose register counts as large."""
    settings.COLUMN_STORE_DIR = tmp_path / "column-store"
    monkeypatch.setattr(saved_store, "SAVED_FROM_ROWS", 1)
    forget()
    yield saved_store.path()
    forget()


def forget():
    """Become a new process, which knows no row."""
    column_store._current.clear()
    column_store._reader.clear()


def new_store():
    """Return the store of a new process, and the statements that it needed."""
    forget()
    with CaptureQueriesContext(connection) as queries:
        store = column_store.current_store()
    return store, [query["sql"] for query in queries]


def read_from_rows():
    return store_contents(RowReader(column_store.column_encodings()).store(""))


def test_a_new_process_reads_no_run_if_nothing_has_changed(file, runs):
    first, _ = new_store()
    store, statements = new_store()
    assert store_contents(store) == store_contents(first)
    assert store.version == current_version()
    assert not [sql for sql in statements if "results_listingchange" not in sql]


@pytest.mark.parametrize("change", CHANGES)
def test_a_new_process_after_a_change_has_the_store_that_is_read_from_all_rows(file, runs, change):
    new_store()
    change(runs)
    store, _ = new_store()
    assert store_contents(store) == read_from_rows()
    assert store_contents(new_store()[0]) == read_from_rows()


def test_a_new_process_reads_only_the_run_that_changed(file, runs):
    new_store()
    withdraw(runs)
    _, statements = new_store()
    read = [sql for sql in statements if 'FROM "results_run"' in sql]
    assert len(read) == 1
    assert f"IN ({runs[1].pk})" in read[0]


def test_a_process_that_uses_the_file_keeps_no_reader(file, runs):
    new_store()
    assert column_store._reader == []


@pytest.mark.parametrize(("rows", "is_saved"), [(4, True), (5, False)])
def test_only_a_large_register_has_a_file(file, runs, monkeypatch, rows, is_saved):
    monkeypatch.setattr(saved_store, "SAVED_FROM_ROWS", rows)
    new_store()
    assert file.exists() is is_saved


@pytest.mark.parametrize(("rows", "is_saved"), [(4, True), (5, False)])
def test_the_file_of_a_large_register_is_prepared_before_its_first_page(file, runs, monkeypatch, rows, is_saved):
    monkeypatch.setattr(saved_store, "SAVED_FROM_ROWS", rows)
    column_store.prepare_file()
    assert file.exists() is is_saved


@pytest.mark.parametrize("content", [b"", b"\x80\x04", pickle.dumps({"release": "another"})])
def test_a_file_that_is_damaged_or_of_another_release_is_made_again(file, runs, content):
    store, _ = new_store()
    file.write_bytes(content)
    again, _ = new_store()
    assert store_contents(again) == store_contents(store)
    assert file.stat().st_size > len(content)


def test_a_file_whose_second_part_is_damaged_is_made_again_after_a_change(file, runs):
    new_store()
    content = file.read_bytes()
    file.write_bytes(content[: len(content) - 100])
    store, _ = new_store()
    assert store.count == len(runs)
    withdraw(runs)
    after, _ = new_store()
    assert store_contents(after) == read_from_rows()
    assert file.stat().st_size > len(content) / 2


def test_old_files_of_other_releases_are_removed(file, runs):
    file.parent.mkdir()
    old, recent = (file.with_name(f"columns-{name}.pickle") for name in ("old", "recent"))
    for each in (old, recent):
        each.write_bytes(b"")
    os.utime(old, (0, 0))
    new_store()
    assert sorted(file.parent.glob("*.pickle")) == sorted([file, recent])


def test_a_write_that_fails_leaves_no_part_of_a_file(file, runs, monkeypatch):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pickle, "dump", fail)
    store, _ = new_store()
    assert store.count == len(runs)
    assert list(file.parent.glob("columns-*")) == []


def test_without_a_writable_directory_rows_stay_in_memory(file, runs, settings, tmp_path):
    settings.COLUMN_STORE_DIR = tmp_path / "a file" / "below"
    (tmp_path / "a file").write_text("")
    store, _ = new_store()
    assert store.count == 4
    assert len(column_store._reader) == 1


def test_a_change_that_no_trigger_saw_one_by_one_makes_every_state_compared(file, runs):
    new_store()
    ListingChange.objects.create(run_id=None)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        Run.objects.filter(pk=runs[1].pk).update(visibility=Visibility.WITHDRAWN)
        cursor.execute("SET LOCAL session_replication_role = DEFAULT")
    assert store_contents(new_store()[0]) == read_from_rows()


def test_the_version_of_a_store_is_that_of_its_state(file, runs):
    assert new_store()[0].version == current_state().version == current_version()
