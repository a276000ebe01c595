"""The overview of drives, the calendar, and the records of a drive by API: what the pages show, with their filters."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.test import Client
from django.utils import timezone

from results.models import Evidence, Preparation
from runners.dispatch.orders import Order, order
from runners.inventory.maintenance_windows import plan_window
from runners.models.states import State
from runners.retention.retirement import retire_device
from tests.results.builders import make_user
from tests.runners.ssh_host import HEALTH, ssh_host
from tests.webapp.api.lab.conftest import script_of
from webapp.lab.drives import overview

pytestmark = pytest.mark.django_db
DRIVES, CALENDAR = "/api/v1/lab/drives/", "/api/v1/lab/calendar/"
HOUR = timedelta(hours=1)


def addresses_of(device):
    records = f"/api/v1/lab/devices/{device.pk}/"
    return [DRIVES, CALENDAR, f"{records}states/", f"{records}preparations/"]


def labels(answer):
    return [each["label"] for each in answer.json()["results"]]


@pytest.fixture
def other(device):
    """Return a drive of another host, which does not list it as loadable."""
    host = ssh_host("lab-2", health=HEALTH, checked_at=timezone.now())
    drive = {"drive_key": "nvme:M:S9", "path": "/dev/nvme9n1", "size_bytes": 2**40}
    return host.devices.create(label="slot 9", identity_kind="nvme", identity={"signature": None}, **drive)


def test_a_drive_is_listed_with_what_uses_it(watcher, device, in_state, staff, a_lab):
    telemetry = {"telemetry": {"temperatures": [{"celsius": 40.0}, {"celsius": 47.5}]}}
    started = timezone.now().replace(microsecond=0)
    run = in_state(State.RUNNING, started_at=started, duration_s=3600, progress=telemetry)
    order(device, a_lab, Order(Decimal(1), 3600, 10), staff)
    (row,) = watcher.get(DRIVES).json()["results"]
    expected = {
        "device": device.pk, "host": "local", "label": device.label, "drive_key": device.drive_key,
        "dispatch": run.public_id, "campaign": None, "queued_count": 1, "celsius": 47.5, "is_free": False,
        "is_missing": False, "host_use": "", "ends_at": (started + HOUR).isoformat().replace("+00:00", "Z"),
    }  # fmt: skip
    assert {name: row[name] for name in expected} == expected


def test_the_list_of_drives_has_the_filters_of_the_page(watcher, device, other, in_state):
    in_state(State.RUNNING)
    assert labels(watcher.get(DRIVES)) == ["slot 9", device.label]
    assert labels(watcher.get(f"{DRIVES}?state=busy")) == [device.label]
    assert labels(watcher.get(f"{DRIVES}?state=free")) == ["slot 9"]
    assert labels(watcher.get(f"{DRIVES}?q=LAB-2+slot")) == ["slot 9"]
    assert labels(watcher.get(f"{DRIVES}?q=slot&state=busy")) == []
    assert watcher.get(f"{DRIVES}?q=S9").json()["results"][0]["warnings"] == ["not-listed"]


@pytest.mark.parametrize(
    ("query", "field"), [("state=idle", "state"), ("state=Free", "state"), ("like=c-1", "like"), ("after=1", "after")]
)
def test_an_unknown_filter_of_drives_is_refused(watcher, device, query, field):
    answer = watcher.get(f"{DRIVES}?{query}")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, field)


def test_a_retired_drive_is_in_neither_list(watcher, device, staff):
    retire_device(device, staff, "worn out")
    assert labels(watcher.get(DRIVES)) == []
    assert watcher.get(CALENDAR).json()["results"] == [{"host": "local", "periods": []}]


def test_the_cursor_leads_through_all_drives_once(watcher, device, other, monkeypatch):
    monkeypatch.setattr(overview, "PAGE_DRIVES", 1)
    first = watcher.get(DRIVES)
    assert labels(first) == ["slot 9"]
    second = watcher.get(first.json()["next"])
    assert (labels(second), second.json()["next"]) == ([device.label], None)
    kept = watcher.get(f"{DRIVES}?q=slot&state=free").json()["next"]
    assert "q=slot&" in kept
    assert "state=free" in kept


@pytest.mark.parametrize("cursor", ["x", "cD0x", "cD14", "cj0x"], ids=["no base64", "no such drive", "a name", "empty"])
def test_a_cursor_that_no_page_had_is_not_found(watcher, db, cursor):
    assert watcher.get(f"{DRIVES}?cursor={cursor}").status_code == 404


def test_the_calendar_has_the_periods_of_the_page(watcher, device, in_state, a_lab, staff):
    now = timezone.now()
    running = in_state(State.RUNNING, started_at=now - HOUR, duration_s=3 * 3600)
    waiting = order(device, a_lab, Order(Decimal(2), 3600, 10), staff)
    window = plan_window(None, now + 50 * HOUR, None, "no power", staff)
    (calendar,) = watcher.get(CALENDAR).json()["results"]
    assert calendar["host"] == "local"
    first, second, third = calendar["periods"]
    names = ("kind", "device", "dispatch", "campaign", "maintenance")
    assert [first[name] for name in names] == ["run", device.pk, running.public_id, None, None]
    assert [second[name] for name in names] == ["waiting", device.pk, waiting.public_id, None, None]
    assert (second["starts_at"], Decimal(second["nx_load"])) == (first["ends_at"], 2)
    assert [third[name] for name in names] == ["maintenance", None, None, None, window.pk]
    assert (third["ends_at"], third["reason"], third["is_of_all_hosts"]) == (None, "no power", True)


def test_a_paused_campaign_is_marked_in_the_calendar(olga, device):
    started = olga.post("/api/v1/lab/campaigns/", {"device": device.pk}, content_type="application/json").json()["id"]
    (campaign,) = olga.get(CALENDAR).json()["results"][0]["periods"]
    assert (campaign["kind"], campaign["campaign"], campaign["is_paused"]) == ("campaign", started, False)
    olga.post(f"/api/v1/lab/campaigns/{started}/pause/", {}, content_type="application/json")
    assert olga.get(CALENDAR).json()["results"][0]["periods"][0]["is_paused"] is True


def test_the_records_of_a_drive_are_listed_newest_first(watcher, device, other, dispatch):
    for moment, wear in (("before", 3), ("after", None)):
        dispatch.drive_states.create(moment=moment, drive_key=device.drive_key, wear_pct=wear, firmware="1.2")
    times = {"started_at": timezone.now() - HOUR, "finished_at": timezone.now()}
    evidence = Evidence.objects.create(
        organisation=dispatch.organisation, sha256="5e" * 32, size_bytes=1, filename="p.json"
    )
    Preparation.objects.create(drive_key=device.drive_key, **times)
    Preparation.objects.create(drive_key=device.drive_key, evidence=evidence, **times)
    _, _, states, prepared = addresses_of(device)
    found = watcher.get(states).json()["results"]
    assert [(each["moment"], each["wear_pct"], each["dispatch"]) for each in found] == [
        ("after", None, dispatch.public_id), ("before", 3, dispatch.public_id),
    ]  # fmt: skip
    assert [each["evidence"] for each in watcher.get(prepared).json()["results"]] == [evidence.sha256, None]
    for address in addresses_of(other)[2:]:
        assert watcher.get(address).json()["results"] == []
    assert watcher.get(states.replace(str(device.pk), "4711")).status_code == 404


def test_dispatches_and_campaigns_are_filtered_by_device(olga, device, other, dispatch):
    started = olga.post("/api/v1/lab/campaigns/", {"device": device.pk}, content_type="application/json").json()["id"]
    for kind, expected in (("dispatches", dispatch.public_id), ("campaigns", started)):
        address = f"/api/v1/lab/{kind}/?device="
        assert [each["id"] for each in olga.get(f"{address}{device.pk}").json()["results"]] == [expected]
        assert olga.get(f"{address}{other.pk}").json()["results"] == []
        for unknown in ("4711", "x"):
            answer = olga.get(f"{address}{unknown}")
            assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "device")


def test_operators_and_machines_read_them_and_other_tokens_do_not(olga, watcher, staff, a_lab, device):
    machine = script_of(staff, a_lab, "host", kind="machine")
    submitter = script_of(staff, a_lab, "submit", "read-own", "review")
    member = make_user("mia", a_lab)
    outsider = script_of(member, a_lab, "host")
    for address in addresses_of(device):
        assert [each.get(address).status_code for each in (olga, watcher, machine)] == [200, 200, 200]
        refused = submitter.get(address)
        assert (refused.status_code, refused.json()["code"]) == (403, "scope-missing")
        assert outsider.get(address).status_code == 403
        assert Client().get(address).status_code == 401
        assert olga.post(address, {}, content_type="application/json").status_code == 405
