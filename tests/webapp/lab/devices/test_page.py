import pytest
from django.test import Client

from runners.campaigns.commands import CampaignOrder, start
from runners.campaigns.terms import Terms
from runners.errors import HostUnavailableError
from runners.hosts.local import LocalHost
from runners.hosts.protocol import parse_drives
from runners.models import Device, Dispatch, Host
from runners.models.states import State
from runners.recipes.ycsb_setup import Setup
from tests.runners.lab import poll
from tests.runners.prep_record import prep_record
from tests.runners.ssh_host import HEALTH, PINNED, agent_host, ssh_host
from tests.webapp.lab.programs import allow
from webapp.lab.devices import commands as device_commands
from webapp.lab.dispatches.forms import YcsbForm
from webapp.lab.shared import drive_status

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def every_program_is_allowed(settings, tmp_path):
    settings.LAB_PROGRAMS = str(allow(tmp_path / "all.json"))


def address(device, part=""):
    return f"/lab/devices/{device.pk}/{part}"


def text(answer):
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_drive_without_runs_has_no_states(lab_client, device):
    page = text(lab_client.get(address(device)))
    assert "No dispatch has recorded the state of this drive yet" in page
    assert "No preparation of this drive is recorded" in page


def test_the_states_of_a_drive_are_shown_on_its_page_and_on_that_of_the_dispatch(lab_client, device, fake, connect):
    fake.add_drive(drive_key=device.drive_key, firmware="GDC5", wear_pct=3)
    lab_client.post(address(device, "prepare/"))
    dispatch = Dispatch.objects.get()
    poll(dispatch.pk, connect)
    fake.files[dispatch.public_id] |= {"log": b"salting\n", "side.jsonl": prep_record(dispatch.drive_key)}
    poll(dispatch.pk, connect)
    assert "salt:" in text(lab_client.get(f"/lab/dispatches/{dispatch.public_id}/"))
    fake.end(dispatch.public_id, 0)
    poll(dispatch.pk, connect)
    for page in (address(device), f"/lab/dispatches/{dispatch.public_id}/"):
        shown = text(lab_client.get(page))
        assert shown.count("GDC5") == 2
        assert "not reported" in shown
    dispatch.refresh_from_db()
    assert (dispatch.state, dispatch.options) == (State.DONE, {})
    assert dispatch.preparation.evidence.sha256[:12] in text(lab_client.get(address(device)))


@pytest.mark.parametrize("remote_host", [ssh_host, agent_host])
def test_a_sweep_on_a_remote_host_is_refused_until_its_operator_allows_the_programs(lab_client, device, remote_host):
    device.host = remote_host()
    device.save()
    assert address(device, "ycsb/") in text(lab_client.get(address(device)))
    form_data = {"preset": "no-database", "client": "java"}
    refused = text(lab_client.post(address(device, "ycsb/"), form_data))
    assert "has not reported the programs that its operator allows" in refused
    assert "It installs nothing." in refused
    Host.objects.filter(pk=device.host_id).update(health=HEALTH | {"programs": [], "programs_problem": None})
    assert "allows no program of sweeps" in text(lab_client.post(address(device, "ycsb/"), form_data))
    assert not Dispatch.objects.exists()


