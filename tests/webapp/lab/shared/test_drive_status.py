import re
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from results.models import Event
from runners.inventory.devices import bind
from runners.models import HAS_WRITTEN, Device, Dispatch, DriveState, Host
from runners.models.states import State
from runners.retention.retirement import retire_device, retire_host, return_to_service
from tests.runners.fake_host import FakeHost
from tests.runners.ssh_host import HEALTH, PINNED
from tests.webapp.api.lab.conftest import script_of
from webapp.lab.devices import commands as binding
from webapp.lab.shared.drive_status import binding_warnings, drive_warnings, must_type_label
from webapp.lab.shared.drive_warnings import WarningCode

pytestmark = pytest.mark.django_db

EXT4 = "an ext2, ext3 or ext4 file system"
DATA = {"signature": EXT4}
WRITTEN = {"log_bytes": 1}


@pytest.fixture
def fake():
    """A drive of unknown content."""
    host = FakeHost()
    host.add_drive()
    return host


def holding(device, **identity):
    Device.objects.filter(pk=device.pk).update(identity=identity)
    device.refresh_from_db()
    return device


def over_ssh(device, **columns):
    return remote(device, "ssh", **PINNED, **columns)


def remote(device, kind, **columns):
    Host.objects.filter(pk=device.host_id).update(kind=kind, **columns)
    return Device.objects.select_related("host").get(pk=device.pk)


def codes(warnings):
    return [warning.code for warning in warnings]


def test_the_page_states_that_a_drive_in_use_was_not_checked(device, fake, lab_client, monkeypatch):
    monkeypatch.setattr(binding, "connect", lambda host: fake)
    mounted = {"id": "mounted", "sentence": "/dev/fake0: mounted at /mnt"}
    fake.add_drive(refusals=[mounted["sentence"]])
    fake.drives["/dev/fake0"].document["refusals"] = [mounted]
    said = lab_client.post("/lab/hosts/local/devices/add/", {"path": "/dev/fake0"}).text
    assert "/dev/fake0 is in use, so its content was not checked." in said
    assert "No data was recognised" not in said
    fake.add_drive()
    assert "No data was recognised" in lab_client.post("/lab/hosts/local/devices/add/", {"path": "/dev/fake0"}).text


@pytest.mark.parametrize(
    ("identity", "expected"),
    [
        ({"signature": None}, ["may-hold-data"]),
        (DATA, ["holds-data"]),
        ({}, ["data-unknown"]),
        ({"signature": None, "refusals": [{"id": "mounted", "sentence": "it is"}]}, ["data-unknown"]),
        ({"signature": None, "refusals": [{"id": "read-only", "sentence": "it is"}]}, ["may-hold-data"]),
        ({"signature": None, "signature_error": "Input/output error (os error 5)"}, ["data-unknown"]),
    ],
)
def test_recognised_and_unknown_data_both_give_a_warning(device, identity, expected):
    assert codes(drive_warnings(holding(device, **identity))) == expected
    assert must_type_label(device)


@pytest.mark.parametrize("place", ["/lab/", "/lab/hosts/local/"])
def test_lists_mark_a_drive_with_data_and_an_unlisted_one(device, dispatch, lab_client, place):
    def marks():
        return re.findall(r'<span class="fail">([^<]+)</span>', row_of(lab_client.get(place).text, device.label))

    assert marks() == []
    over_ssh(device, health=HEALTH, checked_at=timezone.now())
    assert marks() == ["not listed"]
    Host.objects.update(health=HEALTH | {"drives": [device.drive_key]})
    assert marks() == []
    holding(device, **DATA)
    assert marks() == ["holds data"]
    clean = {"signature": None}
    DriveState.objects.create(dispatch=dispatch, moment="before", drive_key=device.drive_key, document=clean)
    assert marks() == []


def row_of(page, label):
    rows = re.findall(r"<tr>.*?</tr>", page, re.DOTALL)
    return next(row for row in rows if f">{label}</a>" in row and "Last seen at" in row)


