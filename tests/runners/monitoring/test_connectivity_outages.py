"""Outages of running dispatches, and how many of them the page lists."""

from datetime import timedelta

import pytest
from django.utils import timezone

from runners.hosts.protocol import ResponseTimer, WaitPeriod
from runners.models.states import State
from tests.runners.lab import add_outage, poll_state
from webapp.lab.shared.outages import LISTED_COUNT, format_seconds, outage_lines, outage_total_message

pytestmark = pytest.mark.django_db


@pytest.fixture
def delay_status(monkeypatch):
    """Delay each answer to `status` by some seconds, as over SSH."""

    def delay(fake, seconds):
        answer = fake.status
        fake.timer = ResponseTimer()

        def late(run):
            fake.timer.longest = WaitPeriod(timezone.now() - timedelta(seconds=seconds), seconds)
            return answer(run)

        monkeypatch.setattr(fake, "status", late)

    return delay


@pytest.mark.parametrize(("seconds", "is_late"), [(0.99, False), (1.0, True), (12, True)])
def test_a_late_answer_is_an_outage_although_no_poll_failed(running, connect, fake, delay_status, seconds, is_late):
    delay_status(fake, seconds)
    assert poll_state(running, connect) == State.RUNNING
    assert [outage.cause for outage in running.outages.all()] == (["late-answer"] if is_late else [])
    if is_late:
        length = format_seconds(timedelta(seconds=seconds))
        assert f"no answer from local for {length} s, since " in outage_lines(running)[0].detail


def test_failed_polls_and_the_late_answer_after_them_are_one_outage(running, connect, fake, delay_status):
    fake.is_silent = True
    poll_state(running, connect)
    fake.is_silent = False
    delay_status(fake, 3)
    poll_state(running, connect)
    assert [outage.cause for outage in running.outages.all()] == ["no-answer"]


def test_the_page_of_a_flapping_link_lists_a_few_outages_and_the_total(running, connect, fake):
    steps_count = running.steps.count()
    for _ in range(60):
        fake.is_silent = True
        poll_state(running, connect)
        fake.is_silent = False
        poll_state(running, connect)
    assert outage_total_message(running).startswith("60 outages, ")
    assert len(outage_lines(running)) == LISTED_COUNT
    assert running.steps.count() == steps_count


def test_the_total_includes_outages_that_an_earlier_release_only_counted(in_state):
    dispatch = in_state(State.RUNNING)
    now = timezone.now()
    add_outage(dispatch, now - timedelta(seconds=90), now - timedelta(seconds=30), count=27)
    add_outage(dispatch, now - timedelta(seconds=1.5), now)
    assert outage_total_message(dispatch) == "28 outages, 62 s"
    assert [line.detail.split(", since")[0] for line in outage_lines(dispatch)] == ["no answer from local for 1.5 s"]


@pytest.mark.parametrize(("length_ms", "text"), [(1_400, "1.4"), (9_949, "9.9"), (31_400, "31"), (1_800_000, "1,800")])
def test_a_length_is_formatted_in_seconds(length_ms, text):
    assert format_seconds(timedelta(milliseconds=length_ms)) == text
