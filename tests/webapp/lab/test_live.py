"""What the page of a dispatch says of a silent host, and of files that are gone."""

from datetime import UTC, datetime

import pytest

from runners.states import State

pytestmark = pytest.mark.django_db


def test_a_run_whose_host_is_silent_is_not_said_to_run(lab_client, in_state):
    silent_since = datetime(2026, 11, 21, 22, 15, 52, tzinfo=UTC)
    dispatch = in_state(State.RUNNING, silent_since=silent_since, reason="no answer, asking again: cut")
    text = lab_client.get(f"/lab/dispatches/{dispatch.public_id}/").text
    assert "its host gives no answer since 22:15:52 UTC; its program may run on" in text
    assert "its program runs on the host" not in text


def test_a_dispatch_says_when_its_files_were_removed_from_its_host(lab_client, in_state):
    removed_at = datetime(2026, 11, 21, 22, 15, 52, tzinfo=UTC)
    dispatch = in_state(State.DONE, run_dirs_removed_at=removed_at)
    assert "removed from its host on 21 November 2026" in lab_client.get(f"/lab/dispatches/{dispatch.public_id}/").text