@pytest.mark.parametrize(
    "place", ["/lab/", "/lab/drives/", "/lab/devices/{pk}/order/", "/lab/drives/campaign/?device={pk}"]
)
def test_other_words_for_a_warning_change_pages_and_no_code(device, staff, a_lab, lab_client, monkeypatch, place):
    monkeypatch.setattr(WarningCode.HOLDS_DATA, "_label_", "has data on it")
    holding(device, **DATA)
    assert '<span class="fail">has data on it</span>' in lab_client.get(place.format(pk=device.pk)).text
    script = script_of(staff, a_lab, "host")
    (row,) = script.get("/api/v1/lab/drives/").json()["results"]
    found = script.get(f"/api/v1/lab/devices/{device.pk}/").json()
    assert (row["warnings"], [each["code"] for each in found["warnings"]]) == (["holds-data"], ["holds-data"])


def test_an_unreadable_drive_gives_a_warning_with_the_cause(device):
    (warning,) = drive_warnings(holding(device, signature=None, signature_error="Input/output error (os error 5)"))
    assert "The host could not read the drive: Input/output error (os error 5)." in warning.text


def test_the_content_is_known_if_a_run_wrote_since_binding(device, dispatch, staff, fake):
    Dispatch.objects.update(**WRITTEN, started_at=timezone.now())
    assert drive_warnings(device) == []
    assert not must_type_label(device)
    bind(device.host, fake.drives[device.path], device.label, staff)
    assert codes(drive_warnings(device)) == ["may-hold-data"]
    assert must_type_label(device)


def test_the_content_of_a_drive_in_use_is_unknown_even_after_a_run(device, in_state):
    dispatch = in_state(State.DONE, **WRITTEN, started_at=timezone.now())
    assert drive_warnings(device) == []
    mounted = {"signature": None, "refusals": [{"id": "mounted", "sentence": "it is"}]}
    DriveState.objects.create(dispatch=dispatch, moment="after", drive_key=device.drive_key, document=mounted)
    assert codes(drive_warnings(device)) == ["data-unknown"]
    assert must_type_label(device)


@pytest.mark.parametrize("is_host", [False, True])
def test_a_drive_that_was_out_of_service_since_then_may_have_data_of_others(device, in_state, staff, is_host):
    dispatch = in_state(State.DONE, **WRITTEN, started_at=timezone.now(), ended_at=timezone.now())
    DriveState.objects.create(dispatch=dispatch, moment="after", drive_key=device.drive_key, document=DATA)
    if is_host:
        retire_host(device.host, staff, "lent", abandons_leftovers=True)
        return_to_service(device.host, staff)
    else:
        retire_device(device, staff, "lent")
        return_to_service(device, staff)
    assert codes(drive_warnings(device)) == ["holds-data"], "the last report is used"
    clean = {"signature": None}
    DriveState.objects.create(dispatch=dispatch, moment="before", drive_key=device.drive_key, document=clean)
    assert codes(drive_warnings(device)) == ["may-hold-data"]
    Dispatch.objects.update(started_at=timezone.now())
    assert drive_warnings(device) == []


@pytest.mark.parametrize(
    ("state", "columns", "is_known"),
    [
        (State.RUNNING, {}, False),
        (State.FAILED, {}, False),
        (State.RUNNING, {"log_bytes": 1}, True),
        (State.RUNNING, {"progress": {"tail": []}}, False),
        (State.RUNNING, {"progress": {"tail": ["mkfs"]}}, True),
        (State.COLLECTING, {"log_bytes": 1, "exit_status": 2}, False),
        (State.REFUSED, {"log_bytes": 1}, False),
        (State.CANCELLED, {"log_bytes": 1}, True),
        (State.DONE, {"log_bytes": 1, "recipe": "ycsb"}, False),
        (State.DONE, {"log_bytes": 1, "recipe": "ycsb", "resets_drive_at": timezone.now()}, True),
    ],
)
def test_the_content_of_a_drive_is_known_only_if_drivetest_allowed_the_run_to_write(
    device, in_state, state, columns, is_known
):
    dispatch = in_state(state, started_at=timezone.now(), **columns)
    assert dispatch.has_written is Dispatch.objects.filter(HAS_WRITTEN).exists()
    assert must_type_label(device) is not is_known


