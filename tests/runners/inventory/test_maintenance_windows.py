from datetime import timedelta

import pytest
from django.utils import timezone

from results.models import Event
from runners.dispatch.claim import claim
from runners.errors import RequestRefusedError
from runners.inventory.maintenance_windows import (
    current_and_planned,
    current_pause,
    end_window,
    plan_window,
    window_message,
)
from runners.models import Dispatch, Host
from runners.models.states import State
from tests.runners.lab import poll_state

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("period_s", "is_blocked"),
    [((-60, 60), True), ((60, 120), True), ((61, 120), False), ((-60, None), True), ((3600, None), False)],
)
def test_a_run_does_not_start_if_it_would_reach_into_a_window(
    dispatch, connect, staff, frozen_clock, period_s, is_blocked
):
    starts_in_s, ends_in_s = period_s
    starts_at = frozen_clock + timedelta(seconds=starts_in_s)
    ends_at = None if ends_in_s is None else frozen_clock + timedelta(seconds=ends_in_s)
    window = plan_window(dispatch.device.host, starts_at, ends_at, "new firmware", staff)
    assert claim(dispatch, connect) is not is_blocked
    if is_blocked:
        assert (dispatch.state, dispatch.waits_for) == (State.QUEUED, "window")
        assert dispatch.reason == f"{window_message(window)}; the run waits for its end"


def test_a_window_of_another_host_keeps_no_run_from_starting(dispatch, connect, staff):
    plan_window(Host.objects.create(name="lab-9", kind="local"), timezone.now(), None, "new fans", staff)
    assert claim(dispatch, connect)


def test_a_run_starts_when_the_window_is_over(dispatch, connect, staff, monkeypatch):
    now = timezone.now()
    plan_window(dispatch.device.host, now, now + HOUR, "new firmware", staff)
    assert not claim(dispatch, connect)
    monkeypatch.setattr(timezone, "now", lambda: now + HOUR)
    assert claim(dispatch, connect)


@pytest.mark.parametrize("state", [State.CLAIMED, State.PREPARING])
def test_a_run_that_was_claimed_before_a_window_does_not_start_in_it(in_state, connect, staff, fake, state):
    claimed = in_state(state)
    window = plan_window(claimed.device.host, timezone.now(), None, "new firmware", staff)
    assert poll_state(claimed, connect) == state
    assert window_message(window) in Dispatch.objects.get(pk=claimed.pk).reason
    end_window(window, staff)
    assert poll_state(claimed, connect) == State.RUNNING


def test_a_run_that_has_started_continues_in_a_window(running, connect, staff):
    plan_window(running.device.host, timezone.now(), None, "new firmware", staff)
    assert poll_state(running, connect) == State.RUNNING


def test_a_pause_of_the_lab_holds_each_host_until_it_is_resumed(dispatch, connect, staff):
    pause = plan_window(None, timezone.now(), None, "power cut", staff)
    assert current_pause() == pause
    assert not claim(dispatch, connect)
    assert dispatch.reason.startswith("the lab has maintenance from ")
    assert end_window(pause, staff)
    assert not end_window(pause, staff)
    assert current_pause() is None
    assert claim(dispatch, connect)
    assert [(event.kind, event.subject_type) for event in Event.objects.filter(subject_type="lab")] == [
        ("maintenance-planned", "lab"),
        ("maintenance-ended", "lab"),
    ]


def test_a_window_that_has_not_begun_can_be_called_off(dispatch, connect, staff):
    host, now = dispatch.device.host, timezone.now()
    window = plan_window(host, now + timedelta(seconds=30), now + HOUR, "new firmware", staff)
    assert list(current_and_planned(host)) == [window]
    assert end_window(window, staff)
    assert not current_and_planned(host).exists()
    assert claim(dispatch, connect)


@pytest.mark.parametrize(("hours", "reason"), [(1, " "), (0, "new fans"), (-1, "new fans")])
def test_a_window_needs_a_reason_and_an_end_that_is_still_to_come(device, staff, hours, reason):
    now = timezone.now()
    with pytest.raises(RequestRefusedError):
        plan_window(device.host, now - 2 * HOUR, now + hours * HOUR, reason, staff)
    assert not device.host.maintenance_windows.exists()


def test_a_run_without_an_ordered_time_starts_before_a_window(dispatch, connect, staff):
    Dispatch.objects.filter(pk=dispatch.pk).update(duration_s=None)
    dispatch.refresh_from_db()
    plan_window(dispatch.device.host, timezone.now() + timedelta(seconds=30), None, "new fans", staff)
    assert claim(dispatch, connect)
