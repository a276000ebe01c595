import errno
import io
import os
import resource
import shutil
import signal
import time
from pathlib import Path

import pytest

from results.evidence.base import LEFTOVER_AGE_S
from results.evidence.directory import MARK
from results.evidence.store import (
    EvidenceDamagedError,
    StoreError,
    StoreFullError,
    StoreUnavailableError,
    TooLargeError,
    configured_store,
    open_evidence,
    prepare_store,
    store,
)
from results.models import Evidence
from tests.results.builders import make_organisation, send
from tests.results.stored_files import files_below, path_of

ABC_SHA256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180-2, appendix B.1


def test_bytes_are_stored_under_their_hash(evidence_dir):
    stored = store(io.BytesIO(b"abc"))

    assert (stored.sha256, stored.size_bytes) == (ABC_SHA256, 3)
    assert files_below(evidence_dir) == [evidence_dir / "ba" / "78" / ABC_SHA256]
    assert path_of(ABC_SHA256).read_bytes() == b"abc"


def test_a_second_copy_of_the_same_bytes_leaves_the_first_file(evidence_dir):
    store(io.BytesIO(b"abc"))
    before = path_of(ABC_SHA256).stat()
    store(io.BytesIO(b"abc"))

    after = path_of(ABC_SHA256).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert len(files_below(evidence_dir)) == 1


def test_a_log_up_to_the_size_limit_is_accepted(evidence_dir, settings):
    settings.UPLOAD_MAX_BYTES = 3
    assert store(io.BytesIO(b"abc")).size_bytes == 3

    with pytest.raises(TooLargeError, match="at most 3 bytes"):
        store(io.BytesIO(b"abcd"))
    assert len(files_below(evidence_dir)) == 1


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC, errno.EROFS])
def test_a_result_that_cannot_be_written_leaves_no_file(evidence_dir, monkeypatch, number):
    def replace(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises((OSError, StoreError)):
        configured_store().put_result("r", b"packed")
    assert files_below(evidence_dir) == []


def test_a_full_file_system_leaves_no_partial_file(evidence_dir):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with pytest.raises(StoreFullError, match="no room"):
            store(io.BytesIO(bytes(100_001)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert files_below(evidence_dir) == []


STAGED, NEW = "a" * 32, "b" * 32


def name_evidence(stored):
    with configured_store().local_file(stored, "load.log") as path:
        return path.read_bytes()


def name_staged(_):
    with configured_store().staged_file(STAGED, "load.log") as path:
        return path.read_bytes()


def make_temporary(_):
    with configured_store().temporary_directory(NEW) as directory:
        return directory.is_dir()


@pytest.mark.parametrize(
    "step",
    [
        lambda _: configured_store().put(io.BytesIO(b"other bytes")),
        lambda _: configured_store().append(NEW, 0, b""),
        lambda _: configured_store().append(STAGED, 3, bytes(100_000)),
        lambda _: configured_store().adopt(STAGED, configured_store().seal(STAGED, 3)),
        lambda _: configured_store().put_result(NEW, b"result"),
        name_evidence,
        name_staged,
        make_temporary,
    ],
    ids=["put", "begin", "continue", "adopt", "result", "name evidence", "name a draft", "temporary directory"],
)
def test_each_step_on_a_full_disk_says_so_and_succeeds_later(small_disk, step):
    stored = configured_store().put(io.BytesIO(b"abc"))
    configured_store().append(STAGED, 0, b"def")
    with small_disk.filled(), pytest.raises(StoreFullError, match="no room"):
        step(stored)
    assert name_evidence(stored) == b"abc"
    assert name_staged(stored)[:3] == b"def"
    step(stored)
    assert not list((small_disk.directory / "incoming").iterdir())


class BrokenStream:
    """A stream that returns some bytes and then runs the action of a test."""

    def __init__(self, end):
        self.answers = iter([lambda: b"half", end])

    def read(self, size):
        return next(self.answers)()


def test_an_aborted_upload_leaves_no_file(evidence_dir):
    def reset():
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        store(BrokenStream(reset))
    assert files_below(evidence_dir) == []


def test_a_process_killed_while_storing_leaves_no_file_under_a_hash(evidence_dir):
    child = os.fork()
    if child == 0:
        store(BrokenStream(lambda: os.kill(os.getpid(), signal.SIGKILL)))
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    assert [path.parent.name for path in files_below(evidence_dir)] == ["incoming"]
    assert store(io.BytesIO(b"half")).size_bytes == 4


def test_evidence_is_returned_as_it_was_received(evidence_dir):
    stored = store(io.BytesIO(b"abc"))
    with open_evidence(Evidence(sha256=stored.sha256, size_bytes=3)) as file:
        assert file.read() == b"abc"


def test_missing_and_truncated_files_are_not_accepted_as_evidence(evidence_dir):
    row = Evidence(sha256=ABC_SHA256, size_bytes=3)
    with pytest.raises(EvidenceDamagedError, match="restore a backup"):
        open_evidence(row)
    store(io.BytesIO(b"abc"))
    path_of(ABC_SHA256).chmod(0o600)
    path_of(ABC_SHA256).write_bytes(b"ab")
    with pytest.raises(EvidenceDamagedError, match="expected 3 bytes, got 2"):
        open_evidence(row)


def test_an_incomplete_copy_is_removed_after_a_day(evidence_dir):
    store(io.BytesIO(b"abc"))
    young, old = evidence_dir / "incoming" / "young", evidence_dir / "incoming" / "old"
    for path, age_s in ((young, LEFTOVER_AGE_S - 60), (old, LEFTOVER_AGE_S + 60)):
        path.write_bytes(b"half")
        os.utime(path, (time.time() - age_s,) * 2)
    assert configured_store().remove_abandoned() == 1
    assert (young.exists(), old.exists()) == (True, False)
    assert path_of(ABC_SHA256).exists()


def test_a_directory_whose_file_system_is_not_mounted_takes_nothing(evidence_dir):
    evidence_dir.rename(evidence_dir.with_name("on the other file system"))
    evidence_dir.mkdir()
    with pytest.raises(StoreUnavailableError, match="mount its file system"):
        store(io.BytesIO(b"abc"))
    with pytest.raises(StoreUnavailableError, match="mount its file system"):
        configured_store().append("key", 0, b"abc")
    assert list(evidence_dir.iterdir()) == []
    evidence_dir.rmdir()
    evidence_dir.with_name("on the other file system").rename(evidence_dir)
    assert store(io.BytesIO(b"abc")).size_bytes == 3


@pytest.mark.django_db
def test_a_directory_of_an_earlier_release_gets_its_mark_if_it_has_the_newest_evidence(evidence_dir):
    send(make_organisation(), b"the log")
    (evidence_dir / MARK).unlink()
    prepare_store()
    assert (evidence_dir / MARK).exists()


@pytest.mark.django_db
def test_a_directory_without_the_newest_evidence_gets_a_mark_only_as_a_new_one(evidence_dir):
    send(make_organisation(), b"the log")
    shutil.rmtree(evidence_dir)
    with pytest.raises(StoreUnavailableError, match="mount its file system, or restore a backup"):
        prepare_store()
    prepare_store(is_new=True)
    assert (evidence_dir / MARK).exists()