@pytest.mark.parametrize(
    ("kind", "way"),
    [
        ("local", "type the label of the device"),
        ("ssh", "Wipe the drive at the host"),
        ("agent", "Wipe the drive at the host"),
    ],
)
def test_the_warning_explains_how_to_overwrite_data(device, kind, way):
    holding(device, **DATA)
    assert way in drive_warnings(remote(device, kind, **PINNED))[0].text


@pytest.mark.parametrize(("identity", "is_file"), [({}, True), ({"backing": "/srv/drive.img"}, False)])
def test_a_plain_file_was_empty_at_binding_and_the_content_of_a_loop_device_is_unknown(device, identity, is_file):
    Device.objects.filter(pk=device.pk).update(drive_key="file:lab1:8:5")
    assert must_type_label(holding(device, signature=None, **identity)) is not is_file


def test_the_last_report_is_used_and_dated(device, dispatch):
    holding(device, **DATA)
    bound = Event.objects.get(kind="device-bound")
    assert f"{bound.at:%-d %B %Y, %H:%M} UTC" in drive_warnings(device)[0].text
    DriveState.objects.create(dispatch=dispatch, moment="before", drive_key=device.drive_key, reason="away")
    assert codes(drive_warnings(device)) == ["holds-data"]
    DriveState.objects.create(
        dispatch=dispatch, moment="after", drive_key=device.drive_key, document={"signature": None}
    )
    assert codes(drive_warnings(device)) == ["may-hold-data"]


@pytest.mark.parametrize(
    ("health", "expected"),
    [({}, ["list-unknown"]), (HEALTH, ["not-listed"]), (HEALTH | {"drives": ["loop:1:2"]}, [])],
)
def test_an_unlisted_drive_gives_a_warning(device, dispatch, health, expected):
    Dispatch.objects.update(**WRITTEN, started_at=timezone.now())
    device = over_ssh(device, health=health)
    assert codes(drive_warnings(device)) == expected
    clean = {"signature": None}
    assert codes(binding_warnings(device.host, device.path, device.drive_key, clean)) == ["may-hold-data", *expected]


def test_the_codes_of_warnings_are_public_names():
    assert set(WarningCode.values) == {
        "retired", "not-checked", "holds-data", "data-unknown", "may-hold-data", "overloaded", "list-unknown",
        "not-listed",
    }  # fmt: skip


def test_a_retired_device_gives_one_warning_with_the_remedy(device, staff):
    retire_device(device, staff, "lent")
    device.refresh_from_db()
    (warning,) = drive_warnings(device)
    assert (warning.code, "return it to service" in warning.text) == ("retired", True)


def test_the_list_has_the_time_of_the_last_check(device):
    *_, caution = drive_warnings(over_ssh(device, health=HEALTH))
    assert datetime.fromtimestamp(1_800_000_000, UTC).strftime("%-d %B %Y, %H:%M UTC") in caution.text


def test_a_device_is_renamed_by_its_own_form_and_the_history_has_both_names(lab_client, device):
    address = f"/lab/devices/{device.pk}/label/"
    assert "The label was not changed" in lab_client.post(address, {"label": " "}, follow=True).text
    assert (
        "Device fake drive was renamed to bench 3" in lab_client.post(address, {"label": "bench 3"}, follow=True).text
    )
    device.refresh_from_db()
    assert device.label == "bench 3"
    assert Event.objects.get(kind="device-renamed").details == {"label": "bench 3", "before": "fake drive"}


@pytest.mark.parametrize(
    ("minutes", "exit_status", "expected"),
    [(12, 4, ["overloaded"]), (119, 4, ["overloaded"]), (121, 4, []), (12, 0, [])],
)
def test_a_recent_overload_gives_a_warning_on_the_order_pages(
    lab_client, device, in_state, minutes, exit_status, expected
):
    ended_at = timezone.now() - timedelta(minutes=minutes)
    dispatch = in_state(State.DONE, started_at=ended_at, ended_at=ended_at, exit_status=exit_status)
    assert [each for each in codes(drive_warnings(device)) if each != "may-hold-data"] == expected
    for part in ("", "order/"):
        page = lab_client.get(f"/lab/devices/{device.pk}/{part}").text
        assert (f"The last run, {dispatch}, overloaded the drive and ended {minutes} minutes ago" in page) is bool(
            expected
        )
