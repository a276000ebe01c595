"""Versions on disk: one stands, whatever is interrupted, and old ones go."""

import json

import pytest

from webapp.register.pagecache import store
from webapp.register.pagecache.store import Entry, Writer

HEADERS = (("Content-Type", "text/html"),)


def entry(content, stamp="s"):
    return Entry("", "group", stamp, 1.0, (len(content), 0, 0), HEADERS)


def write(root, pages):
    writer = Writer(root)
    for path, content in pages.items():
        writer.add(path, entry(content), [content])
    return writer


def versions(root):
    return sorted(path.name for path in root.iterdir() if path.is_dir() and not path.is_symlink())


@pytest.fixture
def standing(tmp_path):
    return write(tmp_path, {"/": b"home", "/a/": b"page"}).publish()


def test_what_was_written_is_read(tmp_path, standing):
    found = store.current(tmp_path)
    assert found == standing
    assert (found.directory / found.entries["/a/"].file).read_bytes() == b"page"


def test_a_version_in_the_making_is_seen_by_nobody(tmp_path, standing):
    write(tmp_path, {"/": b"new"})
    assert store.current(tmp_path) == standing


def test_the_one_before_stays_for_who_reads_it_and_older_ones_go(tmp_path, standing):
    second = write(tmp_path, {"/": b"2"}).publish()
    third = write(tmp_path, {"/": b"3"}).publish()
    expected = sorted([standing.directory.name, second.directory.name, third.directory.name])
    assert store.current(tmp_path) == third
    assert len(versions(tmp_path)) <= 2 or versions(tmp_path) == expected  # of one second, names are in no order
    assert third.directory.name in versions(tmp_path)


def test_what_was_never_finished_is_removed_by_the_next_writer(tmp_path, standing):
    begun = tmp_path / "99991231T000000-000000"
    begun.mkdir()
    (tmp_path / "current.abc").symlink_to("nowhere")
    store.remove_unfinished(tmp_path)
    assert versions(tmp_path) == [standing.directory.name]
    assert not (tmp_path / "current.abc").is_symlink()


def test_removing_the_unfinished_where_nothing_stands_removes_all(tmp_path):
    (tmp_path / "20261121T000000-000000").mkdir()
    store.remove_unfinished(tmp_path)
    assert versions(tmp_path) == ["20261121T000000-000000"] or versions(tmp_path) == []


def test_a_page_is_taken_over_without_its_bytes_being_copied(tmp_path, standing):
    writer = Writer(tmp_path)
    assert writer.reuse("/", standing.entries["/"], standing)
    new = writer.publish()
    old_file, new_file = (each.directory / each.entries["/"].file for each in (standing, new))
    assert old_file.stat().st_ino == new_file.stat().st_ino


def test_a_file_that_was_cut_is_not_taken_over(tmp_path, standing):
    (standing.directory / standing.entries["/"].file).write_bytes(b"ho")
    assert not Writer(tmp_path).reuse("/", standing.entries["/"], standing)


@pytest.mark.parametrize("told", ["", "{", "{}", json.dumps({"format": 2})])
def test_an_index_that_cannot_be_read_is_no_snapshot(tmp_path, standing, told):
    (standing.directory / store.INDEX).write_text(told)
    assert store.current(tmp_path) is None


def test_groups_are_purged_once_and_stay_so(tmp_path, standing):
    store.purge(standing.directory, ["a", "*"])
    store.purge(standing.directory, ["a", "b"])
    assert (standing.directory / store.PURGED).read_text().splitlines() == ["*", "a", "b"]
    assert store.purged_of(standing.directory) == {"*", "a", "b"}
    assert store.purged_of(write(tmp_path, {"/": b"1"}).publish().directory) == frozenset()


def test_without_a_snapshot_there_is_nothing_to_purge_or_read(tmp_path):
    assert store.current(tmp_path / "none") is None
    store.purge(tmp_path / "none", ["a"])
    assert not (tmp_path / "none").exists()
