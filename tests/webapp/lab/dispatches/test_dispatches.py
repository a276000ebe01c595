import json
import re
import subprocess
from datetime import timedelta
from decimal import Decimal

import pytest
from django.test import Client
from django.utils import timezone

from results.models import Profile
from results.reader.process import ROWS_MAX
from runners.dispatch import orders
from runners.evidence.submit import submission_facts
from runners.models import Device, Dispatch
from runners.models.states import FINAL, State
from runners.retention.cleanup import remove_old_run_dirs
from tests.results.builders import recorded_reading
from tests.runners.lab import poll
from tests.runners.ssh_host import ssh_host
from webapp.lab.dispatches.forms import ROWS_PER_SLICE, SLICES_MAX, OrderForm
from webapp.lab.dispatches.page import version_of_dispatch

pytestmark = pytest.mark.django_db

ORDER = {
    "nx_load": "0.5", "duration_s": "60", "slice_length_s": "10", "report_interval_s": "1", "record_bytes": "1536",
    "microsecond_histograms": "on", "vendor": "Acme", "over_provisioning_pct": "7.25", "notes": "bench 3",
}  # fmt: skip


def page(client, dispatch, part=""):
    return client.get(f"/lab/dispatches/{dispatch.public_id}/{part}")


def test_an_order_becomes_a_dispatch_of_the_orderer_s_lab(lab_client, device, a_lab, staff):
    answer = lab_client.post(f"/lab/devices/{device.pk}/order/", ORDER)
    dispatch = Dispatch.objects.get()
    assert answer.headers["Location"] == f"/lab/dispatches/{dispatch.public_id}/"
    assert (dispatch.organisation, dispatch.ordered_by, dispatch.state) == (a_lab, staff, State.QUEUED)
    assert (dispatch.nx_load, dispatch.duration_s, dispatch.slice_length_s) == (Decimal("0.5"), 60, 10)
    assert dispatch.options == {"report_interval_s": 1, "record_bytes": 1536, "microsecond_histograms": True}


@pytest.mark.parametrize(("slice_length_s", "stored_s"), [("59", 59), ("60", 60), ("3600", 60)])
def test_a_run_that_is_shorter_than_a_slice_is_one_slice(lab_client, device, slice_length_s, stored_s):
    lab_client.post(f"/lab/devices/{device.pk}/order/", ORDER | {"slice_length_s": slice_length_s})
    assert Dispatch.objects.get().slice_length_s == stored_s


def test_a_run_is_ordered_alone_on_its_host(lab_client, device):
    address = f"/lab/devices/{device.pk}/order/"
    answer = lab_client.post(address, ORDER | {"alone_on_host": "on"}, follow=True)
    assert Dispatch.objects.get().options["alone_on_host"] is True
    assert "Alone on its host" in answer.text


def test_an_index_load_is_ordered_on_the_same_page(lab_client, device):
    address = f"/lab/devices/{device.pk}/order/"
    assert "ACT index" in lab_client.get(address).text
    answer = lab_client.post(address, ORDER | {"recipe": "act-index"}, follow=True)
    dispatch = Dispatch.objects.get()
    assert dispatch.recipe == "act-index"
    assert dispatch.options == {"report_interval_s": 1, "microsecond_histograms": True}
    assert "ACT index" in answer.text


def test_only_act_loads_are_ordered_there(lab_client, device):
    lab_client.post(f"/lab/devices/{device.pk}/order/", ORDER | {"recipe": "ycsb"})
    assert not Dispatch.objects.exists()


def test_a_step_shows_its_date(lab_client, device, fake, connect):
    lab_client.post(f"/lab/devices/{device.pk}/order/", ORDER)
    dispatch = Dispatch.objects.get()
    poll(dispatch.pk, connect)
    shown = page(lab_client, dispatch).text.partition('<ol class="steps">')[2]
    for step in dispatch.steps.all():
        line = shown.partition(f"<b>{step.to_state}</b>")[2].partition("</time>")[0]
        assert f"{step.at:%-d %B %Y, %H:%M:%S} UTC" in line


def test_the_facts_of_an_order_are_submitted_with_its_log(lab_client, device):
    lab_client.post(f"/lab/devices/{device.pk}/order/", ORDER)
    facts = submission_facts(Dispatch.objects.get())
    assert (facts.vendor, facts.over_provisioning_pct, facts.capacity_gb) == ("Acme", Decimal("7.25"), None)
    assert (facts.notes, facts.slice_length_s) == ("bench 3", 10)


