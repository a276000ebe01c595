"""Waits for a host: their beginnings and ends."""

import pytest

from runners.hosts import protocol
from runners.hosts.protocol import ResponseTimer


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(protocol, "monotonic", lambda: now[0])

    def pass_s(seconds):
        now[0] += seconds

    return pass_s


@pytest.fixture
def timer(clock):
    return ResponseTimer()


def test_the_longest_wait_between_two_bytes_is_recorded(timer, clock):
    for seconds in (0.5, 3, 1):
        clock(seconds)
        timer.bytes_received()
    assert timer.longest.length_s == 3
    assert timer.first_byte_at < timer.last_byte_at


def test_the_time_between_two_requests_is_no_wait(timer, clock):
    clock(0.1)
    timer.bytes_received()
    clock(60)
    timer.request_sent()
    clock(0.2)
    timer.bytes_received()
    assert timer.longest.length_s == pytest.approx(0.2)


def test_the_time_of_a_login_is_no_wait(timer, clock):
    clock(0.5)
    timer.connection_accepted()
    clock(4)
    timer.signed_in()
    clock(0.3)
    timer.bytes_received()
    assert timer.longest.length_s == 0.5
    assert timer.first_byte_at < timer.last_byte_at


def test_the_wait_ends_when_the_connection_is_accepted(timer, clock):
    clock(7)
    timer.connection_accepted()
    timer.signed_in()
    assert timer.longest.length_s == 7
    assert (timer.longest.until - timer.longest.since).total_seconds() == 7


def test_an_accepted_connection_without_a_session_is_no_answer(timer, clock):
    clock(20)
    timer.connection_accepted()
    assert (timer.longest, timer.first_byte_at, timer.last_byte_at) == (None, None, None)


def test_a_host_without_an_answer_has_no_completed_wait(timer, clock):
    clock(20)
    assert (timer.longest, timer.first_byte_at, timer.last_byte_at) == (None, None, None)


@pytest.mark.parametrize(
    ("answers", "worked_s", "reports"), [([5, 1200], 1.205, True), ([5, None], 0.005, False), ([], 0, True)]
)
def test_the_work_of_all_answers_of_an_exchange_is_added_up(timer, answers, worked_s, reports):
    for worked_ms in answers:
        timer.add_work(worked_ms)
    assert (timer.worked_s, timer.reports_work) == (pytest.approx(worked_s), reports)


def test_work_in_one_exchange_does_not_explain_a_wait_in_another(timer, clock):
    """A long log is fetched in many exchanges, and the link is cut in one of them."""
    for seconds, worked_ms in ((0.4, 390), (8, 400), (0.4, 390), (9, 9000)):
        timer.request_sent()
        clock(seconds)
        timer.bytes_received()
        timer.add_work(worked_ms)
    assert timer.longest_unexplained().length_s == pytest.approx(7.6)


def test_a_reset_forgets_the_times_of_the_previous_request(timer, clock):
    clock(5)
    timer.bytes_received()
    timer.add_work(None)
    timer.connection_accepted()
    timer.reset()
    timer.signed_in()
    assert (timer.longest_unexplained(), timer.first_byte_at, timer.worked_s, timer.reports_work) == (
        None,
        None,
        0,
        True,
    )
