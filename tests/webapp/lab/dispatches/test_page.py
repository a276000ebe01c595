"""The dispatch page during outages and after files were removed."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from results.models import Event
from runners.models import Dispatch
from runners.models.states import State
from runners.monitoring.connectivity import recording_connect
from tests.runners.lab import add_outage, poll_state
from webapp.lab.dispatches.page import history_of, version_of_dispatch
from webapp.templatetags.units import size

pytestmark = pytest.mark.django_db
FROZEN = pytest.mark.usefixtures("frozen_clock")


@FROZEN
def test_a_run_is_not_shown_as_running_during_an_outage(lab_client, in_state):
    last = timezone.now() - timedelta(seconds=42)
    dispatch = in_state(
        State.RUNNING,
        silent_since=last,
        heartbeat_at=last,
        reason="a request to the host failed, and the register repeats it: cut",
    )
    text = lab_client.get(f"/lab/dispatches/{dispatch.public_id}/").text
    assert "no answer recorded from local for 42 s; the program may still run" in text
    assert "the program runs on the host" not in text


def test_a_run_is_starting_until_its_program_has_written_a_line(lab_client, in_state, dispatch, connect, fake):
    address = f"/lab/dispatches/{dispatch.public_id}/"
    assert poll_state(dispatch, connect) == State.RUNNING
    in_state(State.RUNNING, heartbeat_at=None)  # a slow test must not pass for a silent host
    assert "<b>starting</b>: the program was started and checks the drive" in lab_client.get(address).text
    assert "<span>starting" in lab_client.get("/lab/").text
    fake.write_log(dispatch.public_id, b"a line\n")
    poll_state(dispatch, connect)
    in_state(State.RUNNING, heartbeat_at=None)
    assert "<b>running</b>: the program runs on the host" in lab_client.get(address).text


@pytest.mark.parametrize(
    ("state", "meaning"),
    [
        (State.PREPARING, "the register will repeat the start, which starts no second program"),
        (State.COLLECTING, "the log will be stored when the host answers"),
    ],
)
@FROZEN
def test_an_outage_is_also_shown_before_and_after_the_program(lab_client, in_state, state, meaning):
    last = timezone.now() - timedelta(seconds=12)
    dispatch = in_state(state, silent_since=timezone.now())
    add_outage(dispatch, last)
    text = lab_client.get(f"/lab/dispatches/{dispatch.public_id}/").text
    assert f"no answer from local for 12 s; {meaning}" in text


@pytest.mark.parametrize(("age_s", "due_s", "is_said"), [(8, 1, False), (12, 1, True), (12, 0, False)])
@FROZEN
def test_an_outage_is_shown_from_the_second_missed_poll_on(lab_client, in_state, age_s, due_s, is_said):
    heartbeat_at, next_poll_at = (timezone.now() - timedelta(seconds=seconds) for seconds in (age_s, due_s))
    dispatch = in_state(State.RUNNING, heartbeat_at=heartbeat_at, next_poll_at=next_poll_at)
    text = lab_client.get(f"/lab/dispatches/{dispatch.public_id}/").text
    assert (f"no answer recorded from local for {age_s} s" in text) is is_said


@FROZEN
def test_the_history_has_one_entry_for_an_outage(lab_client, in_state, connect):
    last = timezone.now() - timedelta(seconds=31)
    dispatch = in_state(State.RUNNING)
    add_outage(dispatch, last)
    dispatch.steps.create(from_state="running", to_state="running", kind="host-outage", reason="of release 0.2")
    for _ in range(2):
        recording_connect(dispatch, connect)(dispatch.device.host).status(dispatch.public_id)
    page = lab_client.get(f"/lab/dispatches/{dispatch.public_id}/").text
    assert page.count("no answer from local for 31 s, since ") == 1
    assert "of release 0.2" not in page


@FROZEN
def test_an_outage_in_which_the_program_ended_is_listed_before_its_end(running, connect, fake):
    last = timezone.now() - timedelta(seconds=31)
    add_outage(running, last)
    fake.end(running.public_id, 0)
    poll_state(running, connect)
    labels = [line.label for line in history_of(running)]
    assert labels.index("outage") < labels.index(State.COLLECTING)


@pytest.mark.parametrize(
    ("waits_for", "meaning"),
    [
        ("", "the run waits for a worker"),
        ("drive", "the run waits for the drive"),
        ("host", "the run waits for the host"),
        ("campaign", "the run waits for its campaign"),
    ],
)
def test_a_queued_dispatch_shows_what_it_waits_for(lab_client, in_state, waits_for, meaning):
    dispatch = in_state(State.QUEUED, waits_for=waits_for)
    assert f"<b>queued</b>: {meaning}.</p>" in lab_client.get(f"/lab/dispatches/{dispatch.public_id}/").text


@pytest.mark.parametrize(
    ("from_state", "is_never_started", "meaning"),
    [
        (State.QUEUED, False, "no program was started"),
        (State.PREPARING, True, "no program was started"),
        (State.PREPARING, False, "the run was stopped on request"),
    ],
)
def test_a_cancelled_dispatch_shows_whether_it_was_started(lab_client, in_state, from_state, is_never_started, meaning):
    dispatch = in_state(State.CANCELLED, is_never_started=is_never_started)
    if from_state is State.PREPARING:
        dispatch.steps.create(from_state=State.CLAIMED, to_state=State.PREPARING, actor="worker")
    assert f"<b>cancelled</b>: {meaning}.</p>" in lab_client.get(f"/lab/dispatches/{dispatch.public_id}/").text


def test_an_unconfirmed_cancellation_shows_its_date_and_time(lab_client, in_state):
    dispatch = in_state(State.RUNNING, cancel_requested_at=datetime(2026, 11, 22, 11, 36, 5, tzinfo=UTC))
    text = lab_client.get(f"/lab/dispatches/{dispatch.public_id}/").text
    assert "Cancellation was requested on 22 November 2026 at 11:36:05 UTC." in text


def test_the_drive_states_are_refreshed_with_the_page(lab_client, in_state):
    dispatch = in_state(State.PREPARING)
    address = f"/lab/dispatches/{dispatch.public_id}/live/"
    version = version_of_dispatch(dispatch)
    assert "No state of the drive was recorded yet." in lab_client.get(address).text
    dispatch.drive_states.create(moment="before", drive_key=dispatch.drive_key, firmware="FW1")
    in_state(State.RUNNING)
    answer = lab_client.get(address, {"version": version})
    assert answer.status_code == 200
    assert "FW1" in answer.text
    assert "No state of the drive was recorded" not in answer.text


def test_the_page_of_a_submitted_log_states_its_size_although_no_poll_read_it(lab_client, running, connect, fake):
    fake.end(running.public_id, 0)
    poll_state(running, connect)
    Dispatch.objects.filter(pk=running.pk).update(log_bytes=0)
    size_bytes = running.submission.log.size_bytes
    assert size_bytes > 0
    assert f"<dt>Log read</dt><dd>{size(size_bytes)}</dd>" in lab_client.get(f"/lab/dispatches/{running}/").text


@pytest.mark.parametrize(
    ("state", "log_bytes", "text"),
    [
        (State.REFUSED, 0, "only the end, without a report"),
        (State.RUNNING, 0, "only the end, without a report so far"),
        (State.RUNNING, 1, size(1)),
    ],
)
def test_a_log_is_shown_as_read_once_its_end_is_shown(lab_client, in_state, state, log_bytes, text):
    dispatch = in_state(state, log_bytes=log_bytes, progress={"tail": ["device-names: /dev/fake0"]})
    shown = lab_client.get(f"/lab/dispatches/{dispatch.public_id}/").text
    assert f"<dt>Log read</dt><dd>{text}</dd>" in shown


def test_a_final_dispatch_without_drive_states_does_not_wait_for_them(lab_client, in_state):
    dispatch = in_state(State.CANCELLED)
    assert "No state of the drive was recorded." in lab_client.get(f"/lab/dispatches/{dispatch.public_id}/").text


def test_the_page_shows_when_files_were_removed_from_the_host(lab_client, in_state):
    removed_at = datetime(2026, 11, 21, 22, 15, 52, tzinfo=UTC)
    dispatch = in_state(State.DONE, run_dirs_removed_at=removed_at)
    assert "removed from the host on 21 November 2026" in lab_client.get(f"/lab/dispatches/{dispatch.public_id}/").text


def test_the_page_shows_that_leftover_files_are_too_large(lab_client, in_state, settings):
    dispatch = in_state(State.CANCELLED)
    about = {"subject_type": "dispatch", "subject_id": dispatch.public_id}
    Event.objects.create(kind="evidence-too-large", reason="d-x.tar: expected at most 10 bytes, found more", **about)
    text = lab_client.get(f"/lab/dispatches/{dispatch.public_id}/").text
    message = (
        "The leftover files of this run are too large to be archived (d-x.tar: expected at most 10 bytes, found more)"
    )
    assert text.count(message) == 1
    assert f'<li>local: <span class="mono">{settings.LAB_DIR}/{dispatch.public_id}</span></li>' in text
    in_state(State.CANCELLED, run_dirs_removed_at=timezone.now())
    text = lab_client.get(f"/lab/dispatches/{dispatch.public_id}/").text
    assert "were too large to be archived. The leftover files were no longer on the host" in text
    assert "The register stores the evidence of the run" not in text


def test_a_sweep_names_every_directory_that_it_may_have_left_and_its_host(lab_client, loading, settings):
    about = {"subject_type": "dispatch", "subject_id": loading.public_id}
    Event.objects.create(kind="evidence-too-large", reason="it is too large", **about)
    text = lab_client.get(f"/lab/dispatches/{loading.public_id}/").text
    listed = re.findall(r'<li>(\S+): <span class="mono">([^<]+)</span></li>', text)
    run = f"{settings.LAB_DIR}/{loading.public_id}"
    assert listed == [
        ("local", f"{run}.format"), ("local", f"{run}.mount"), ("local", f"{run}.database"),
        ("sender", f"{run}.load"), ("local", f"{run}.load-database"),
    ]  # fmt: skip


def test_the_page_shows_the_number_of_outages(lab_client, in_state):
    dispatch = in_state(State.RUNNING)
    for length_s in (1.6, 3, 8):
        add_outage(dispatch, timezone.now(), timezone.now() + timedelta(seconds=length_s))
    assert "3 outages, 13 s in total" in lab_client.get(f"/lab/dispatches/{dispatch.public_id}/").text
