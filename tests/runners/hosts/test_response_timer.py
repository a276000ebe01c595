"""What is heard of a machine: where the waiting for it begins and ends."""

import pytest

from runners.hosts import response_timer as listening
from runners.hosts.response_timer import ResponseTimer


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(listening, "monotonic", lambda: now[0])

    def pass_s(seconds):
        now[0] += seconds

    return pass_s


@pytest.fixture
def timer(clock):
    return ResponseTimer()


def test_the_longest_time_between_two_bytes_is_kept(timer, clock):
    for seconds in (0.5, 3, 1):
        clock(seconds)
        timer.bytes_received()
    assert timer.longest.length_s == 3
    assert timer.first_byte_at < timer.last_byte_at


def test_what_passes_between_two_questions_is_no_silence(timer, clock):
    clock(0.1)
    timer.bytes_received()
    clock(60)
    timer.request_sent()
    clock(0.2)
    timer.bytes_received()
    assert timer.longest.length_s == pytest.approx(0.2)


def test_to_sign_in_takes_its_time_and_is_no_silence(timer, clock):
    clock(0.5)
    timer.connection_accepted()
    clock(4)
    timer.signed_in()
    clock(0.3)
    timer.bytes_received()
    assert timer.longest.length_s == 0.5
    assert timer.first_byte_at < timer.last_byte_at


def test_until_a_connection_is_taken_the_machine_is_waited_for(timer, clock):
    clock(7)
    timer.connection_accepted()
    timer.signed_in()
    assert timer.longest.length_s == 7
    assert (timer.longest.until - timer.longest.since).total_seconds() == 7


def test_a_connection_that_is_taken_and_leads_to_no_session_is_no_answer(timer, clock):
    clock(20)
    timer.connection_accepted()
    assert (timer.longest, timer.first_byte_at, timer.last_byte_at) == (None, None, None)


def test_a_machine_that_was_not_heard_has_no_silence_with_two_ends(timer, clock):
    clock(20)
    assert (timer.longest, timer.first_byte_at, timer.last_byte_at) == (None, None, None)


@pytest.mark.parametrize(
    ("told", "worked_s", "tells"), [([5, 1200], 1.205, True), ([5, None], 0.005, False), ([], 0, True)]
)
def test_all_answers_of_a_trip_tell_how_long_was_worked_at_them(timer, told, worked_s, tells):
    for worked_ms in told:
        timer.add_work(worked_ms)
    assert (timer.worked_s, timer.reports_work) == (pytest.approx(worked_s), tells)


def test_what_was_worked_in_one_exchange_explains_no_silence_of_another(timer, clock):
    """As a long log is fetched, piece by piece: the link is cut in one of many exchanges."""
    for seconds, worked_ms in ((0.4, 390), (8, 400), (0.4, 390), (9, 9000)):
        timer.request_sent()
        clock(seconds)
        timer.bytes_received()
        timer.add_work(worked_ms)
    assert timer.longest_unexplained().length_s == pytest.approx(7.6)


def test_what_was_heard_of_the_question_before_is_forgotten(timer, clock):
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
