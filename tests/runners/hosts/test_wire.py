"""The answers of `drivetest host` and their times."""

import asyncio

import pytest

from runners.errors import FileMissingError, HostUnavailableError
from runners.hosts.protocol import ResponseTimer
from runners.hosts.ssh_connection import _read_all
from runners.hosts.wire import parse_responses


def test_a_host_reports_its_working_time_with_each_answer():
    answer = b'{"ok": 1, "bytes": 2, "worked_ms": 1204}\nab{"ok": 2, "bytes": 0}\n'
    first, second = parse_responses("lab-1", answer, 2)
    assert (first.content, first.worked_ms, second.worked_ms) == (b"ab", 1204, None)


def test_an_error_has_the_working_time_too():
    error = b'{"error": {"kind": "file-missing", "sentence": "none"}, "bytes": 0, "worked_ms": 0}\n'
    (response,) = parse_responses("lab-1", error, 1)
    assert isinstance(response.error, FileMissingError)
    assert response.worked_ms == 0


@pytest.mark.parametrize("worked_ms", ['"soon"', "null", "[]"])
def test_an_invalid_working_time_is_no_answer(worked_ms):
    with pytest.raises(HostUnavailableError, match="expected a response of drivetest host"):
        parse_responses("lab-1", b'{"ok": 1, "bytes": 0, "worked_ms": %s}\n' % worked_ms.encode(), 1)


def test_every_piece_of_an_answer_is_timed():
    class Stream:
        def __init__(self):
            self.left = [b"a", b"b", b""]

        async def read(self, most_bytes):
            times.append(timer.last_byte_at)
            return self.left.pop(0)

    times, timer = [], ResponseTimer()
    assert asyncio.run(_read_all(Stream(), 10, timer)) == b"ab"
    before, after_first, after_second = times
    assert before is None
    assert after_first <= after_second == timer.last_byte_at
