"""The guarantees of the evidence store, for each kind of it."""

import hashlib
import io
import tarfile
import zipfile

import pytest

from results.evidence import lines, staging
from results.evidence.base import StagedBytesLostError
from results.evidence.store import (
    EvidenceDamagedError,
    Stored,
    TooLargeError,
    addresses,
    local_files,
    open_address,
    store,
)
from results.intake.submissions import CompanionUpload, SubmissionMetadata, accept_submission
from results.models import Evidence
from results.models.ids import new_file_key
from tests.results.builders import make_organisation, sha256

pytestmark = pytest.mark.usefixtures("any_store")
PART = 8 * 1024**2
LARGE = hashlib.shake_128(b"a large file").digest(PART + 1)


def stage(*pieces):
    key, offset = new_file_key(), 0
    for piece in pieces:
        staging.append(key, offset, piece)
        offset += len(piece)
    return key, offset


def bytes_at(stored):
    with open_address(stored) as file:
        return file.read()


@pytest.mark.parametrize("content", [b"", b"a log", LARGE[:PART], LARGE], ids=["empty", "small", "a part", "two parts"])
def test_bytes_are_stored_once_under_their_hash(content):
    stored = store(io.BytesIO(content))
    assert stored == Stored(sha256(content), len(content))
    assert store(io.BytesIO(content)) == stored
    assert list(addresses(stored.sha256[:2])) == [stored]
    assert bytes_at(stored) == content


def test_the_limit_of_the_size_is_the_same(settings):
    settings.UPLOAD_MAX_BYTES = 3
    stored = store(io.BytesIO(b"abc"))
    with pytest.raises(TooLargeError, match="at most 3 bytes"):
        store(io.BytesIO(b"abcd"))
    assert list(addresses(stored.sha256[:2])) == [stored]


def test_missing_bytes_and_bytes_of_another_length_are_damaged_evidence():
    with pytest.raises(EvidenceDamagedError, match="restore a backup") as missing:
        open_address(Stored(sha256(b"abc"), 3))
    store(io.BytesIO(b"abc"))
    with pytest.raises(EvidenceDamagedError, match="expected 2 bytes, got 3") as longer:
        open_address(Stored(sha256(b"abc"), 2))
    assert (missing.value.found_bytes, longer.value.found_bytes) == (None, 3)


def test_files_are_read_from_every_place():
    stored = store(io.BytesIO(LARGE))
    with open_address(stored) as file:
        file.seek(PART - 2)
        assert file.read() == LARGE[-3:]
        file.seek(-5, io.SEEK_END)
        assert (file.tell(), file.read(2)) == (PART - 4, LARGE[-5:-3])
        file.seek(0)
        assert file.read(7) == LARGE[:7]
        file.seek(PART + 9)
        assert file.read() == b""


@pytest.mark.django_db
def test_lines_of_archives_are_found():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("filler", LARGE[:300_000])
        archive.writestr("log", b"one\ntwo\n")
    tarred = io.BytesIO()
    with tarfile.open(fileobj=tarred, mode="w:gz") as archive:
        member = tarfile.TarInfo("log")
        member.size = 8
        archive.addfile(member, io.BytesIO(b"one\ntwo\n"))
    for content in (packed.getvalue(), tarred.getvalue()):
        stored = store(io.BytesIO(content))
        row = Evidence(sha256=stored.sha256, size_bytes=stored.size_bytes)
        assert list(lines.numbered_lines(row, 2, member="log")) == [(2, b"two\n")]


@pytest.mark.django_db
def test_a_reader_gets_the_log_and_its_companions_as_files(stand_in):
    companions = [CompanionUpload(io.BytesIO(b"stderr"), "a/b\u00e9.err"), CompanionUpload(io.BytesIO(b"x"), "..")]
    receipt = accept_submission(
        make_organisation(), io.BytesIO(b"a log"), "log", SubmissionMetadata(), "api", None, companions=companions
    )
    with local_files(receipt.submission.log) as files:
        assert files.log.read_bytes() == b"a log"
        assert {path.name: path.read_bytes() for path in files.companions} == {
            "b\u00e9.err": b"stderr",
            "companion": b"x",
        }


@pytest.mark.parametrize(
    "pieces",
    [
        [b""],
        [b"0123", b"45", b"6"],
        [LARGE[: PART // 2], LARGE[PART // 2 : PART], LARGE[PART:]],
        [LARGE[:PART], LARGE[PART:]],
    ],
    ids=["empty", "small", "merged", "parts"],
)
def test_pieces_of_an_upload_become_evidence(pieces):
    content = b"".join(pieces)
    key, size_bytes = stage(*pieces)
    stored = staging.seal(key, size_bytes)
    assert stored == Stored(sha256(content), len(content))
    with staging.staged_file(key) as path:
        assert path.read_bytes() == content
    with staging.staged_file(key, "x.err") as path:
        assert (path.name, path.read_bytes()) == ("x.err", content)
    for _ in range(2):  # a submission that is repeated
        assert staging.adopt(staging.StagedBytes(key, stored)) == stored
    staging.remove(key)
    assert bytes_at(stored) == content
    with pytest.raises(StagedBytesLostError), staging.staged_file(key):
        pass


def test_a_piece_that_was_not_reported_is_replaced():
    key, _ = stage(b"0123")
    staging.append(key, 4, b"of a process that was killed")
    staging.append(key, 4, b"45")
    assert staging.seal(key, 6).sha256 == sha256(b"012345")
    key, _ = stage(LARGE[:PART])
    staging.append(key, PART, b"of a process that was killed")
    staging.append(key, PART, b"45")
    assert staging.seal(key, PART + 2).sha256 == sha256(LARGE[:PART] + b"45")


def test_lost_bytes_of_an_upload_are_noticed():
    key, _ = stage(b"0123")
    with pytest.raises(StagedBytesLostError):
        staging.append(key, 5, b"5")
    with pytest.raises(StagedBytesLostError, match="expected 5 bytes, got 4"):
        staging.seal(key, 5)
    with pytest.raises(StagedBytesLostError):
        staging.seal(new_file_key(), 5)


def test_results_of_readings_are_kept_until_they_are_removed():
    assert (staging.stored_result("k"), staging.result_size_bytes("k")) == (None, None)
    staging.store_result("k", b"first")
    staging.store_result("k", b"a document")
    assert staging.stored_result("k") == b"a document"
    assert staging.result_size_bytes("k") > 0
    staging.remove_result("k")
    staging.remove_result("k")
    assert staging.stored_result("k") is None


def test_young_files_are_no_leftovers(any_store):
    stage(b"0123")
    staging.store_result("k", b"a document")
    assert staging.leftovers() == ([], [])
    assert any_store.remove_abandoned() == 0