def test_an_order_notifies_the_worker_after_the_commit(lab_client, device, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks() as callbacks:
        lab_client.post(f"/lab/devices/{device.pk}/order/", ORDER)
    assert [callback.args for callback in callbacks] == [(Dispatch.objects.get().pk,)]


def test_staff_without_a_lab_see_what_is_missing(device, staff):
    client = Client()
    client.force_login(staff)
    assert "You do not submit for a lab." in client.post(f"/lab/devices/{device.pk}/order/", ORDER).text
    assert not Dispatch.objects.exists()


@pytest.mark.parametrize(
    ("field", "value", "is_taken"),
    [
        ("nx_load", "0.001", True),
        ("nx_load", "0.0005", False),
        ("nx_load", "0", False),
        ("nx_load", "466.67", True),
        ("nx_load", "10000", True),
        ("nx_load", "10000.001", False),
        ("nx_load", "1.0001", False),
        ("duration_s", "0", False),
        ("slice_length_s", "1", True),
        ("slice_length_s", "0", False),
        ("report_interval_s", "10", True),
        ("report_interval_s", "11", False),
        ("record_bytes", "0", False),
        ("record_bytes", "1", True),
        ("record_bytes", "131072", True),
        ("record_bytes", "131073", False),
    ],
)
def test_an_order_is_checked_at_both_sides_of_each_edge(field, value, is_taken):
    form = OrderForm(ORDER | {field: value})
    assert form.is_valid() is is_taken
    assert is_taken or field in form.errors


@pytest.mark.parametrize(("record_bytes", "is_taken"), [(0, False), (1, True), (131_072, True), (131_073, False)])
def test_the_form_accepts_the_records_of_the_program(drivetest, tmp_path, record_bytes, is_taken):
    config, usage = tmp_path / "config", 64
    rates = "test-duration-sec: 1\nread-reqs-per-sec: 2000\nwrite-reqs-per-sec: 1000"
    config.write_text(f"device-names: {tmp_path}/none\n{rates}\nrecord-bytes: {record_bytes}\n")
    ended = subprocess.run([drivetest, "storage", config], capture_output=True, check=False)
    assert (ended.returncode != usage) is is_taken
    assert OrderForm(ORDER | {"record_bytes": str(record_bytes)}).is_valid() is is_taken


@pytest.mark.parametrize(("duration_s", "is_taken"), [("14271", True), ("14272", False)])
def test_a_run_with_more_slices_than_a_reading_accepts_is_not_ordered(duration_s, is_taken):
    form = OrderForm(ORDER | {"duration_s": duration_s, "slice_length_s": "1"})
    assert form.is_valid() is is_taken
    assert is_taken or form.errors["slice_length_s"] == ["Expected at least 2 s for a run of 14272 s, got 1 s."]


def test_the_slices_of_a_recorded_run_have_the_rows_that_the_form_calculates():
    """The recorded load has one device and no updates, as in the recipe."""
    document = recorded_reading("slow-disk-ms")["runs"][0]
    rows = [len(each["histograms"]) for each in document["slices"]]
    assert set(rows) == {ROWS_PER_SLICE - len(json.loads(Profile.objects.get().document)["limits"])}
    assert SLICES_MAX * ROWS_PER_SLICE + 100 <= ROWS_MAX


@pytest.mark.parametrize("state", State)
def test_every_state_has_its_page(lab_client, in_state, state):
    dispatch = in_state(state, reason="because of that")
    text = page(lab_client, dispatch).text
    assert "because of that" in text
    assert ("Cancel this run" in text) is (state not in FINAL)


def test_a_running_dispatch_is_shown_live(lab_client, dispatch, connect, fake):
    poll(dispatch.pk, connect)
    fake.write_log(dispatch.public_id)
    poll(dispatch.pk, connect)
    text = page(lab_client, dispatch, "live/").text
    for shown in (
        'max="60" value="60"',
        "480,006",
        "limit",
        "measured at 1,024 us",
        "large-block-writes",
        "process id: 4001",
    ):
        assert shown in text.lower()


def test_options_have_the_labels_of_the_form(lab_client, in_state):
    dispatch = in_state(State.QUEUED, options={"report_interval_s": 1, "microsecond_histograms": False})
    text = page(lab_client, dispatch).text
    assert "<dt>Report interval, s</dt><dd>1</dd>" in text
    assert "<dt>Microsecond histograms</dt><dd>no</dd>" in text


def test_the_end_of_the_log_is_escaped(lab_client, in_state):
    dispatch = in_state(State.RUNNING, progress={"tail": ["<script>alert(1)</script>", "</pre>"]})
    text = page(lab_client, dispatch).text
    assert "<script>alert" not in text
    assert "&lt;/pre&gt;" in text


CHANGES = [{"last_label_s": 7}, {"state": "collecting"}, {"reason": "no answer"}, {"progress": {"tail": ["x"]}},
           {"cancel_requested_at": timezone.now()}, {"pid": 8}]  # fmt: skip


@pytest.mark.parametrize("columns", CHANGES, ids="-".join)
def test_the_live_part_answers_204_until_a_change(lab_client, in_state, columns):
    dispatch = in_state(State.RUNNING)
    version = page(lab_client, dispatch).context["version"]
    assert page(lab_client, dispatch, f"live/?version={version}").status_code == 204
    Dispatch.objects.filter(pk=dispatch.pk).update(**columns)
    render_live = page(lab_client, dispatch, f"live/?version={version}")
    assert (render_live.status_code, render_live.context["version"] != version) == (200, True)


def test_a_heartbeat_alone_does_not_change_the_page(lab_client, in_state):
    dispatch = in_state(State.RUNNING)
    version = page(lab_client, dispatch).context["version"]
    Dispatch.objects.filter(pk=dispatch.pk).update(heartbeat_at=timezone.now())
    assert page(lab_client, dispatch, f"live/?version={version}").status_code == 204


def test_a_refresh_without_a_change_needs_few_queries(lab_client, in_state, django_assert_max_num_queries):
    dispatch = in_state(State.RUNNING)
    version = page(lab_client, dispatch).context["version"]
    with django_assert_max_num_queries(5):  # session, user, dispatch, its retry and outages
        page(lab_client, dispatch, f"live/?version={version}")


@pytest.mark.parametrize(("state", "renews"), [(State.RUNNING, True), (State.DONE, False)])
def test_a_page_refreshes_without_javascript_until_the_end(lab_client, in_state, state, renews):
    text = page(lab_client, in_state(state)).text
    assert ('<noscript><meta http-equiv="refresh"' in text) is renews
    assert ("js/live.js" in text) is renews
    assert ('hx-trigger="every 2s"' in text) is renews


def test_a_done_dispatch_refreshes_until_its_log_is_read(lab_client, dispatch, connect, fake):
    poll(dispatch.pk, connect)
    fake.write_log(dispatch.public_id)
    fake.end(dispatch.public_id, 0)
    poll(dispatch.pk, connect)
    dispatch.refresh_from_db()
    text = page(lab_client, dispatch).text
    assert f"/submissions/{dispatch.submission.public_id}/" in text
    assert "being read" in text
    dispatch.submission.log.readings.update(state="done")
    assert "being read" not in page(lab_client, dispatch).text


def test_a_cancellation_is_requested_once(lab_client, in_state):
    dispatch = in_state(State.RUNNING)
    address = f"/lab/dispatches/{dispatch.public_id}/cancel/"
    assert "Cancellation requested" in lab_client.post(address, follow=True).text
    dispatch.refresh_from_db()
    assert dispatch.cancel_requested_at is not None
    assert "Not cancelled" in lab_client.post(address, follow=True).text


@pytest.mark.parametrize("state", sorted(FINAL - {State.LOST}))
def test_a_finished_dispatch_cannot_be_cancelled(lab_client, in_state, state):
    dispatch = in_state(state)
    assert "Not cancelled" in lab_client.post(f"/lab/dispatches/{dispatch.public_id}/cancel/", follow=True).text
    dispatch.refresh_from_db()
    assert dispatch.cancel_requested_at is None


@pytest.mark.parametrize(("ended_at", "may_end"), [(None, True), (timezone.now(), False)])
def test_the_program_of_a_lost_dispatch_can_be_stopped_while_it_may_run(lab_client, in_state, ended_at, may_end):
    dispatch = in_state(State.LOST, ended_at=ended_at)
    assert ("Stop the program" in page(lab_client, dispatch).text) is may_end


def test_the_page_shows_that_a_lost_program_is_being_stopped(lab_client, in_state):
    lost = in_state(State.LOST, cancel_requested_at=timezone.now())
    text = page(lab_client, lost).text
    assert "repeats its request to cancel the run until" in text
    assert 'data-settled="no"' in text
    Dispatch.objects.filter(pk=lost.pk).update(ended_at=timezone.now())
    text = page(lab_client, lost).text
    assert "The drive is free" in text
    assert 'data-settled="yes"' in text


@pytest.mark.parametrize("columns", [{"state": State.FAILED}, {"state": State.REFUSED}, {"state": State.CANCELLED},
                                     {"state": State.LOST, "ended_at": timezone.now()}])  # fmt: skip
def test_a_failed_or_cancelled_dispatch_is_ordered_again_once(lab_client, in_state, columns):
    old = in_state(**columns)
    assert f"/lab/dispatches/{old.public_id}/retry/confirm/" in page(lab_client, old).text
    question = lab_client.get(f"/lab/dispatches/{old.public_id}/retry/confirm/").text
    assert f'action="/lab/dispatches/{old.public_id}/retry/"' in question
    assert Dispatch.objects.count() == 1
    answer = lab_client.post(f"/lab/dispatches/{old.public_id}/retry/")
    new = old.retry
    assert answer.headers["Location"] == f"/lab/dispatches/{new.public_id}/"
    assert (new.nx_load, new.duration_s, new.options, new.state) == (old.nx_load, old.duration_s, old.options, "queued")
    assert f'replaces <a href="/lab/dispatches/{old.public_id}/' in page(lab_client, new).text
    assert f'Ordered again as <a href="/lab/dispatches/{new.public_id}/' in page(lab_client, old).text
    assert "was not ordered again" in lab_client.post(f"/lab/dispatches/{old.public_id}/retry/", follow=True).text


@pytest.mark.parametrize("state", [State.RUNNING, State.DONE, State.LOST])
def test_a_successful_or_possibly_running_dispatch_is_not_ordered_again(lab_client, in_state, state):
    dispatch = in_state(state)
    assert f"{dispatch.public_id}/retry/" not in page(lab_client, dispatch).text
    assert "was not ordered again" in lab_client.post(f"/lab/dispatches/{dispatch.public_id}/retry/", follow=True).text
    assert Dispatch.objects.count() == 1


def test_the_page_shows_when_a_cancellation_is_requested_and_confirmed(lab_client, in_state):
    asked_at = timezone.now()
    dispatch = in_state(State.RUNNING, cancel_requested_at=asked_at)
    assert "The host has not confirmed that the program ended" in page(lab_client, dispatch).text
    in_state(State.CANCELLED, ended_at=asked_at + timedelta(seconds=3))
    assert "confirmed 3\N{NO-BREAK SPACE}s later" in page(lab_client, dispatch).text


def test_temperatures_and_the_requested_rate_are_shown(lab_client, in_state):
    warmth = {"disk": "nvme0n1", "sensor": "nvme Composite", "celsius": 41, "limit_celsius": 70}
    counted = {"interval_reads_count": 10, "reads_count": 10, "label_s": 5, "reads_per_s": "1999.8"}
    progress = counted | {"telemetry": {"temperatures": [warmth]}}
    text = page(lab_client, in_state(State.RUNNING, progress=progress)).text
    assert "nvme0n1, nvme Composite, warns at 70</dt><dd>41" in text
    assert "2,000 requested</dt><dd>1999.8" in text


def test_a_person_frees_the_drive_of_a_lost_dispatch_with_a_reason(lab_client, in_state, staff):
    lost = in_state(State.LOST)
    assert "Confirm end and free the drive" in page(lab_client, lost).text
    lab_client.post(f"/lab/dispatches/{lost.public_id}/ended/", {"reason": " "})
    lost.refresh_from_db()
    assert lost.ended_at is None
    lab_client.post(f"/lab/dispatches/{lost.public_id}/ended/", {"reason": "powered off by hand"})
    shown = page(lab_client, lost).text
    assert f"{staff.get_username()} confirmed on" in shown
    assert "declared that the program has ended: powered off by hand" in shown


def test_a_visitor_frees_no_drive(visitor, in_state):
    lost = in_state(State.LOST)
    visitor.post(f"/lab/dispatches/{lost.public_id}/ended/", {"reason": "I say so"})
    lost.refresh_from_db()
    assert lost.ended_at is None


def test_an_absurd_load_is_refused_with_a_message():
    assert OrderForm(ORDER | {"nx_load": "100000"}).errors["nx_load"] == [
        "Expected at most 10,000x, which is 20,000,000 reads/s on one drive."
    ]


def test_a_cancellation_is_confirmed_on_a_separate_page(lab_client, dispatch):
    address = f"/lab/dispatches/{dispatch.public_id}/cancel/"
    shown = page(lab_client, dispatch).text
    assert f'href="{address}confirm/"' in shown
    assert f'action="{address}"' not in shown
    assert f'action="{address}"' in lab_client.get(f"{address}confirm/").text
    dispatch.refresh_from_db()
    assert dispatch.cancel_requested_at is None


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (State.QUEUED, "No program was started. The run is taken out of the queue."),
        (State.CLAIMED, "No program was started yet."),
        (State.PREPARING, "The program is being started."),
        (State.RUNNING, "The host stops the program. The run cannot be continued"),
        (State.COLLECTING, "The program has ended, and the register stores its log."),
        (State.LOST, "The run stays lost."),
        (State.DONE, "The run has already ended. There is nothing to cancel."),
    ],
)
def test_the_confirmation_explains_the_effect_of_a_cancellation(lab_client, in_state, state, expected):
    dispatch = in_state(state)
    page = lab_client.get(f"/lab/dispatches/{dispatch.public_id}/cancel/confirm/").text
    assert f"is {state}. {expected}" in page
    assert ("The host stops the program. The run cannot be continued" in page) is (state is State.RUNNING)


