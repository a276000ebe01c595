import html
import re
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from results.models import Event
from runners.hosts.local import LocalHost
from runners.hosts.protocol import FoundDrive, Identity
from runners.hosts.ssh_connection import public_key
from runners.inventory import ycsb_requirements
from runners.inventory.devices import bind
from runners.models import Host
from tests.runners.ssh_host import HEALTH, PINNED, ssh_host
from tests.webapp.lab.programs import allow
from webapp.lab.hosts import views

pytestmark = pytest.mark.django_db


@pytest.fixture
def form_data():
    return {"name": "lab-1", "address": "lab-1.example", "port": "22", "user": "drivecert"} | {
        "host_key": PINNED["host_key"],
        "program_sha256": PINNED["program_sha256"],
    }


def test_a_host_is_added_and_its_page_shows_the_setup_steps(lab_client, form_data):
    page = lab_client.post("/lab/hosts/add/", form_data, follow=True).text
    assert Host.objects.get().address == "lab-1.example"
    assert Event.objects.get().kind == "host-added"
    assert "it has not been checked yet" in page
    for shown in ("drivecert ALL=(root) NOPASSWD: /usr/local/sbin/drivetest host", "restrict,command=", "SHA256:"):
        assert shown in page
    assert public_key() in page


@pytest.mark.parametrize(
    ("field", "value"),
    [("user", "root"), ("user", "a b"), ("host_key", "ssh-ed25519 x"), ("program_sha256", "abc"), ("address", "a;b")],
)
def test_an_invalid_pin_is_an_error_of_its_field(lab_client, form_data, field, value):
    page = lab_client.post("/lab/hosts/add/", form_data | {field: value})
    assert page.context["form"].errors[field]
    assert not Host.objects.exists()


def test_the_form_does_not_change_the_pins_of_a_host(lab_client, form_data):
    lab_client.post("/lab/hosts/add/", form_data)
    page = lab_client.post("/lab/hosts/add/", form_data | {"address": "elsewhere.example"})
    assert "Host lab-1 already exists" in page.text
    assert Host.objects.get().address == "lab-1.example"


def test_the_page_shows_why_a_host_gets_no_work(lab_client):
    ssh_host(objections=["its clock is +600 s from the register's"], health=HEALTH, checked_at=timezone.now())
    page = lab_client.get("/lab/hosts/lab-1/").text
    assert "gets no work" in page
    assert "its clock is +600 s" in page


def test_the_page_of_a_ready_host_shows_its_report(lab_client):
    ssh_host(health=HEALTH, checked_at=timezone.now())
    page = lab_client.get("/lab/hosts/lab-1/").text
    assert "This host is ready for work" in page
    for shown in ("lab-host", "6.1.0", "nvme:M:S1", "/var/lib/drivecert"):
        assert shown in page


def test_a_check_shows_that_a_host_does_not_answer(lab_client, settings):
    settings.HOST_ANSWER_TIMEOUT_S = 1
    ssh_host(address="127.0.0.1", port=1)
    page = lab_client.post("/lab/hosts/lab-1/check/", follow=True).text
    assert "lab-1 gets no work: " in page
    assert Host.objects.get().objections


FOUND = [
    asdict(FoundDrive("/dev/nvme0n1", "nvme", "nvme:M:S1", 2**40, "M 1", "S1")),
    asdict(FoundDrive("/dev/sda", "scsi", "scsi:naa.5", 2**30)),
]


def rows_of(page):
    """Return the lines of the table of drives, without the markup."""
    table = page.partition('aria-label="Drives of lab-1"')[2].partition("</table>")[0]
    return [" ".join(re.sub("<[^>]+>", " ", row).split()) for row in table.split("<tr>")[2:]]


@pytest.mark.parametrize("part", ["", "devices/add/"])
def test_the_drives_of_a_host_are_listed_with_their_permissions(lab_client, staff, part):
    reported_at = timezone.now() - timedelta(minutes=4, seconds=20)
    health = HEALTH | {"found": FOUND, "clock_unix_ns": int(reported_at.timestamp()) * 10**9, "clock_offset_s": 0}
    host = ssh_host(health=health, checked_at=timezone.now())
    bind(host, Identity("/dev/sda", "scsi", "scsi:naa.5", 2**30), "bench 3", staff)
    page = lab_client.get(f"/lab/hosts/lab-1/{part}").text
    free, bound = rows_of(page)
    for shown in ("/dev/nvme0n1", "M 1", "S1", "1.1 TB", "nvme:M:S1", " listed", "Identify"):
        assert shown in free
    assert "not listed" in bound
    assert "bench 3" in bound
    assert "Identify" not in bound
    assert "reported 4\xa0min ago" in page


