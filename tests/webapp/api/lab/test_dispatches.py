"""Dispatches by API: orders have the checks of the page, and a repeated order orders once."""

import pytest
from django.utils import timezone

from results.models import Organisation
from runners.campaigns.commands import CampaignOrder, start
from runners.campaigns.terms import Terms
from runners.models import Device, Dispatch, Host, OrderKey
from runners.models.dispatch import CONSENT_OPTION
from runners.models.states import State
from runners.retention.leftover_archive import FETCH_REQUESTED, last_fetch_event
from tests.runners.ssh_host import HEALTH, PINNED
from tests.webapp.api.lab.conftest import script_of
from tests.webapp.lab.shared.test_drive_status import DATA, EXT4, holding

pytestmark = pytest.mark.django_db
ADDRESS = "/api/v1/lab/dispatches/"
LOAD = {"nx_load": "0.5", "duration_s": 60, "slice_length_s": 10}


def post(script, end="", key="", /, **fields):
    headers = {"Idempotency-Key": key} if key else {}
    return script.post(f"{ADDRESS}{end}", fields, content_type="application/json", headers=headers)


def refusal(answer):
    assert not Dispatch.objects.exists()
    return answer.status_code, answer.json().get("code")


def over_ssh(device, **health):
    Host.objects.filter(pk=device.host_id).update(
        kind="ssh", health=HEALTH | health, checked_at=timezone.now(), **PINNED
    )


def test_an_order_becomes_a_dispatch_of_the_lab_of_the_token(olga, device, a_lab, staff):
    answer = post(olga, device=device.pk, **LOAD)
    dispatch = Dispatch.objects.get()
    assert (answer.status_code, answer.headers["Location"]) == (201, f"{ADDRESS}{dispatch.public_id}/")
    assert (dispatch.organisation, dispatch.ordered_by, dispatch.state) == (a_lab, staff, State.QUEUED)
    assert dispatch.options == {"report_interval_s": 1, "record_bytes": 1536, "microsecond_histograms": True}
    shown = answer.json()
    assert (shown["state"], shown["nx_load"], shown["result"], shown["runs"]) == ("queued", "0.5000", "open", [])


def test_an_order_notifies_the_worker_after_the_commit(olga, device, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks() as callbacks:
        post(olga, "", "once", device=device.pk, **LOAD)
    assert [callback.args for callback in callbacks] == [(Dispatch.objects.get().pk,)]


def test_a_preparation_and_an_index_load_are_ordered_by_their_recipe(olga, device):
    assert post(olga, device=device.pk, recipe="prep").status_code == 201
    assert post(olga, device=device.pk, recipe="act-index", **LOAD, microsecond_histograms=False).status_code == 201
    index, prep = Dispatch.objects.order_by("-pk")
    assert (prep.recipe, prep.duration_s) == ("prep", None)
    assert (index.recipe, index.options) == ("act-index", {"report_interval_s": 1, "microsecond_histograms": False})


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"nx_load": "0.0005"}, "nx_load"),
        ({"nx_load": None}, "nx_load"),
        ({"duration_s": None}, "duration_s"),
        ({"slice_length_s": 0}, "slice_length_s"),
        ({"colour": "red"}, "colour"),
        ({"recipe": "none"}, "recipe"),
        ({"device": 0}, "device"),
        ({"device": "\u0662"}, "device"),
        ({"device": 2**31}, "device"),
        ({"recipe": "prep"}, "duration_s"),
        ({"recipe": "ycsb"}, "duration_s"),
        ({CONSENT_OPTION: EXT4}, CONSENT_OPTION),
    ],
)
def test_a_wrong_field_is_named(olga, device, fields, field):
    answer = post(olga, **({"device": device.pk} | LOAD | fields))
    assert refusal(answer) == (400, None)
    assert field in {each["field"] for each in answer.json()["errors"]}


def test_a_body_that_is_no_object_is_refused(olga):
    assert olga.post(ADDRESS, [1], content_type="application/json").status_code == 400


