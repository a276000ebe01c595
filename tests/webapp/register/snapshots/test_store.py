"""Versions on disk: one is current after any interruption, and old ones are removed."""

import json

import pytest

from webapp.register.snapshots import store
from webapp.register.snapshots.store import Entry, Form, Responses, Writer

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
def current(tmp_path):
    return write(tmp_path, {"/": b"home", "/a/": b"page"}).publish()


def test_written_pages_can_be_read(tmp_path, current):
    found = store.current(tmp_path)
    assert found == current
    assert (found.directory / found.entries["/a/"].file).read_bytes() == b"page"


def test_an_unfinished_version_is_not_visible(tmp_path, current):
    write(tmp_path, {"/": b"new"})
    assert store.current(tmp_path) == current


def test_the_previous_version_stays_for_its_readers_and_older_ones_are_removed(tmp_path, current):
    second = write(tmp_path, {"/": b"2"}).publish()
    third = write(tmp_path, {"/": b"3"}).publish()
    expected = sorted([current.directory.name, second.directory.name, third.directory.name])
    assert store.current(tmp_path) == third
    assert len(versions(tmp_path)) <= 2 or versions(tmp_path) == expected  # of one second, names are in no order
    assert third.directory.name in versions(tmp_path)


def test_an_unfinished_version_is_removed_by_the_next_writer(tmp_path, current):
    begun = tmp_path / "99991231T000000-000000"
    begun.mkdir()
    (tmp_path / "current.abc").symlink_to("nowhere")
    store.remove_unfinished(tmp_path)
    assert versions(tmp_path) == [current.directory.name]
    assert not (tmp_path / "current.abc").is_symlink()


def test_removing_unfinished_versions_without_a_current_one_removes_all(tmp_path):
    (tmp_path / "20261121T000000-000000").mkdir()
    store.remove_unfinished(tmp_path)
    assert versions(tmp_path) == ["20261121T000000-000000"] or versions(tmp_path) == []


def test_an_unchanged_page_is_reused_without_copying_its_bytes(tmp_path, current):
    writer = Writer(tmp_path)
    assert writer.reuse("/", current.entries["/"], current)
    new = writer.publish()
    old_file, new_file = (each.directory / each.entries["/"].file for each in (current, new))
    assert old_file.stat().st_ino == new_file.stat().st_ino


def test_a_truncated_file_is_not_reused(tmp_path, current):
    (current.directory / current.entries["/"].file).write_bytes(b"ho")
    assert not Writer(tmp_path).reuse("/", current.entries["/"], current)


@pytest.mark.parametrize("index", ["", "{", "{}", json.dumps({"format": 2})])
def test_an_unreadable_index_is_no_snapshot(tmp_path, current, index):
    (current.directory / store.INDEX).write_text(index)
    assert store.current(tmp_path) is None


def test_groups_are_purged_once_and_stay_purged(tmp_path, current):
    store.purge(current.directory, ["a", "*"])
    store.purge(current.directory, ["a", "b"])
    assert (current.directory / store.PURGED).read_text().splitlines() == ["*", "a", "b"]
    assert store.purged_of(current.directory) == {"*", "a", "b"}
    assert store.purged_of(write(tmp_path, {"/": b"1"}).publish().directory) == frozenset()


def test_an_empty_store_has_nothing_to_purge_or_read(tmp_path):
    assert store.current(tmp_path / "none") is None
    store.purge(tmp_path / "none", ["a"])
    assert not (tmp_path / "none").exists()


def test_the_oldest_responses_make_room_for_a_new_one(monkeypatch):
    monkeypatch.setattr(store, "OVERHEAD_BYTES", 0)
    monkeypatch.setattr(store, "RESPONSES_MAX_BYTES", 20)
    responses = Responses(room_bytes=20)
    for address, size in (("/?a", 4), ("/?b", 6), ("/?b", 6), ("/?c", 8), ("/?d", 18)):
        responses.store(address, Form([], "", b"x" * size))
    assert [*responses.by_address] == ["/?b", "/?c"]
    assert responses.room_bytes == 0
    responses.store("/?e", Form([("Name", "value")], "", b""))
    assert [*responses.by_address] == ["/?e"]  # 12 bytes: the 9 of /?b are not enough
    responses.store("/?f", Form([], "", b"x" * 17))
    assert ([*responses.by_address], responses.room_bytes) == (["/?f"], 0)


def test_the_address_and_the_headers_of_a_response_take_room():
    responses = Responses()
    room = responses.room_bytes
    responses.store("/?" + "a" * 1000, Form([("Name", "value")], "", b"x"))
    assert room - responses.room_bytes == 1002 + 9 + 1 + store.OVERHEAD_BYTES