@pytest.mark.parametrize(("health", "why"), [
    ({}, "No check has reached this host yet"), (HEALTH, "Refresh the list"),
    (HEALTH | {"found": None}, "too old to list"),
])  # fmt: skip
def test_the_page_shows_why_the_drives_of_a_host_are_not_known(lab_client, health, why):
    ssh_host(health=health)
    assert why in lab_client.get("/lab/hosts/lab-1/devices/add/").text


def test_a_drive_named_by_an_earlier_drivetest_is_shown_with_its_bound_name(lab_client, staff):
    now, before = "file:lab~0123456789ab:8:5", "file:lab:8:5"
    stored = asdict(FoundDrive("/srv/a", "file", before, 2**30))
    host = ssh_host(health=HEALTH | {"drives": [now], "found": [stored]})
    bind(host, Identity("/srv/a", "file", now, 2**30), "bench 3", staff)
    (row,) = rows_of(lab_client.get("/lab/hosts/lab-1/").text)
    assert "bench 3" in row
    assert "not listed" not in row


def test_a_second_namespace_of_a_bound_drive_is_not_shown_as_the_device(lab_client, staff):
    found = [asdict(FoundDrive(f"/dev/nvme0n{number}", "nvme", "nvme:M:S1", 2**40)) for number in (1, 2)]
    host = ssh_host(health=HEALTH | {"found": found})
    bind(host, Identity("/dev/nvme0n2", "nvme", "nvme:M:S1", 2**40), "bench 3", staff)
    first, second = rows_of(lab_client.get("/lab/hosts/lab-1/").text)
    assert first.endswith("bench 3 at /dev/nvme0n2 Identify")
    assert second.endswith("bench 3")


def test_a_local_host_that_is_another_machine_is_named(lab_client):
    Host.objects.create(name="local", kind="local", machine_id="another")
    page = html.unescape(lab_client.get("/lab/hosts/local/").text)
    assert "The drives of local cannot be listed: local is the machine another" in page
    assert "Every device that you add on local may be overwritten" in page
    assert "his machine has" not in page


def test_a_check_on_demand_returns_to_the_drives_with_the_problems_of_the_host(lab_client, settings):
    settings.HOST_ANSWER_TIMEOUT_S = 1
    ssh_host(address="127.0.0.1", port=1)
    answer = lab_client.post("/lab/hosts/lab-1/check/", {"then": "devices"}, follow=True)
    assert answer.redirect_chain == [("/lab/hosts/lab-1/devices/add/", 302)]
    assert f"lab-1 gets no work: {Host.objects.get().objections[0]}" in html.unescape(answer.text)


def test_the_local_machine_has_no_drive_list_and_shows_the_allowed_programs(lab_client, settings, tmp_path):
    Host.objects.create(name="local", kind="local")
    settings.LAB_PROGRAMS = str(tmp_path / "programs.json")
    page = lab_client.get("/lab/hosts/local/").text
    assert "Every device that you add on local" in page
    assert "programs.json is missing" in page
    Path(settings.LAB_PROGRAMS).write_text('{"schema": "drivecert.programs/1", "programs": {"ycsb": {}, "mount": {}}}')
    assert "mount, ycsb" in lab_client.get("/lab/hosts/local/").text


def test_a_remote_host_shows_the_programs_that_it_reported(lab_client):
    programs = [
        {"name": "mount", "executable": "/usr/bin/mount", "is_installed": True},
        {"name": "ycsb", "executable": "java", "is_installed": False},
    ]
    host = ssh_host(health=HEALTH | {"programs": programs, "programs_problem": None}, checked_at=timezone.now())
    page = " ".join(lab_client.get("/lab/hosts/lab-1/").text.split())
    assert '<span class="mono">mount</span></li>' in page
    assert '<span class="mono">java</span> is missing on the host' in page
    host.health |= {"programs": [], "programs_problem": "programs.json: expected drivecert.programs/1"}
    host.save()
    assert "programs.json: expected drivecert.programs/1" in lab_client.get("/lab/hosts/lab-1/").text


@pytest.mark.parametrize("written", [
    "{", "[]", '{"schema": "drivecert.programs/1", "programs": 5}', '{"schema": "drivecert.programs/1"}',
    '{"schema": "another/1", "programs": {"ycsb": {}}}',
])  # fmt: skip
def test_an_invalid_list_of_programs_is_shown(lab_client, settings, tmp_path, written):
    host = Host.objects.create(name="local", kind="local")
    settings.LAB_PROGRAMS = str(tmp_path / "programs.json")
    Path(settings.LAB_PROGRAMS).write_text(written)
    assert "Expected the format drivecert.programs/1" in lab_client.get("/lab/hosts/local/").text
    assert "cannot be read as drivecert.programs/1" in ycsb_requirements.objection_to_programs(host, {"ycsb"})


