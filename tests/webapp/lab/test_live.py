"""What the page of a dispatch says of a silent host, and of files that are gone."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from runners.moves import WORKER, move
from runners.states import State
from runners.troubles import beat

pytestmark = pytest.mark.django_db


def test_a_run_whose_host_is_silent_is_not_said_to_run(lab_client, in_state):
    last = timezone.now() - timedelta(seconds=42)
    dispatch = in_state(State.RUNNING, silent_since=last, heartbeat_at=last, reason="no answer, asking again: cut")
    text = lab_client.get(f"/lab/dispatches/{dispatch.public_id}/").text
    assert re.search(r"no answer from local for 4[2-9] s; its program may run on", text)
    assert "its program runs on the host" not in text


@pytest.mark.parametrize(("age_s", "is_said"), [(8, False), (12, True)])
def test_a_silence_is_said_from_the_second_missed_look_on(lab_client, in_state, age_s, is_said):
    dispatch = in_state(State.RUNNING, heartbeat_at=timezone.now() - timedelta(seconds=age_s))
    text = lab_client.get(f"/lab/dispatches/{dispatch.public_id}/").text
    assert (f"no answer from local for {age_s} s" in text) is is_said


def test_the_history_keeps_one_entry_of_a_gap(lab_client, in_state):
    last = timezone.now() - timedelta(seconds=31)
    dispatch = in_state(State.RUNNING, silent_since=last + timedelta(seconds=20), heartbeat_at=last)
    beat(dispatch)
    beat(dispatch)
    (step,) = dispatch.steps.filter(from_state=State.RUNNING)
    assert "no answer from local for 31 s, since " in step.reason
    assert step.reason in lab_client.get(f"/lab/dispatches/{dispatch.public_id}/").text


def test_a_gap_in_which_the_program_ended_is_kept_too(in_state):
    last = timezone.now() - timedelta(seconds=31)
    dispatch = in_state(State.RUNNING, silent_since=last + timedelta(seconds=20), heartbeat_at=last)
    move(dispatch, State.RUNNING, State.COLLECTING, WORKER, "")
    gap, moved = dispatch.steps.all()
    assert gap.reason.startswith("no answer from local for 31 s")
    assert moved.to_state == State.COLLECTING


def test_what_waits_for_an_unfit_host_does_not_say_that_it_waits_for_the_drive(lab_client, in_state):
    dispatch = in_state(State.QUEUED, reason="lab-1 gets no work: it has not been checked yet")
    text = lab_client.get(f"/lab/dispatches/{dispatch.public_id}/").text
    assert "it waits for the host" in text
    assert "it waits for the drive" not in text


def test_a_dispatch_says_when_its_files_were_removed_from_its_host(lab_client, in_state):
    removed_at = datetime(2026, 11, 21, 22, 15, 52, tzinfo=UTC)
    dispatch = in_state(State.DONE, run_dirs_removed_at=removed_at)
    assert "removed from its host on 21 November 2026" in lab_client.get(f"/lab/dispatches/{dispatch.public_id}/").text
