"""Files from hosts: at most as large as the intake accepts, and never in memory."""

import json
from io import BytesIO

import pytest

from results.evidence.store import TooLargeError
from runners.evidence.submit import submit_archive
from runners.hosts.machine import check_size, scratch_dir
from runners.hosts.ssh import SshHost
from tests.runners.ssh_host import ssh_host

pytestmark = pytest.mark.django_db
PIECE = b"x" * 1000


class EndlessHost:
    """A connection that answers each `read` with one more piece, without end."""

    pieces_count = 0

    def exchange(self, address, sent, within_s, timer):
        self.pieces_count += 1
        return json.dumps({"ok": None, "bytes": len(PIECE)}).encode() + b"\n" + PIECE


def test_an_endless_log_is_not_fetched_beyond_the_limit_of_the_intake(settings):
    settings.UPLOAD_MAX_BYTES = 5 * len(PIECE)
    endless = EndlessHost()
    with pytest.raises(TooLargeError, match="d-1/log: expected at most 5000 bytes"):
        SshHost(ssh_host(), endless).fetch("d-1", "log")
    assert endless.pieces_count == 6


def test_an_archive_is_not_filled_beyond_the_limit_of_the_intake(dispatch, settings):
    settings.UPLOAD_MAX_BYTES = 10_000
    fetched_pieces = []

    def members():
        for number in range(99):
            fetched_pieces.append(number)
            yield f"{number}.log", BytesIO(bytes(4000))

    with pytest.raises(TooLargeError):
        submit_archive(dispatch, members())
    assert len(fetched_pieces) == 3


@pytest.mark.parametrize(("size_bytes", "is_taken"), [(100, True), (101, False)])
def test_the_limit_is_that_of_the_intake(settings, size_bytes, is_taken):
    settings.UPLOAD_MAX_BYTES = 100
    try:
        check_size("log", size_bytes)
    except TooLargeError:
        assert not is_taken
    else:
        assert is_taken


def test_large_temporary_files_are_in_the_data_directory_and_private(settings):
    assert scratch_dir() == settings.LAB_DIR
    assert scratch_dir().stat().st_mode & 0o077 == 0
