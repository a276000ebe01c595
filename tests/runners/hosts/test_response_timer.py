"""What is heard of a machine: where the waiting for it begins and ends."""

import pytest

from runners.hosts import response_timer as listening
from runners.hosts.response_timer import Ear


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(listening, "monotonic", lambda: now[0])

    def pass_s(seconds):
        now[0] += seconds

    return pass_s


@pytest.fixture
def ear(clock):
    return Ear()


def test_the_longest_time_between_two_bytes_is_kept(ear, clock):
    for seconds in (0.5, 3, 1):
        clock(seconds)
        ear.heard()
    assert ear.longest.length_s == 3
    assert ear.first_at < ear.last_at


def test_what_passes_between_two_questions_is_no_silence(ear, clock):
    clock(0.1)
    ear.heard()
    clock(60)
    ear.asked()
    clock(0.2)
    ear.heard()
    assert ear.longest.length_s == pytest.approx(0.2)


def test_to_sign_in_takes_its_time_and_is_no_silence(ear, clock):
    clock(0.5)
    ear.reached()
    clock(4)
    ear.signed_in()
    clock(0.3)
    ear.heard()
    assert ear.longest.length_s == 0.5
    assert ear.first_at < ear.last_at


def test_until_a_connection_is_taken_the_machine_is_waited_for(ear, clock):
    clock(7)
    ear.reached()
    ear.signed_in()
    assert ear.longest.length_s == 7
    assert (ear.longest.until - ear.longest.since).total_seconds() == 7


def test_a_connection_that_is_taken_and_leads_to_no_session_is_no_answer(ear, clock):
    clock(20)
    ear.reached()
    assert (ear.longest, ear.first_at, ear.last_at) == (None, None, None)


def test_a_machine_that_was_not_heard_has_no_silence_with_two_ends(ear, clock):
    clock(20)
    assert (ear.longest, ear.first_at, ear.last_at) == (None, None, None)


@pytest.mark.parametrize(
    ("told", "worked_s", "tells"), [([5, 1200], 1.205, True), ([5, None], 0.005, False), ([], 0, True)]
)
def test_all_answers_of_a_trip_tell_how_long_was_worked_at_them(ear, told, worked_s, tells):
    for worked_ms in told:
        ear.has_worked(worked_ms)
    assert (ear.worked_s, ear.tells_work) == (pytest.approx(worked_s), tells)


def test_what_was_worked_in_one_exchange_explains_no_silence_of_another(ear, clock):
    """As a long log is fetched, piece by piece: the link is cut in one of many exchanges."""
    for seconds, worked_ms in ((0.4, 390), (8, 400), (0.4, 390), (9, 9000)):
        ear.asked()
        clock(seconds)
        ear.heard()
        ear.has_worked(worked_ms)
    assert ear.unexplained().length_s == pytest.approx(7.6)


def test_what_was_heard_of_the_question_before_is_forgotten(ear, clock):
    clock(5)
    ear.heard()
    ear.has_worked(None)
    ear.reached()
    ear.begin()
    ear.signed_in()
    assert (ear.unexplained(), ear.first_at, ear.worked_s, ear.tells_work) == (None, None, 0, True)
