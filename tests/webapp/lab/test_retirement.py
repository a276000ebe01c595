import re

import pytest
from django.utils import timezone

from runners.dispatch.orders import cancel
from runners.models import Device, Host
from runners.models.states import State
from runners.retention.retirement import retire_device, retire_host
from tests.runners.lab import see
from tests.runners.retention.test_cleanup import KEPT_S, age, remove
from tests.runners.ssh_host import HEALTH, PINNED, ssh_host

pytestmark = pytest.mark.django_db
WHY = {"reason": "sent back"}


def test_a_retired_device_is_in_no_list_and_its_page_says_why(lab_client, device, dispatch):
    address = f"/lab/devices/{device.pk}/"
    assert (
        f"dispatch {dispatch} on fake drive on local is queued"
        in lab_client.post(f"{address}retire/", WHY, follow=True).text
    )
    dispatch.delete()
    page = lab_client.post(f"{address}retire/", WHY, follow=True).text
    assert "by sam: sent back" in page
    assert "Prepare the drive" not in page
    assert "Order a run on fake drive" not in lab_client.get("/lab/").text
    page = lab_client.get("/lab/hosts/local/").text
    assert f'<a href="{address}">fake drive</a>' in page
    assert "No other device is bound to this host." in page
    for part in ("order/", "campaign/", "ycsb/"):
        assert "Device fake drive on local is retired since" in lab_client.get(address + part).text
    assert "is in service again" in lab_client.post(f"{address}back/", follow=True).text
    assert "Order a run on fake drive" in lab_client.get("/lab/").text


def test_no_order_is_taken_for_a_retired_device(lab_client, device, staff):
    retire_device(device, staff, "sent back")
    page = lab_client.post(f"/lab/devices/{device.pk}/prepare/", follow=True).text
    assert "Device fake drive on local is retired since" in page


def test_a_retired_host_is_told_by_name_only(lab_client, staff):
    ssh_host()
    lab_client.post("/lab/hosts/lab-1/retire/", WHY)
    assert Host.objects.get().retired_at
    page = lab_client.get("/lab/").text
    assert 'Retired: <a href="/lab/hosts/lab-1/">lab-1</a>' in page
    assert 'class="fail">gets no work' not in page
    page = lab_client.get("/lab/hosts/lab-1/").text
    assert "by sam: sent back" in page
    for deed in ("Check it now", "Add a device"):
        assert deed not in page
    assert "it is not checked" in lab_client.post("/lab/hosts/lab-1/check/", follow=True).text
    assert "take it back into service before" in lab_client.get("/lab/hosts/lab-1/devices/add/", follow=True).text
    asked = {"name": "lab-1", **PINNED}
    assert "Host lab-1 is retired since" in lab_client.post("/lab/hosts/add/", asked).text
    assert "check it now" in lab_client.post("/lab/hosts/lab-1/back/", follow=True).text


def test_a_retired_host_s_drives_are_told_and_neither_looked_for_nor_added(lab_client, staff):
    found = {"path": "/dev/sda", "kind": "scsi", "drive_key": "scsi:naa.5", "size_bytes": 2**30}
    host = ssh_host(health=HEALTH | {"found": [found | {"model": None, "serial": None}]})
    deeds = ("Look again now", 'aria-label="Identify /dev/sda"')
    assert all(deed in lab_client.get("/lab/hosts/lab-1/").text for deed in deeds)
    retire_host(host, staff, "scrapped")
    page = lab_client.get("/lab/hosts/lab-1/").text
    assert "/dev/sda" in page
    assert not any(deed in page for deed in deeds)


def test_what_is_undone_on_a_host_is_said_before_and_after_it_is_retired(lab_client):
    ssh_host()
    page = lab_client.get("/lab/hosts/lab-1/").text
    assert page.index("What its operator undoes on it after that") < page.index("rm /etc/drivecert/host.toml")
    assert "Set-up, as root on the host" in page
    page = lab_client.post("/lab/hosts/lab-1/retire/", WHY, follow=True).text
    assert page.index("To be undone on it") < page.index("rm /etc/drivecert/host.toml")
    assert "Set-up, as root on the host" not in page


def test_what_is_retired_has_no_form_but_to_take_it_back(lab_client, device, in_state, staff):
    dispatch = in_state(State.FAILED, ended_at=timezone.now())
    pages = [f"/lab/devices/{device.pk}/", "/lab/hosts/local/", f"/lab/dispatches/{dispatch}/"]

    def deeds():
        return [re.findall(r'(?:action="/lab/|id=")([^"]*(?:label|place|back|retry))/?"', of(page)) for page in pages]

    def of(page):
        return lab_client.get(page).text

    assert [len(found) for found in deeds()] == [2, 2, 1]
    retire_device(device, staff, "sent back")
    retire_host(device.host, staff, "sent back")
    assert deeds() == [[f"devices/{device.pk}/back"], ["hosts/local/back"], []]


def test_the_page_of_a_host_asks_whether_what_is_left_there_is_given_up(lab_client, running, connect, staff):
    address, box = "/lab/hosts/local/", 'name="gives_up_what_is_there"'
    assert box not in lab_client.get(address).text
    cancel(running, staff)
    assert see(running, connect) == State.CANCELLED
    assert box in lab_client.get(address).text
    assert "are not archived yet" in lab_client.post(f"{address}retire/", WHY, follow=True).text
    lab_client.post(f"{address}retire/", WHY | {"gives_up_what_is_there": "yes"})
    assert Host.objects.get().retired_at


def test_what_was_given_up_and_is_kept_all_the_same_is_no_more_listed(lab_client, running, connect, staff, settings):
    cancel(running, staff)
    assert see(running, connect) == State.CANCELLED
    retire_host(running.device.host, staff, "scrapped", abandons_leftovers=True)
    told = f"not kept here, what these left there: {running}."
    assert told in lab_client.get("/lab/hosts/local/").text
    settings.RUN_DIR_RETENTION_S = KEPT_S
    assert remove(age(running), connect)
    assert told not in lab_client.get("/lab/hosts/local/").text


def test_a_device_of_a_retired_host_takes_no_order(lab_client, device, staff):
    retire_host(device.host, staff, "scrapped")
    page = lab_client.get(f"/lab/devices/{device.pk}/").text
    assert "Host local is retired since" in page
    assert "Prepare the drive" not in page
    assert Device.objects.get().retired_at is None
