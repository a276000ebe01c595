"""Outages of the register in the history of a run."""

from datetime import timedelta

import pytest
from django.utils import timezone

from runners.dispatch.failures import REGISTER_OUTAGE_S
from runners.models import Dispatch, HostOutage, Step
from runners.models.states import State
from tests.runners.lab import add_outage, poll_state
from webapp.lab.dispatches.page import history_of

pytestmark = pytest.mark.django_db


def age_heartbeat(dispatch, seconds):
    """Make the last successful poll older, as if no worker had run since."""
    heartbeat_at = timezone.now() - timedelta(seconds=seconds)
    Dispatch.objects.filter(pk=dispatch.pk).update(heartbeat_at=heartbeat_at)
    return heartbeat_at


def register_outages(dispatch):
    return list(dispatch.steps.filter(kind=Step.Kind.REGISTER_OUTAGE))


@pytest.mark.parametrize(("seconds", "count"), [(REGISTER_OUTAGE_S - 5, 0), (REGISTER_OUTAGE_S, 1), (7200, 1)])
def test_an_outage_of_the_register_is_one_line_in_the_history(running, connect, seconds, count):
    since = age_heartbeat(running, seconds)
    for _ in range(2):
        assert poll_state(running, connect) == State.RUNNING
    steps = register_outages(running)
    assert len(steps) == count
    if steps:
        assert steps[0].details["since"] == since.isoformat()
        assert f"no poll of this run succeeded for {seconds:,} s, since " in steps[0].reason
        assert [line.label for line in history_of(running) if line.detail == steps[0].reason] == ["outage"]


@pytest.mark.parametrize(("seconds", "count"), [(79, 0), (80, 1)])
def test_no_outage_is_recorded_while_the_next_poll_of_many_runs_is_not_due(
    running, connect, new_dispatch, settings, seconds, count
):
    settings.RUN_POLLS_PER_S = 0.1
    for number in range(3):
        Dispatch.objects.filter(pk=new_dispatch().pk).update(state=State.RUNNING, drive_key=f"loop:3:{number}")
    age_heartbeat(running, seconds)
    poll_state(running, connect)
    assert len(register_outages(running)) == count


def test_an_outage_of_the_host_meanwhile_is_not_attributed_to_the_register(running, connect):
    since = age_heartbeat(running, 600)
    add_outage(running, since, since + timedelta(seconds=590))
    poll_state(running, connect)
    assert register_outages(running) == []


def test_an_outage_of_the_host_before_the_last_answer_does_not_hide_that_of_the_register(running, connect):
    since = age_heartbeat(running, 600)
    add_outage(running, since - timedelta(seconds=90), since)
    poll_state(running, connect)
    assert len(register_outages(running)) == 1


def test_a_host_that_is_silent_after_an_outage_of_the_register_adds_no_second_line(running, connect, fake):
    age_heartbeat(running, 600)
    fake.is_silent = True
    for _ in range(3):
        poll_state(running, connect)
    assert len(register_outages(running)) == 1
    assert HostOutage.objects.filter(until=None).count() == 1