def test_data_is_overwritten_only_with_the_consent_of_the_page(olga, device):
    holding(device, **DATA)
    consent = {"shown_signature": EXT4, "shown_place": f"{device.path} of {device.size_bytes} bytes"}
    order = {"device": device.pk} | LOAD
    assert refusal(post(olga, **order)) == (409, "content-changed")
    assert refusal(post(olga, **order, **consent)) == (409, "label-mismatch")
    answer = post(olga, **order, **consent, typed_label="fake")
    assert refusal(answer) == (409, "label-mismatch")
    assert "Expected fake drive, got fake." in answer.json()["detail"]
    elsewhere = consent | {"shown_place": "/dev/sda of 1 bytes"}
    assert refusal(post(olga, **order, **elsewhere, typed_label="fake drive")) == (409, "location-changed")
    assert post(olga, **order, **consent, typed_label="fake drive").status_code == 201
    assert Dispatch.objects.get().options[CONSENT_OPTION] == EXT4


def test_a_host_over_ssh_is_never_made_to_overwrite_data(olga, device):
    over_ssh(device, drives=["file:lab1:8:5"])
    Device.objects.update(identity={"signature": "ext4"})
    place = f"{device.path} of {device.size_bytes} bytes"
    consent = {"shown_signature": "ext4", "shown_place": place, "typed_label": "fake drive"}
    answer = post(olga, device=device.pk, **LOAD, **consent)
    assert refusal(answer) == (409, "host-would-refuse")
    assert "refuses to overwrite it" in answer.json()["detail"]


def test_a_drive_that_its_operator_has_not_listed_accepts_no_order(olga, device):
    over_ssh(device, drives=["nvme:M:S1"])
    assert refusal(post(olga, device=device.pk, **LOAD)) == (409, "host-would-refuse")
    over_ssh(device, drives=["file:lab1:8:5"])
    assert post(olga, device=device.pk, **LOAD).status_code == 201


def test_a_sweep_needs_programs_that_the_operator_of_its_host_allows(olga, device):
    over_ssh(device, drives=["file:lab1:8:5"])
    answer = post(olga, device=device.pk, recipe="ycsb", preset="micron-7450-rocksdb", client="java")
    assert refusal(answer) == (409, "host-would-refuse")
    assert "has not reported the programs" in answer.json()["detail"]
    answer = post(olga, device=device.pk, recipe="ycsb", preset="micron-7450-rocksdb", client="java", load_host="none")
    assert refusal(answer) == (400, None)


def test_a_retired_device_and_one_of_a_campaign_accept_no_order(olga, device, a_lab, staff):
    Device.objects.update(retired_at=timezone.now())
    assert refusal(post(olga, device=device.pk, **LOAD)) == (409, "out-of-service")
    Device.objects.update(retired_at=None)
    campaign = start(device, a_lab, CampaignOrder(Terms()), staff)
    answer = post(olga, device=device.pk, **LOAD)
    assert refusal(answer) == (409, "drive-taken")
    assert campaign.public_id in answer.json()["detail"]


def test_a_repeated_request_with_its_key_orders_once(olga, device):
    first, again = (post(olga, "", "k1", device=device.pk, **LOAD) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["id"] == again.json()["id"] == Dispatch.objects.get().public_id
    other = post(olga, "", "k1", device=device.pk, **LOAD | {"duration_s": 61})
    assert (other.status_code, other.json()["code"]) == (409, "key-of-other-order")
    assert other.json()["first"] == first.json()["id"]
    assert post(olga, "", "k2", device=device.pk, **LOAD).status_code == 201
    assert Dispatch.objects.count() == 2


def test_a_refused_order_uses_up_no_key(olga, device):
    Device.objects.update(retired_at=timezone.now())
    assert refusal(post(olga, "", "k1", device=device.pk, **LOAD)) == (409, "out-of-service")
    assert not OrderKey.objects.exists()
    Device.objects.update(retired_at=None)
    assert post(olga, "", "k1", device=device.pk, **LOAD).status_code == 201


@pytest.mark.parametrize(("length", "status"), [(200, 201), (201, 400)])
def test_a_key_has_at_most_200_characters(olga, device, length, status):
    assert post(olga, "", "k" * length, device=device.pk, **LOAD).status_code == status


def test_dispatches_are_filtered_by_state_and_host(watcher, device, new_dispatch):
    first, second = new_dispatch(), new_dispatch()
    Dispatch.objects.filter(pk=first.pk).update(state=State.CANCELLED)

    def listed(query=""):
        return [each["id"] for each in watcher.get(f"{ADDRESS}{query}").json()["results"]]

    assert listed() == [second.public_id, first.public_id]
    assert listed("?state=cancelled&host=local") == [first.public_id]
    Host.objects.create(name="idle", kind="local")
    assert listed("?host=idle") == []
    for query, field in (("?state=gone", "state"), ("?host=none", "host")):
        answer = watcher.get(f"{ADDRESS}{query}")
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, field)