@pytest.mark.parametrize("question", ["stat", "read_bytes"])
def test_a_list_of_programs_that_only_root_can_read_is_not_an_error(
    lab_client, settings, tmp_path, monkeypatch, question
):
    """The test replaces the read, because root may read every file."""
    host = Host.objects.create(name="local", kind="local")
    settings.LAB_PROGRAMS = str(allow(tmp_path / "programs.json"))
    monkeypatch.setattr(ycsb_requirements, "programs_path", lambda: OfRoot(settings.LAB_PROGRAMS, question))
    assert ycsb_requirements.objection_to_programs(host, {"ycsb"}) == ""
    assert "Only root can read" in lab_client.get("/lab/hosts/local/").text


class OfRoot:
    """A path whose status or content only root can read."""

    def __init__(self, path, question):
        self.path, self.question = Path(path), question

    def stat(self):
        return self._answer("stat")

    def read_bytes(self):
        return self._answer("read_bytes")

    def _answer(self, question):
        if self.question in {question, "stat"}:
            raise PermissionError(13, "Permission denied")
        return getattr(self.path, question)()


def test_the_drives_of_the_local_machine_are_listed_when_the_page_opens(lab_client, monkeypatch):
    Host.objects.create(name="local", kind="local")
    monkeypatch.setattr(LocalHost, "list_drives", lambda self: [FoundDrive("/dev/vdb", "virtual", "block:x", 2**30)])
    page = lab_client.get("/lab/hosts/local/devices/add/").text
    assert "reported now" in page
    assert 'aria-label="Identify /dev/vdb"' in page


def test_the_system_disk_is_shown_as_in_use_and_cannot_be_identified(lab_client, monkeypatch):
    Host.objects.create(name="local", kind="local")
    drives = [
        FoundDrive("/dev/vda", "virtual", "block:x", 2**30, uses=["mounted", "swap"], mount_points=["/", "/"]),
        FoundDrive("/dev/vdb", "virtual", "block:y", 2**30, uses=[], mount_points=[]),
    ]
    monkeypatch.setattr(LocalHost, "list_drives", lambda self: drives)
    page = lab_client.get("/lab/hosts/local/devices/add/").text
    assert "mounted at /, used as swap" in page
    assert 'aria-label="Identify /dev/vda"' not in page
    assert 'aria-label="Identify /dev/vdb"' in page


def test_drives_stored_by_an_earlier_release_do_not_break_the_page(lab_client):
    ssh_host(health=HEALTH | {"found": [FOUND[0] | {"drive_key": None}]}, checked_at=timezone.now())
    assert "The drives of lab-1 cannot be listed: " in lab_client.get("/lab/hosts/lab-1/").text


@pytest.mark.parametrize("part", ["", "devices/add/"])
def test_a_system_disk_of_a_remote_host_is_shown_as_in_use_and_cannot_be_identified(lab_client, part):
    found = [FOUND[0] | {"uses": ["mounted"], "mount_points": ["/"]}, FOUND[1] | {"uses": [], "mount_points": []}]
    ssh_host(health=HEALTH | {"found": found}, checked_at=timezone.now())
    system, free = rows_of(lab_client.get(f"/lab/hosts/lab-1/{part}").text)
    assert system.endswith("in use mounted at /")
    assert free.endswith("Identify")


def test_a_use_that_the_register_does_not_know_does_not_break_the_page(lab_client):
    ssh_host(health=HEALTH | {"found": [FOUND[0] | {"uses": ["parked"]}]}, checked_at=timezone.now())
    assert "The drives of lab-1 cannot be listed: " in lab_client.get("/lab/hosts/lab-1/").text


def test_the_overview_lists_hosts_in_parts_by_name(lab_client, monkeypatch):
    monkeypatch.setattr(views, "HOSTS_SHOWN", 1)
    for name in ("lab-1", "lab-2"):
        ssh_host(name)
    first = lab_client.get("/lab/").text
    assert "/lab/hosts/lab-1/" in first
    assert "/lab/hosts/lab-2/" not in first
    assert 'href="?after=lab-1"' in first
    rest = lab_client.get("/lab/?after=lab-1").text
    assert "/lab/hosts/lab-2/" in rest
    assert "/lab/hosts/lab-1/" not in rest
    assert "First hosts" in rest
    assert 'href="?after=' not in rest
