"""Hosts, devices and leftover files by API."""

import pytest
from django.utils import timezone

from runners.models import Dispatch, Host
from runners.models.states import State
from tests.runners.lab import add_outage
from tests.runners.ssh_host import HEALTH, ssh_host
from tests.webapp.lab.shared.test_drive_status import DATA, EXT4, holding

pytestmark = pytest.mark.django_db
ENDED = {"started_at": "2026-11-01T00:00Z", "ended_at": "2026-11-02T00:00Z"}
FOUND = {
    "path": "/dev/nvme0n1",
    "kind": "nvme",
    "drive_key": "nvme:M:S1",
    "size_bytes": 2**40,
    "model": "M",
    "serial": None,
}


def test_a_host_over_ssh_is_shown_with_its_report_and_its_drives(watcher):
    others = [FOUND, FOUND | {"path": "/dev/nvme1n1", "drive_key": "nvme:M:S2"}]
    ssh_host("lab-2", health=HEALTH | {"found": others}, checked_at=timezone.now())
    shown = watcher.get("/api/v1/lab/hosts/lab-2/").json()
    assert (shown["kind"], shown["kernel"], shown["free_bytes"]) == ("ssh", "6.1.0", HEALTH["free_bytes"])
    assert [(each["drive_key"], each["is_listed"], each["device"]) for each in shown["drives"]] == [
        ("nvme:M:S1", True, None), ("nvme:M:S2", False, None),
    ]  # fmt: skip
    assert shown["drives_unknown_reason"] == ""


def test_the_list_of_hosts_says_why_one_gets_no_work(watcher, device, dispatch):
    Host.objects.create(name="gone", kind="local", retired_at=timezone.now())
    add_outage(dispatch, timezone.now())
    gone, local = watcher.get("/api/v1/lab/hosts/").json()["results"]
    assert (gone["name"], len(gone["no_work"]), gone["outages"]) == ("gone", 1, [])
    assert [(each["cause"], each["until"]) for each in local["outages"]] == [("no-answer", None)]
    assert watcher.get("/api/v1/lab/hosts/none/").status_code == 404


def test_a_device_states_what_an_order_has_to_repeat(watcher, device):
    shown = watcher.get(f"/api/v1/lab/devices/{device.pk}/").json()
    place = f"{device.path} of {device.size_bytes} bytes"
    expected = {"shown_signature": "", "shown_place": place, "must_type_label": False, "is_wiped_at_host": False}
    assert shown["consent"] == expected
    assert shown["use"] == {"is_free": True, "host_use": "", "campaign": None, "dispatch": None, "queued_count": 0}
    holding(device, **DATA)
    shown = watcher.get(f"/api/v1/lab/devices/{device.pk}/").json()
    assert shown["consent"] == expected | {"shown_signature": EXT4, "must_type_label": True}
    assert shown["warnings"][0]["code"] == "holds-data"
    assert EXT4 in shown["warnings"][0]["detail"]


def test_devices_are_listed_with_the_use_of_their_drive_in_the_detail(watcher, device, in_state):
    dispatch = in_state(State.RUNNING)
    assert [each["id"] for each in watcher.get("/api/v1/lab/devices/").json()["results"]] == [device.pk]
    use = watcher.get(f"/api/v1/lab/devices/{device.pk}/").json()["use"]
    assert (use["is_free"], use["dispatch"]) == (False, dispatch.public_id)


def test_leftover_files_are_listed_until_they_are_archived(watcher, device, in_state):
    address = "/api/v1/lab/hosts/local/leftovers/"
    dispatch = in_state(State.FAILED, **ENDED, log_bytes=5)
    dispatch.steps.create(from_state="claimed", to_state="preparing", actor="worker")
    (row,) = watcher.get(address).json()
    assert (row["id"], row["log_bytes"], row["is_requested"]) == (dispatch.public_id, 5, False)
    Dispatch.objects.update(run_dirs_removed_at=timezone.now())
    assert watcher.get(address).json() == []


def test_a_repeated_request_with_the_etag_gets_304(watcher, device):
    address = f"/api/v1/lab/devices/{device.pk}/"
    etag = watcher.get(address).headers["ETag"]
    assert watcher.get(address, headers={"If-None-Match": etag}).status_code == 304
