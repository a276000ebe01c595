"""Orders that are already known to be refused are errors of the form, and nothing is stored."""

import json

import pytest
from django.utils import timezone

from runners.errors import DeviceUnknownError
from runners.hosts.local import LocalHost
from runners.hosts.machine import machine_id
from runners.inventory.devices import is_missing
from runners.models import Device, Dispatch, Host
from runners.models.campaign import Campaign
from runners.models.states import State
from tests.runners.ssh_host import HEALTH, PINNED
from tests.webapp.lab.dispatches.test_dispatches import ORDER
from tests.webapp.lab.programs import NEEDED, allow

pytestmark = pytest.mark.django_db
SWEEP = {"preset": "micron-7450-rocksdb", "client": "java"}


def ordered(client, device, part, form_data):
    """Return the page, and whether a dispatch was ordered."""
    text = client.post(f"/lab/devices/{device.pk}/{part}", form_data, follow=True).text
    return text, Dispatch.objects.exists() or Campaign.objects.exists()


def remote(device, kind, **health):
    columns = {"kind": kind, "health": HEALTH | health, "checked_at": timezone.now()} | PINNED
    Host.objects.filter(pk=device.host_id).update(**columns)


def test_a_sweep_is_not_ordered_if_no_program_is_allowed(lab_client, device, settings, tmp_path):
    settings.LAB_PROGRAMS = str(tmp_path / "programs.json")
    message, is_ordered = ordered(lab_client, device, "ycsb/", SWEEP)
    assert f"{settings.LAB_PROGRAMS} is missing" in message
    assert not is_ordered


def test_a_sweep_is_not_ordered_if_one_of_its_programs_is_not_allowed(lab_client, device, settings, tmp_path):
    path = tmp_path / "programs.json"
    settings.LAB_PROGRAMS = str(path)
    allow(path, set(NEEDED) - {"mkfs-xfs", "ycsb"})
    message, is_ordered = ordered(lab_client, device, "ycsb/", SWEEP)
    assert "allows no mkfs-xfs, ycsb; it allows aerospike-start," in message
    assert not is_ordered
    allow(path, {"mkfs-xfs", "mount", "unmount", "ycsb"})
    assert ordered(lab_client, device, "ycsb/", SWEEP)[1]


def test_an_invalid_list_of_programs_is_named(lab_client, device, settings, tmp_path):
    settings.LAB_PROGRAMS = str(tmp_path / "programs.json")
    (tmp_path / "programs.json").write_text("[]")
    assert "cannot be read as drivecert.programs/1" in ordered(lab_client, device, "ycsb/", SWEEP)[0]


@pytest.mark.parametrize(("executable", "is_there"), [("/no/such/java", False), ("sh", True), ("/bin/sh", True)])
def test_a_sweep_is_not_ordered_if_the_executable_of_a_program_is_missing(
    lab_client, device, settings, tmp_path, executable, is_there
):
    programs = {name: {"argv": [executable]} if name == "ycsb" else {"argv": ["/bin/sh"]} for name in NEEDED}
    settings.LAB_PROGRAMS = str(tmp_path / "programs.json")
    (tmp_path / "programs.json").write_text(json.dumps({"schema": "drivecert.programs/1", "programs": programs}))
    message, is_ordered = ordered(lab_client, device, "ycsb/", SWEEP)
    assert is_ordered is is_there
    assert is_there or f"ycsb needs {executable}, which local does not have" in message


@pytest.fixture
def this_machine(device):
    Host.objects.filter(pk=device.host_id).update(machine_id=machine_id())
    device.refresh_from_db()
    return device


@pytest.mark.parametrize("paths", [[], ["/dev/fake7"]])
def test_a_drive_that_this_machine_does_not_find_is_not_free_and_accepts_no_order(
    lab_client, this_machine, monkeypatch, paths
):
    def vanished(_host, path):
        raise DeviceUnknownError(f"{path}: no such device")

    monkeypatch.setattr(LocalHost, "identify", vanished)
    monkeypatch.setattr(LocalHost, "find", lambda _host, _key, _size: paths)
    page = lab_client.get(f"/lab/devices/{this_machine.pk}/").text
    assert ("does not find this drive" in page) is not paths
    assert ("The drive is free." in page) is bool(paths)
    message, is_ordered = ordered(lab_client, this_machine, "order/", ORDER)
    assert is_ordered is bool(paths)
    assert paths or "Host local does not find drive file:lab1:8:5 now." in message


def test_this_machine_is_not_queried_while_a_run_is_on_the_drive(this_machine, in_state, monkeypatch):
    in_state(State.RUNNING)
    monkeypatch.setattr(LocalHost, "identify", lambda *_: pytest.fail("the drive was queried during a run"))
    assert not is_missing(this_machine)


@pytest.mark.parametrize("kind", ["ssh", "agent"])
@pytest.mark.parametrize(("part", "form_data"), [("order/", ORDER), ("prepare/", {})])
def test_a_drive_that_is_not_listed_or_was_not_found_accepts_no_order(lab_client, device, kind, part, form_data):
    remote(device, kind, drives=["nvme:M:S1"])
    message, is_ordered = ordered(lab_client, device, part, form_data)
    assert "would refuse the run: its operator has not listed drive file:lab1:8:5" in message
    seen = {"label": "fake drive", "drive_key": "file:lab1:8:5", "paths": [], "listed": True}
    remote(device, kind, drives=["file:lab1:8:5"], devices=[seen])
    message, was_ordered = ordered(lab_client, device, part, form_data)
    assert "does not find drive file:lab1:8:5" in message
    assert not is_ordered
    assert not was_ordered
    remote(device, kind, drives=["file:lab1:8:5"], devices=[seen | {"paths": ["/dev/fake0"]}])
    assert ordered(lab_client, device, part, form_data)[1]


@pytest.mark.parametrize("kind", ["ssh", "agent"])
def test_data_on_a_remote_host_is_never_overwritten(lab_client, device, kind):
    remote(device, kind, drives=["file:lab1:8:5"])
    Device.objects.update(identity={"signature": "ext4"})
    message, is_ordered = ordered(
        lab_client,
        device,
        "order/",
        ORDER
        | {
            "typed_label": "fake drive",
            "shown_signature": "ext4",
            "shown_place": f"{device.path} of {device.size_bytes} bytes",
        },
    )
    assert "refuses to overwrite it. Its operator wipes it there" in message
    assert not is_ordered
