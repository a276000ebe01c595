import gzip
import lzma

import pytest
import zstandard

from results import log_lines
from results.log_lines import numbered_lines
from tests.results.builders import make_organisation, send

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress, zstandard.compress])
def test_lines_keep_their_numbers_however_the_file_was_packed(evidence_dir, pack):
    log = send(make_organisation(), pack(b"one\ntwo\nthree\n")).log
    assert list(numbered_lines(log)) == [(1, b"one\n"), (2, b"two\n"), (3, b"three\n")]
    assert list(numbered_lines(log, 2, 2)) == [(2, b"two\n")]


@pytest.mark.parametrize("length", [7, 8, 9, 24, 25])
def test_a_long_line_is_cut_and_counts_once(evidence_dir, monkeypatch, length):
    monkeypatch.setattr(log_lines, "LINE_BYTES", 8)
    long_line = b"x" * length + b"\n"
    log = send(make_organisation(), long_line + b"two\n").log
    assert list(numbered_lines(log)) == [(1, long_line[:8]), (2, b"two\n")]