def test_a_dispatch_shows_its_progress_and_its_steps(watcher, in_state):
    share = {"threshold_us": 1000, "read_at_us": 1024, "over_count": 3, "share_pct": "0.1"}
    progress = {"reads_count": 30, "interval_s": 1, "shares": [share], "tail": ["after 10 sec:"]}
    progress |= {"samples": [[5, 14, 1], [10, 30, 3]]}
    dispatch = in_state(State.RUNNING, progress=progress, last_label_s=10, log_bytes=99)
    dispatch.steps.create(from_state="preparing", to_state="running", actor="worker")
    shown = watcher.get(f"{ADDRESS}{dispatch.public_id}/").json()
    found = shown["progress"]
    assert (found["elapsed_s"], found["log_bytes"], found["reads_count"]) == (10, 99, 30)
    assert (found["tail"], found["phase"], found["temperatures"]) == (["after 10 sec:"], None, [])
    assert found["shares"] == [share | {"limit_pct": found["shares"][0]["limit_pct"]}]
    assert found["shares"][0]["limit_pct"]
    assert found["samples"] == [
        {"elapsed_s": 5, "reads_count": 14, "over_counts": [1]},
        {"elapsed_s": 10, "reads_count": 30, "over_counts": [3]},
    ]
    assert [(step["to_state"], step["actor"]) for step in shown["steps"]] == [("running", "worker")]
    assert watcher.get(f"{ADDRESS}d-missing2/").status_code == 404


def test_a_cancellation_is_requested_once_with_its_reason(olga, dispatch):
    end = f"{dispatch.public_id}/cancel/"
    answer = post(olga, end, reason="wrong drive")
    assert (answer.status_code, bool(answer.json()["cancel_requested_at"])) == (200, True)
    assert dispatch.steps.last().details == {"reason": "wrong drive"}
    again = post(olga, end)
    assert (again.status_code, again.json()["code"]) == (409, "not-cancellable")
    assert post(olga, end, force=True).status_code == 400


def test_the_kind_of_an_organisation_decides_at_the_time_of_the_order(olga, device, a_lab):
    Organisation.objects.filter(pk=a_lab.pk).update(kind=Organisation.Kind.VENDOR)
    assert refusal(post(olga, device=device.pk, **LOAD)) == (409, "no-lab")


def command(client, dispatch, name, **fields):
    return client.post(f"/api/v1/lab/dispatches/{dispatch}/{name}/", fields, content_type="application/json")


def test_a_failed_run_is_ordered_again_once(olga, in_state):
    failed = in_state(State.FAILED, ended_at=timezone.now())
    answer = command(olga, failed, "retry")
    assert answer.status_code == 201
    new = Dispatch.objects.get(retry_of=failed)
    assert answer.headers["Location"] == f"/api/v1/lab/dispatches/{new}/"
    again = command(olga, failed, "retry")
    assert (again.status_code, again.json()["code"]) == (409, "not-retryable")
    assert command(olga, failed, "retry", nx_load="7").status_code == 400


def test_a_lost_run_is_declared_ended_with_a_reason(olga, in_state):
    lost = in_state(State.LOST, ended_at=None)
    for fields, status, code in (
        ({}, 409, "reason-missing"),
        ({"reason": "The host was reinstalled."}, 200, None),
        ({"reason": "again"}, 409, "not-lost"),
    ):
        answer = command(olga, lost, "ended", **fields)
        assert (answer.status_code, answer.json().get("code")) == (status, code)
    lost.refresh_from_db()
    assert lost.ended_at is not None


def test_leftover_files_are_archived_on_request(olga, in_state):
    failed = in_state(State.FAILED, started_at=timezone.now(), ended_at=timezone.now())
    failed.steps.create(from_state="claimed", to_state="preparing", actor="worker")
    assert command(olga, failed, "archive").status_code == 200
    assert last_fetch_event(failed).kind == FETCH_REQUESTED
    assert command(olga, failed, "archive").status_code == 409


def test_a_machine_does_not_declare_that_a_lost_program_has_ended(in_state, staff, a_lab):
    lost, machine = in_state(State.LOST), script_of(staff, a_lab, "order", kind="machine")
    answer = post(machine, f"{lost.public_id}/ended/", reason="verified on the host")
    assert answer.status_code == 403
    assert Dispatch.objects.get().ended_at is None
