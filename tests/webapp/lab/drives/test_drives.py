import re
from dataclasses import asdict
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from runners.campaigns.terms import Terms, parse_terms
from runners.errors import DeviceUnknownError
from runners.hosts.local import LocalHost
from runners.hosts.machine import machine_id
from runners.hosts.protocol import FoundDrive, Identity
from runners.inventory.devices import all_last_identified, bind
from runners.models import Campaign, Device, Dispatch, DriveState, Host
from runners.models.states import State
from tests.runners.ssh_host import HEALTH, ssh_host
from webapp.lab.campaigns.templates import QUICK
from webapp.lab.drives import overview, views
from webapp.lab.drives.overview import DriveFilter, drive_rows
from webapp.lab.shared import drive_status

pytestmark = pytest.mark.django_db
FORM = {name: str(value) for name, value in Terms().as_json().items() if name not in {"with_prep", "alone_on_host"}}
ADDRESS = "/lab/drives/campaign/"


@pytest.fixture
def second(device, staff, fake):
    return bind(device.host, fake.add_drive("/dev/fake1", "file:lab1:8:6"), "shelf 2", staff)


def labels(words="", drive_filter=DriveFilter.ALL):
    return [row.device.label for row in drive_rows(words, drive_filter)]


def test_the_page_shows_the_run_of_each_drive_its_end_and_what_waits(lab_client, in_state, new_dispatch, second):
    started_at = datetime(2026, 11, 1, 12, tzinfo=UTC)
    telemetry = {"temperatures": [{"disk": "fake0", "sensor": "Composite", "celsius": 41}]}
    progress = {"tail": ["x"], "telemetry": telemetry}
    running = in_state(State.RUNNING, started_at=started_at, duration_s=3600, progress=progress)
    new_dispatch()
    busy, free = drive_rows()
    assert (busy.dispatch, busy.queued_count, busy.celsius, busy.is_free) == (running, 1, 41, False)
    assert busy.ends_at == datetime(2026, 11, 1, 13, tzinfo=UTC)
    assert (free.dispatch, free.queued_count, free.celsius, free.ends_at, free.is_free) == (None, 0, None, None, True)
    page = lab_client.get("/lab/drives/").text
    for shown in ("shelf 2", f"/lab/dispatches/{running}/", "41 <small>C</small>", "1 November 2026, 13:00 UTC"):
        assert shown in page


def test_drives_are_found_by_words_and_by_what_uses_them(lab_client, in_state, new_dispatch, second):
    in_state(State.RUNNING)
    assert labels("SHELF local") == ["shelf 2"]
    assert labels("shelf fake0") == []
    assert labels("", DriveFilter.FREE) == ["shelf 2"]
    assert labels("", DriveFilter.BUSY) == ["fake drive"]
    assert labels("", DriveFilter.QUEUED) == []
    new_dispatch()
    assert labels("", DriveFilter.QUEUED) == ["fake drive"]
    page = lab_client.get("/lab/drives/?q=nothing+like+this&state=free").text
    assert "No drive matches." in page


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("state=rubbish", "Show: expected no value, or one of free, busy, "),
        ("states=free", "Unknown parameter “states”."),
        ("q=%00", "Search: expected text without a NUL character"),
    ],
)
def test_a_parameter_that_the_list_cannot_use_is_refused(lab_client, device, query, sentence):
    response = lab_client.get(f"/lab/drives/?{query}")
    assert response.status_code == 400
    assert sentence in response.text


def test_drives_are_listed_in_parts_with_a_link_to_the_next_one(lab_client, device, second, monkeypatch):
    monkeypatch.setattr(overview, "PAGE_DRIVES", 1)
    first = lab_client.get("/lab/drives/").text
    assert "fake drive" in first
    assert "shelf 2" not in first
    after = re.search(r'href="(\?[^"]*after=[^"]*)"', first).group(1).replace("&amp;", "&")
    rest = lab_client.get(f"/lab/drives/{after}").text
    assert "shelf 2" in rest
    assert "fake drive" not in rest


@pytest.mark.parametrize("after", ["", "x", "9" * 30, "0"])
def test_a_part_that_begins_after_no_drive_is_the_first_one(lab_client, device, after):
    assert "fake drive" in lab_client.get(f"/lab/drives/?after={after}").text


def test_a_search_looks_in_all_parts(lab_client, device, second, monkeypatch):
    monkeypatch.setattr(overview, "PAGE_DRIVES", 1)
    assert "shelf 2" in lab_client.get("/lab/drives/?q=shelf").text


def test_retired_drives_are_not_listed(second):
    Device.objects.filter(pk=second.pk).update(retired_at=timezone.now())
    assert labels() == ["fake drive"]