def test_a_lost_run_that_has_ended_cannot_be_cancelled(lab_client, in_state):
    dispatch = in_state(State.LOST, ended_at=timezone.now())
    assert "There is nothing to cancel" in lab_client.get(f"/lab/dispatches/{dispatch.public_id}/cancel/confirm/").text


def test_the_history_shows_the_reason_of_a_cancellation_and_its_requester(lab_client, dispatch, staff):
    lab_client.post(f"/lab/dispatches/{dispatch.public_id}/cancel/", {"reason": " wrong\0 drive " + "x" * 600})
    text = page(lab_client, dispatch).text
    assert "requested the cancellation: wrong" in text
    assert "x" * 500 not in text


def test_the_history_begins_with_the_person_who_ordered(lab_client, dispatch, staff):
    queued = page(lab_client, dispatch).text.partition("<b>queued</b>")[2].partition("</time>")[0]
    assert queued.endswith(f"UTC, {staff.get_username()}")


def test_the_requester_of_a_cancellation_is_not_shown_as_freeing_the_drive(lab_client, in_state, staff):
    lost = in_state(State.LOST)
    orders.cancel(lost, staff)
    Dispatch.objects.update(ended_at=timezone.now())
    text = page(lab_client, lost).text
    assert "requested the cancellation" in text
    assert "The host confirmed on" in text


