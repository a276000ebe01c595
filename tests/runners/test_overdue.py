"""Programs beyond their time: asked to end, and said so only where they ended for that."""

from datetime import timedelta

import pytest
from django.utils import timezone

from runners.looks import look
from runners.models import Dispatch
from runners.states import State

pytestmark = pytest.mark.django_db


@pytest.fixture
def overdue(dispatch, connect, fake, settings):
    """A run whose time was over for longer than is waited, and that nobody has looked at since."""
    look(dispatch.pk, connect)
    fake.write_log(dispatch.public_id)
    begun = timezone.now() - timedelta(seconds=dispatch.duration_s + settings.RUN_OVERDUE_S + 1)
    Dispatch.objects.update(started_at=begun)
    return dispatch


def end_of(dispatch, connect):
    look(dispatch.pk, connect)
    dispatch.refresh_from_db()
    return dispatch.state, dispatch.reason


@pytest.mark.parametrize(
    ("exit_status", "end"), [(0, State.DONE), (4, State.DONE), (3, State.FAILED), (5, State.FAILED)]
)
def test_a_run_that_ended_while_the_register_was_away_was_not_asked_to(overdue, connect, fake, exit_status, end):
    fake.end(overdue.public_id, exit_status)
    state, reason = end_of(overdue, connect)
    assert state == end
    assert "asked to end" not in reason
    assert not any("asked to end" in step.reason for step in overdue.steps.all())


def test_a_run_that_was_asked_to_end_and_did_says_so(overdue, connect, settings):
    state, reason = end_of(overdue, connect)
    assert state == State.FAILED
    assert f"asked to end, {settings.RUN_OVERDUE_S} s after the ordered {overdue.duration_s} s" in reason


def test_a_run_that_came_to_its_own_end_though_it_was_asked_was_not_stopped(overdue, connect, fake):
    fake.ignores_stop = True
    assert end_of(overdue, connect)[0] == State.RUNNING
    fake.end(overdue.public_id, 0)
    assert end_of(overdue, connect) == (State.DONE, "finished")