@pytest.mark.parametrize(
    ("earlier", "now", "is_new"), [("1.0", "1.1", True), ("1.0", "1.0", False), (None, "1.0", False)]
)
def test_a_drive_with_other_firmware_than_in_its_last_run_is_marked(in_state, earlier, now, is_new):
    dispatch = in_state(State.DONE)
    columns = {"dispatch": dispatch, "drive_key": dispatch.drive_key, "moment": "after", "document": {}}
    DriveState.objects.create(**columns, firmware=earlier)
    Device.objects.filter(pk=dispatch.device_id).update(identity={"firmware": now})
    (row,) = drive_rows()
    assert row.is_firmware_new is is_new
    assert labels("", DriveFilter.NEW_FIRMWARE) == (["fake drive"] if is_new else [])


def test_one_campaign_is_started_on_each_selected_drive(lab_client, device, second, a_lab):
    page = lab_client.get(ADDRESS, {"device": [device.pk, second.pk]}).text
    assert "Start campaigns on 2 drives" in page
    answer = lab_client.post(ADDRESS, FORM | {"device": [device.pk, second.pk], "max_nx": "200"})
    assert answer.headers["Location"] == "/lab/drives/"
    campaigns = Campaign.objects.order_by("device")
    assert [each.device for each in campaigns] == [device, second]
    assert {parse_terms(each.terms).max_nx for each in campaigns} == {200}
    assert {each.organisation for each in campaigns} == {a_lab}


def test_no_campaign_is_started_if_one_drive_refuses_it(lab_client, device, second):
    lab_client.post(ADDRESS, FORM | {"device": [second.pk]})
    page = lab_client.post(ADDRESS, FORM | {"device": [device.pk, second.pk]}).text
    assert "No campaign was started" in page
    assert f"Drive {second.drive_key} is used by campaign" in page
    assert [each.device for each in Campaign.objects.all()] == [second]


def test_each_drive_needs_its_own_consent(lab_client, device, staff, fake):
    other = bind(device.host, fake.add_drive("/dev/fake2", "loop:1:9"), "shelf 9", staff)
    selection = {"device": [device.pk, other.pk]}
    assert "The label does not match." in (refused := lab_client.post(ADDRESS, FORM | selection).text) or (
        "The location of shelf 9 changed" in refused
    )
    assert not Campaign.objects.exists()
    (drive,) = [each for each in lab_client.get(ADDRESS, selection).context["drives"] if each.device == other]
    consent = {
        f"typed_label-{other.pk}": "shelf 9",
        f"shown_signature-{other.pk}": drive.consent["shown_signature"],
        f"shown_place-{other.pk}": drive.consent["shown_location"],
    }
    lab_client.post(ADDRESS, FORM | selection | consent)
    assert Campaign.objects.count() == 2


@pytest.mark.parametrize("query", ["", "?device=", "?device=99999999999", "?device=x", "?device=4711"])
def test_a_selection_without_a_drive_leads_back(lab_client, device, query):
    page = lab_client.get(ADDRESS + query, follow=True).text
    assert "No drive is selected." in page


@pytest.mark.parametrize("address", [ADDRESS, "/lab/devices/{}/campaign/"])
def test_a_campaign_begins_with_a_template_or_with_an_earlier_campaign(lab_client, device, address):
    lab_client.post(f"/lab/devices/{device.pk}/campaign/", FORM | {"max_nx": "77", "vendor": "Acme", "firmware": "1.0"})
    campaign = Campaign.objects.get()

    def initial(like):
        page = lab_client.get(address.format(device.pk), {"device": device.pk, "like": like})
        return page.context["form"]

    assert initial("quick-look")["load_s"].value() == QUICK.load_s
    assert initial("certificate")["load_s"].value() == Terms().load_s
    again = initial(campaign.public_id)
    assert (again["max_nx"].value(), again["vendor"].value(), again["firmware"].value()) == (77, "Acme", "")
    assert initial("k-none")["max_nx"].value() == Terms().max_nx


def test_a_finished_run_is_ordered_again_with_its_settings(lab_client, in_state):
    done = in_state(State.DONE, facts={"vendor": "Acme", "firmware": "1.0"})
    assert f"/order/?like={done}" in lab_client.get(f"/lab/dispatches/{done}/").text
    form = lab_client.get(f"/lab/devices/{done.device_id}/order/", {"like": done.public_id}).context["form"]
    assert (form["nx_load"].value(), form["duration_s"].value()) == (done.nx_load, 60)
    assert (form["vendor"].value(), form["firmware"].value()) == ("Acme", "")
    assert Dispatch.objects.count() == 1
    shown = {name: value for name in form.fields if (value := form[name].value()) not in (None, "", False)}
    assert lab_client.post(f"/lab/devices/{done.device_id}/order/", shown).status_code == 302
    again = Dispatch.objects.exclude(pk=done.pk).get()
    assert (again.nx_load, again.duration_s) == (done.nx_load, 60)