def test_the_page_of_a_device_shows_what_its_remote_host_uses_the_drive_for(lab_client, device):
    drive = {"kind": "nvme", "size_bytes": 2**40, "model": "M", "serial": "S"} | {
        "path": device.path,
        "drive_key": device.drive_key,
    }
    host = Host.objects.filter(pk=device.host_id)
    for uses, points, shown in [(["mounted", "open"], ["/"], "mounted at /"), (["open"], [], ""), ([], [], "")]:
        found = drive | {"uses": uses, "mount_points": points}
        host.update(kind="ssh", **PINNED, health=HEALTH | {"found": [found]})
        page = text(lab_client.get(address(device)))
        assert ("used this drive: mounted at /." in page, "The drive is free." in page) == (bool(shown), not shown)


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        ({}, "Host local uses this drive: mounted at /srv, used as swap."),
        ({"uses": [], "mount_points": []}, ""),
        ({"uses": None, "mount_points": None}, ""),
        ({"path": "/dev/other"}, ""),
        ({"drive_key": "file:lab1:8:7"}, ""),
    ],
)
def test_the_page_of_a_device_of_this_machine_shows_what_uses_its_drive_now(
    lab_client, device, monkeypatch, change, shown
):
    found = {"path": device.path, "drive_key": device.drive_key, "kind": "nvme", "size_bytes": 2**40, "model": "M"}
    found |= {"serial": "S", "uses": ["mounted", "swap"], "mount_points": ["/srv"]} | change
    monkeypatch.setattr(LocalHost, "list_drives", lambda _host: parse_drives({"drives": [found]}))
    monkeypatch.setattr(drive_status, "is_queried_now", lambda _host: True)
    page = text(lab_client.get(address(device)))
    assert (shown in page, "The drive is free." in page) == (True, not shown)


def test_a_machine_that_cannot_list_its_drives_states_no_use(lab_client, device, monkeypatch):
    def fail(_host):
        raise HostUnavailableError("drivetest did not answer")

    monkeypatch.setattr(LocalHost, "list_drives", fail)
    monkeypatch.setattr(drive_status, "is_queried_now", lambda _host: True)
    assert "The drive is free." in text(lab_client.get(address(device)))


def test_the_page_of_a_device_does_not_query_this_machine_during_a_run(lab_client, device, in_state, monkeypatch):
    monkeypatch.setattr(LocalHost, "list_drives", lambda _host: pytest.fail("a query would disturb the run"))
    in_state(State.RUNNING)
    assert "uses this drive" not in text(lab_client.get(address(device)))


def test_presets_are_shown_as_command_lines(lab_client, device):
    page = text(lab_client.get(address(device, "ycsb/")))
    assert "ycsb -load -db site.ycsb.db.rocksdb.RocksDBClient -P ../workloada -p rocksdb.dir=/var/lib/rocksdb" in page
    assert "mount -t xfs -o noatime,nodiratime,norelatime {device} /var/lib/rocksdb" in page


def test_a_sweep_is_ordered_by_a_preset_with_changes(lab_client, device):
    form_data = {"preset": "micron-7450-rocksdb", "client": "java", "threads": "4,8", "record_count": "1000"}
    lab_client.post(address(device, "ycsb/"), form_data)
    dispatch = Dispatch.objects.get()
    assert (dispatch.recipe, dispatch.nx_load, dispatch.duration_s) == ("ycsb", None, None)
    assert dispatch.options == {
        "preset": "micron-7450-rocksdb", "client": "java", "threads": [4, 8], "record_count": 1000,
    }  # fmt: skip
    page = text(lab_client.get(f"/lab/dispatches/{dispatch.public_id}/"))
    assert "YCSB" in page
    for ordered in ("micron-7450-rocksdb", "java", "4, 8", "1000"):
        assert f"<dd>{ordered}</dd>" in page
    assert "Slice length" not in page
    assert "ycsb" in text(lab_client.get("/lab/"))


def test_the_order_page_warns_that_the_list_of_programs_is_missing(lab_client, device, settings, tmp_path):
    settings.LAB_PROGRAMS = str(tmp_path / "programs.json")
    said = f"A sweep would be refused now. {settings.LAB_PROGRAMS} is missing"
    assert said in text(lab_client.get(address(device, "ycsb/")))
    (tmp_path / "programs.json").write_text("{}")
    assert "would be refused" not in text(lab_client.get(address(device, "ycsb/")))


def test_an_impossible_sweep_is_refused_with_the_reason(lab_client, device):
    page = text(lab_client.post(address(device, "ycsb/"), {"preset": "micron-x100-aerospike", "client": "java"}))
    assert "the source does not state it" in page
    assert not Dispatch.objects.exists()


