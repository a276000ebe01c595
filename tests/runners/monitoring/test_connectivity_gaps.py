"""Gaps in the sight of a running program, and how many of them its history keeps."""

from datetime import timedelta

import pytest
from django.utils import timezone

from runners.hosts.response_timer import ResponseTimer, WaitPeriod
from runners.lifecycle.transitions import transition
from runners.models.states import WORKER, State
from runners.monitoring import connectivity
from tests.runners.lab import see

pytestmark = pytest.mark.django_db


@pytest.fixture
def waits(monkeypatch):
    """Let each answer to `status` come after so many seconds, as over SSH."""

    def wait(fake, seconds):
        answer = fake.status
        fake.timer = ResponseTimer()

        def late(run):
            fake.timer.longest = WaitPeriod(timezone.now() - timedelta(seconds=seconds), seconds)
            return answer(run)

        monkeypatch.setattr(fake, "status", late)

    return wait


def entries(dispatch):
    return [step.reason for step in dispatch.steps.filter(from_state=State.RUNNING, to_state=State.RUNNING)]


@pytest.mark.parametrize(("seconds", "is_told"), [(0.99, False), (1.0, True), (12, True)])
def test_an_answer_that_came_late_is_a_gap_though_no_look_failed(running, connect, fake, waits, seconds, is_told):
    waits(fake, seconds)
    assert see(running, connect) == State.RUNNING
    assert running.outages_count == is_told
    assert len(entries(running)) == is_told
    if is_told:
        assert (
            f"no answer from local for {connectivity.format_seconds(round(seconds * 1000))} s, since "
            in entries(running)[0]
        )


def test_looks_that_failed_and_the_late_answer_after_them_are_one_gap(running, connect, fake, waits):
    fake.is_silent = True
    see(running, connect)
    fake.is_silent = False
    waits(fake, 3)
    see(running, connect)
    assert (running.outages_count, len(entries(running))) == (1, 1)


def test_a_link_that_flaps_fills_no_history(running, connect, fake):
    for _ in range(60):
        fake.is_silent = True
        see(running, connect)
        fake.is_silent = False
        see(running, connect)
    assert running.outages_count == 60
    assert len(entries(running)) == connectivity.LISTED_INDIVIDUALLY + 2  # the 20th and the 50th
    assert "; 50 outages, " in entries(running)[-1]


@pytest.mark.parametrize(("count", "is_told"), [(0, False), (10, False), (37, True), (50, False)])
def test_the_end_tells_all_gaps_where_the_last_one_has_no_entry(in_state, count, is_told):
    dispatch = in_state(State.RUNNING, outages_count=count, outages_ms=61_500)
    transition(dispatch, State.RUNNING, State.FAILED, WORKER, "it failed")
    assert entries(dispatch) == ([f"{count} outages, 62 s in all"] if is_told else [])


@pytest.mark.parametrize(("length_ms", "said"), [(1_400, "1.4"), (9_949, "9.9"), (31_400, "31"), (1_800_000, "1,800")])
def test_a_length_is_told_in_seconds(length_ms, said):
    assert connectivity.format_seconds(length_ms) == said