def test_a_selection_of_too_many_drives_is_refused_with_their_number(lab_client, device, monkeypatch):
    monkeypatch.setattr(views, "SELECTED_MAX", 0)
    page = lab_client.get(ADDRESS, {"device": device.pk}, follow=True)
    assert "drives, got 1. Select fewer drives." in page.text


def remote_drive(staff, uses, reported_at=None):
    """Bind the drive nvme:M:S1 of a remote host whose last check reported these uses."""
    found = FoundDrive("/dev/nvme0n1", "nvme", "nvme:M:S1", 2**40, uses=uses, mount_points=uses and ["/"])
    clock = {"clock_unix_ns": int((reported_at or timezone.now()).timestamp() * 10**9), "clock_offset_s": 0}
    host = ssh_host(health=HEALTH | clock | {"found": [asdict(found)]})
    return bind(host, Identity(found.path, "nvme", found.drive_key, 2**40), "far 1", staff)


@pytest.mark.parametrize(
    ("uses", "use", "is_free"),
    [
        (["mounted"], "mounted at /", False),
        (["swap", "held"], "used as swap, held by another device", False),
        ([], "", True),
        (None, "", True),
    ],
)
def test_a_drive_that_its_remote_host_uses_is_not_free(lab_client, staff, uses, use, is_free):
    remote_drive(staff, uses)
    (row,) = drive_rows()
    assert (row.use, row.is_free) == (use, is_free)
    assert labels("", DriveFilter.FREE) == (["far 1"] if is_free else [])
    assert labels("", DriveFilter.IN_USE) == ([] if is_free else ["far 1"])
    page = lab_client.get("/lab/drives/").text
    assert (f'<span class="fail">in use</span> {use}' in page) is not is_free


@pytest.mark.parametrize(("ended_after_s", "use"), [(1, ""), (0, ""), (-1, "open in a program")])
def test_a_drive_that_was_open_for_a_run_of_the_register_is_free_when_the_run_has_ended(
    in_state, staff, ended_after_s, use
):
    reported_at = timezone.now().replace(microsecond=0) - timedelta(minutes=2)
    device = remote_drive(staff, ["open"], reported_at)
    ended_at = reported_at + timedelta(seconds=ended_after_s)
    done = in_state(State.DONE)
    times = {"started_at": reported_at - timedelta(hours=1), "ended_at": ended_at}
    Dispatch.objects.filter(pk=done.pk).update(device=device, drive_key=device.drive_key, **times)
    row = next(row for row in drive_rows() if row.device == device)
    assert (row.use, row.is_free) == (use, not use)


@pytest.fixture
def this_machine(device, monkeypatch):
    """Make the host this machine, with a drive that is free."""
    Host.objects.filter(pk=device.host_id).update(machine_id=machine_id())
    monkeypatch.setattr(LocalHost, "identify", lambda _host, path: Identity(path, "virtual", device.drive_key, 2**30))
    monkeypatch.setattr(LocalHost, "find", lambda _host, _key, _size: [])
    monkeypatch.setattr(LocalHost, "list_drives", lambda _host: [])
    return device


def vanished(_host, path):
    raise DeviceUnknownError(f"{path}: no such device")


def test_a_drive_that_this_machine_does_not_find_is_not_free(lab_client, this_machine, monkeypatch):
    assert labels("", DriveFilter.FREE) == ["fake drive"]
    monkeypatch.setattr(LocalHost, "identify", vanished)
    assert labels("", DriveFilter.FREE) == []
    assert labels("", DriveFilter.MISSING) == ["fake drive"]
    assert '<span class="fail">not found</span>' in lab_client.get("/lab/drives/").text


def test_a_drive_that_this_machine_uses_is_not_free(this_machine, monkeypatch):
    found = FoundDrive(this_machine.path, "virtual", this_machine.drive_key, 2**30, uses=["mounted"])
    monkeypatch.setattr(LocalHost, "list_drives", lambda _host: [found])
    assert labels("", DriveFilter.IN_USE) == ["fake drive"]
    assert labels("", DriveFilter.FREE) == []


def test_the_drives_of_this_machine_are_not_queried_during_a_run(this_machine, in_state, monkeypatch):
    in_state(State.RUNNING)
    for name in ("identify", "find", "list_drives"):
        monkeypatch.setattr(LocalHost, name, lambda *_: pytest.fail("a drive was queried during a run"))
    assert labels() == ["fake drive"]


def test_a_device_that_is_added_while_the_page_opens_is_no_error(device, second, monkeypatch):
    calls = []

    def without_the_second(devices):
        calls.append(all_last_identified(devices))
        return {key: report for key, report in calls[-1].items() if key != second.pk}

    monkeypatch.setattr(drive_status, "all_last_identified", without_the_second)
    assert labels() == ["fake drive", "shelf 2"]
    assert len(calls) == 1