def test_optional_fields_of_an_order_are_marked(lab_client, device):
    text = lab_client.get(f"/lab/devices/{device.pk}/order/").text
    labels = {label for label in re.findall(r"<label [^>]*>(.*?)</label>", text) if "optional" in label}
    assert 'Service threads <span class="dim">(optional)</span>' in labels
    assert not [label for label in labels if label.startswith(("Workload", "Microsecond"))]


def test_leftover_files_of_a_cancelled_run_are_requested_once(lab_client, running, connect, staff):
    address = f"/lab/dispatches/{running.public_id}/fetch/"
    button = f'action="{address}"'
    assert button not in page(lab_client, running).text
    orders.cancel(running, staff)
    poll(running.pk, connect)
    assert button in page(lab_client, running).text
    answer = lab_client.post(address, follow=True).text
    assert "sam requested on" in answer
    assert button not in answer
    assert "has no leftover files on a host in service" in lab_client.post(address, follow=True).text
    remove_old_run_dirs(running.device.host, connect)
    kept = page(lab_client, running).text
    assert "The leftover files of this run are archived: " in kept
    assert "sam requested on" not in kept


def test_the_page_states_that_the_host_has_no_leftover_files(lab_client, running, connect, fake, staff):
    orders.cancel(running, staff)
    poll(running.pk, connect)
    fake.lose(running.public_id)
    lab_client.post(f"/lab/dispatches/{running.public_id}/fetch/")
    remove_old_run_dirs(running.device.host, connect)
    text = page(lab_client, running).text
    assert "the host had no leftover files of this run" in text
    assert f'action="/lab/dispatches/{running.public_id}/fetch/"' in text


def test_a_waiting_archive_request_is_shown_and_refreshed(lab_client, running, connect, staff):
    orders.cancel(running, staff)
    poll(running.pk, connect)
    assert 'data-settled="yes"' in page(lab_client, running).text
    before = version_of_dispatch(Dispatch.objects.get())
    lab_client.post(f"/lab/dispatches/{running.public_id}/fetch/")
    host = ssh_host(objections=["it has 3 MiB free"], checked_at=timezone.now())
    Device.objects.update(host=host)
    text = page(lab_client, running).text
    assert "Host lab-1 is not available for archiving now: it has 3 MiB free." in text
    assert 'data-settled="no"' in text
    assert version_of_dispatch(Dispatch.objects.get()) != before
