"""Changes of devices by API: identify, add, refresh, rename, retire."""

import pytest

from results.models import Event
from runners.models import Device
from runners.models.states import State
from tests.runners.ssh_host import ssh_host
from tests.webapp.api.lab.conftest import script_of
from webapp.lab.devices import commands

pytestmark = pytest.mark.django_db
ADDRESS = "/api/v1/lab/devices/"
IDENTIFY = "/api/v1/lab/hosts/local/identify/"


@pytest.fixture(autouse=True)
def host_answers(monkeypatch, fake):
    monkeypatch.setattr(commands, "connect", lambda _host: fake)


@pytest.fixture
def second(device, fake):
    """Return the identity of a drive that is no device yet."""
    return fake.add_drive("/dev/fake1", "file:lab1:8:6")


def post(client, address, **fields):
    return client.post(address, fields, content_type="application/json")


def refused(answer):
    return (answer.status_code, answer.json()["code"])


def test_a_drive_is_identified_then_added_once(olga, staff, device, second):
    found = post(olga, IDENTIFY, path="/dev/fake1")
    assert found.status_code == 200
    shown = found.json()
    assert (shown["drive_key"], shown["objections"], shown["device"]) == ("file:lab1:8:6", [], None)
    assert Device.objects.count() == 1
    stated = {name: shown[name] for name in ("path", "drive_key", "label")}
    added = post(olga, ADDRESS, host="local", **stated)
    assert (added.status_code, added.json()["label"]) == (201, shown["label"])
    assert added.headers["Location"] == f"{ADDRESS}{added.json()['id']}/"
    assert post(olga, ADDRESS, host="local", **stated).status_code == 200
    assert post(olga, IDENTIFY, path="/dev/fake1").json()["device"] == added.json()["id"]
    assert Device.objects.count() == 2
    assert {each.actor for each in Event.objects.filter(kind="device-bound")} == {staff}


def test_a_path_that_names_another_drive_now_is_not_bound(olga, device, second):
    answer = post(olga, ADDRESS, host="local", path="/dev/fake1", drive_key="file:lab1:8:7", label="x")
    assert refused(answer) == (409, "location-changed")
    assert Device.objects.get() == device


def test_a_label_in_use_and_a_drive_with_another_label_are_refused(olga, device, second):
    drive = {"host": "local", "path": "/dev/fake1", "drive_key": "file:lab1:8:6"}
    assert refused(post(olga, ADDRESS, **drive, label=device.label.upper())) == (409, "label-taken")
    assert refused(post(olga, IDENTIFY, path="/dev/fake1", label=device.label)) == (409, "label-taken")
    assert post(olga, ADDRESS, **drive, label="bench 2").status_code == 201
    assert refused(post(olga, ADDRESS, **drive, label="bench 3")) == (409, "bound-already")


def test_a_path_that_the_host_does_not_know_is_refused(olga, device):
    assert refused(post(olga, IDENTIFY, path="/dev/none")) == (409, "host-refused")


def test_a_host_that_does_not_answer_is_named(olga, device, fake):
    fake.is_silent = True
    assert refused(post(olga, IDENTIFY, path=device.path)) == (409, "host-unavailable")


@pytest.mark.parametrize(
    ("address", "fields"),
    [
        (IDENTIFY, {}),
        (IDENTIFY, {"path": "fake1"}),
        (IDENTIFY, {"path": "/dev/fake1", "size": 1}),
        (IDENTIFY, {"path": "/dev/new", "create_mib": 64}),
        ("/api/v1/lab/hosts/lab-1/identify/", {"path": "/dev/fake1", "create_mib": 64}),
        (ADDRESS, {"path": "/dev/fake1", "drive_key": "x", "label": "x"}),
        (ADDRESS, {"host": "nowhere", "path": "/dev/fake1", "drive_key": "x", "label": "x"}),
        (ADDRESS, {"host": "local", "path": "/dev/fake1", "label": "x"}),
    ],
)
def test_an_invalid_device_is_refused(olga, device, address, fields):
    ssh_host()
    assert post(olga, address, **fields).status_code == 400


def test_a_device_is_renamed_and_a_repeated_request_changes_nothing(olga, device, second, staff):
    for _ in range(2):
        answer = olga.patch(f"{ADDRESS}{device.pk}/", {"label": "bench 9"}, content_type="application/json")
        assert answer.json()["label"] == "bench 9"
    assert Event.objects.get(kind="device-renamed").details["before"] == device.label
    assert olga.patch(f"{ADDRESS}{device.pk}/", {"label": ""}, content_type="application/json").status_code == 400


def test_a_refresh_stores_what_the_host_reports_now(olga, device, fake):
    fake.add_drive(device.path, device.drive_key, firmware="GDC5")
    assert post(olga, f"{ADDRESS}{device.pk}/refresh/").status_code == 200
    device.refresh_from_db()
    assert device.identity["firmware"] == "GDC5"


def test_a_refresh_is_refused_during_a_run(olga, device, in_state):
    in_state(State.RUNNING)
    assert refused(post(olga, f"{ADDRESS}{device.pk}/refresh/")) == (409, "refresh-refused")


def test_a_device_is_retired_for_a_reason_and_returned(olga, device):
    address = f"{ADDRESS}{device.pk}/"
    assert refused(post(olga, f"{address}retire/")) == (409, "retirement-refused")
    assert post(olga, f"{address}retire/", reason="worn out").json()["retired_at"] is not None
    assert refused(post(olga, f"{address}refresh/")) == (409, "out-of-service")
    assert post(olga, f"{address}restore/").json()["retired_at"] is None
    assert refused(post(olga, f"{address}restore/")) == (409, "in-service")


def test_a_machine_refreshes_a_device_and_changes_none(olga, staff, a_lab, device):
    machine = script_of(staff, a_lab, "order", kind="machine")
    address = f"{ADDRESS}{device.pk}/"
    assert post(machine, f"{address}refresh/").status_code == 200
    for changing in (ADDRESS, f"{address}retire/", f"{address}restore/"):
        assert post(machine, changing).status_code == 403
    assert machine.patch(address, {"label": "x"}, content_type="application/json").status_code == 403


@pytest.mark.parametrize("part", ["refresh", "retire", "restore"])
def test_commands_refuse_unknown_fields_and_unknown_devices(olga, device, part):
    assert post(olga, f"{ADDRESS}{device.pk}/{part}/", force=True).status_code == 400
    assert post(olga, f"{ADDRESS}4711/{part}/").status_code == 404