def test_refreshing_a_device_removes_signatures_that_are_no_longer_on_it(lab_client, device, fake, monkeypatch):
    monkeypatch.setattr(device_commands, "connect", lambda host: fake)
    Device.objects.update(identity={"signature": "an XFS file system"})
    assert "holds an XFS file system" in text(lab_client.get(address(device)))
    page = text(lab_client.post(address(device, "look/"), follow=True))
    assert "was refreshed. Its path is /dev/fake0" in page
    assert "holds an XFS" not in page
    fake.drives.clear()
    assert "was not refreshed: local does not find drive" in text(
        lab_client.post(address(device, "look/"), follow=True)
    )


ORDERS = ["", "order/", "ycsb/", "campaign/"]


@pytest.mark.parametrize("part", ORDERS)
def test_order_pages_of_a_busy_drive_show_its_run(lab_client, device, dispatch, in_state, part):
    assert "1 dispatch in the queue for this drive." in text(lab_client.get(address(device, part)))
    in_state(State.RUNNING, log_bytes=1)
    page = text(lab_client.get(address(device, part)))
    assert f'busy with <a class="whole" href="/lab/dispatches/{dispatch}/">{dispatch}</a>, which is running' in page
    in_state(State.LOST)
    assert "which is lost and may still run" in text(lab_client.get(address(device, part)))
    in_state(State.DONE)
    assert "The drive is free." in text(lab_client.get(address(device, part)))


@pytest.mark.parametrize("part", ORDERS)
def test_order_pages_of_a_drive_show_an_open_campaign(lab_client, device, a_lab, staff, part):
    campaign = start(device, a_lab, CampaignOrder(Terms()), staff)
    link = f'<a class="whole" href="/lab/campaigns/{campaign}/">{campaign}</a>'
    assert f"Campaign {link} uses this drive (active)" in text(lab_client.get(address(device, part)))


def test_the_page_of_a_device_links_to_its_dispatches_and_campaigns(lab_client, device, dispatch, a_lab, staff):
    campaign = start(device, a_lab, CampaignOrder(Terms()), staff)
    page = text(lab_client.get(address(device)))
    assert f'<th scope="row" class="whole"><a href="/lab/dispatches/{dispatch}/">' in page
    assert f'<li><a class="whole" href="/lab/campaigns/{campaign}/">' in page


@pytest.mark.parametrize("place", ["/lab/", "/lab/hosts/local/", "device", "order"])
def test_a_drive_that_the_last_check_did_not_find_is_shown_as_not_found(lab_client, device, place):
    seen = {"label": device.label, "drive_key": device.drive_key, "paths": [], "listed": True}
    Host.objects.filter(pk=device.host_id).update(kind="ssh", **PINNED, health=HEALTH | {"devices": [seen]})
    page = text(lab_client.get({"device": address(device), "order": address(device, "order/")}.get(place, place)))
    assert '<span class="fail">not found</span>' in page
    assert ("Attach the drive, then check the host on <a" in page) is (place in {"device", "order"})
    Host.objects.update(health=HEALTH | {"devices": [seen | {"paths": ["/dev/fake0"]}]})
    assert ">not found<" not in text(lab_client.get("/lab/"))


@pytest.mark.parametrize("part", ["", "prepare/", "ycsb/", "look/"])
def test_only_staff_sees_devices(db, device, part):
    assert Client().get(address(device, part)).status_code in {302, 403, 405}


def test_the_form_of_a_sweep_describes_the_address_of_the_database_with_its_default():
    help_text = YcsbForm().fields["database_host"].help_text
    assert help_text.endswith(f"; needed with a second host. Default: {Setup.database_host}.")


@pytest.mark.parametrize("remote_host", [ssh_host, agent_host])
def test_a_sweep_with_requests_from_a_remote_host_needs_its_programs(lab_client, device, remote_host):
    host = remote_host()
    form_data = {"preset": "micron-7450-rocksdb", "client": "java", "load_host": str(host.pk)}
    assert "host lab-1 has not reported the programs" in text(lab_client.post(address(device, "ycsb/"), form_data))
    assert not Dispatch.objects.exists()
