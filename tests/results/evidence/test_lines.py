import gzip
import io
import lzma
import tarfile
import zipfile

import pytest
import zstandard

from results.evidence import lines as evidence_lines
from results.evidence.lines import NOT_LOOKED_UP, numbered_lines
from tests.results.builders import make_organisation, send

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress, zstandard.compress])
def test_line_numbers_do_not_depend_on_compression(evidence_dir, pack):
    log = send(make_organisation(), pack(b"one\ntwo\nthree\n")).log
    assert list(numbered_lines(log)) == [(1, b"one\n"), (2, b"two\n"), (3, b"three\n")]
    assert list(numbered_lines(log, 2, 2)) == [(2, b"two\n")]


@pytest.mark.parametrize("length", [7, 8, 9, 24, 25])
def test_a_long_line_is_truncated_and_counts_once(evidence_dir, monkeypatch, length):
    monkeypatch.setattr(evidence_lines, "LINE_BYTES", 8)
    long_line = b"x" * length + b"\n"
    log = send(make_organisation(), long_line + b"two\n").log
    assert list(numbered_lines(log)) == [(1, long_line[:8]), (2, b"two\n")]


def in_zip(content):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("other.log", b"other\n")
        archive.writestr("runs/load.log", content)
    return packed.getvalue()


def in_tar(content, mode="w"):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as archive:
        for name, text in [("other.log", b"other\n"), ("runs/load.log", content)]:
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text))
    return packed.getvalue()


@pytest.mark.parametrize("pack", [in_zip, in_tar, lambda text: in_tar(text, "w:gz"), lambda text: in_tar(text, "w:xz")])
@pytest.mark.parametrize("inner", [bytes, gzip.compress])
def test_lines_of_an_archive_member_are_numbered_within_the_member(evidence_dir, pack, inner):
    archive = send(make_organisation(), pack(inner(b"one\ntwo\nthree\n"))).log
    assert list(numbered_lines(archive, 2, 2, "runs/load.log")) == [(2, b"two\n")]


@pytest.mark.parametrize("pack", [in_zip, in_tar, bytes])
def test_a_missing_member_raises_an_error(evidence_dir, pack):
    archive = send(make_organisation(), pack(b"one\n")).log
    with pytest.raises(NOT_LOOKED_UP):
        list(numbered_lines(archive, member="load.log"))
