import re

import pytest
from django.utils import timezone

from runners.dispatch.orders import cancel
from runners.models import Device, Host
from runners.models.states import State
from runners.retention.retirement import retire_device, retire_host
from tests.runners.lab import poll_state
from tests.runners.retention.test_cleanup import KEPT_S, age, remove
from tests.runners.ssh_host import HEALTH, PINNED, ssh_host

pytestmark = pytest.mark.django_db
WHY = {"reason": "sent back"}


def test_a_retired_device_is_in_no_list_and_its_page_shows_why(lab_client, device, dispatch):
    address = f"/lab/devices/{device.pk}/"
    assert "Its published runs stay public." in lab_client.get(address).text
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
    assert "This host has no other devices." in page
    for part in ("order/", "campaign/", "ycsb/"):
        assert "Device fake drive on local is retired since" in lab_client.get(address + part).text
    assert "is in service again" in lab_client.post(f"{address}back/", follow=True).text
    assert "Order a run on fake drive" in lab_client.get("/lab/").text


def test_no_order_is_accepted_for_a_retired_device(lab_client, device, staff):
    retire_device(device, staff, "sent back")
    page = lab_client.post(f"/lab/devices/{device.pk}/prepare/", follow=True).text
    assert "Device fake drive on local is retired since" in page


def test_a_retired_host_is_listed_by_name_only(lab_client, staff):
    ssh_host()
    lab_client.post("/lab/hosts/lab-1/retire/", WHY)
    assert Host.objects.get().retired_at
    page = lab_client.get("/lab/").text
    assert 'Retired: <a href="/lab/hosts/lab-1/">lab-1</a>' in page
    assert 'class="fail">gets no work' not in page
    page = lab_client.get("/lab/hosts/lab-1/").text
    assert "by sam: sent back" in page
    for deed in ("Check the host now", "Add a device"):
        assert deed not in page
    assert "Retired hosts are not checked" in lab_client.post("/lab/hosts/lab-1/check/", follow=True).text
    assert "Return it to service before" in lab_client.get("/lab/hosts/lab-1/devices/add/", follow=True).text
    form_data = {"name": "lab-1", **PINNED}
    assert "Host lab-1 is retired since" in lab_client.post("/lab/hosts/add/", form_data).text
    assert "Check the host now" in lab_client.post("/lab/hosts/lab-1/back/", follow=True).text


def test_drives_of_a_retired_host_are_listed_but_cannot_be_added(lab_client, staff):
    found = {"path": "/dev/sda", "kind": "scsi", "drive_key": "scsi:naa.5", "size_bytes": 2**30}
    host = ssh_host(health=HEALTH | {"found": [found | {"model": None, "serial": None}]})
    deeds = ("Refresh list", 'aria-label="Identify /dev/sda"')
    assert all(deed in lab_client.get("/lab/hosts/lab-1/").text for deed in deeds)
    retire_host(host, staff, "scrapped")
    page = lab_client.get("/lab/hosts/lab-1/").text
    assert "/dev/sda" in page
    assert not any(deed in page for deed in deeds)


def test_teardown_steps_are_shown_before_and_after_a_host_is_retired(lab_client):
    ssh_host()
    page = lab_client.get("/lab/hosts/lab-1/").text
    assert page.index("Teardown steps on the host after that") < page.index("rm /etc/drivecert/host.toml")
    assert "Set-up steps" in page
    page = lab_client.post("/lab/hosts/lab-1/retire/", WHY, follow=True).text
    assert page.index('id="undo"') < page.index("rm /etc/drivecert/host.toml")
    assert "Set-up steps" not in page


def test_a_retired_device_or_host_has_only_the_form_to_restore_it(lab_client, device, in_state, staff):
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


def test_the_page_of_a_host_asks_for_confirmation_to_discard_leftover_files(lab_client, running, connect, staff):
    address, box = "/lab/hosts/local/", 'name="gives_up_what_is_there"'
    assert box not in lab_client.get(address).text
    cancel(running, staff)
    assert poll_state(running, connect) == State.CANCELLED
    assert box in lab_client.get(address).text
    assert "are not archived yet" in lab_client.post(f"{address}retire/", WHY, follow=True).text
    lab_client.post(f"{address}retire/", WHY | {"gives_up_what_is_there": "yes"})
    assert Host.objects.get().retired_at


def test_discarded_files_that_were_archived_after_all_are_not_listed(lab_client, running, connect, staff, settings):
    cancel(running, staff)
    assert poll_state(running, connect) == State.CANCELLED
    retire_host(running.device.host, staff, "scrapped", abandons_leftovers=True)
    expected = f"were discarded and not archived: {running}."
    assert expected in lab_client.get("/lab/hosts/local/").text
    settings.RUN_DIR_RETENTION_S = KEPT_S
    assert remove(age(running), connect)
    assert expected not in lab_client.get("/lab/hosts/local/").text


def test_a_device_of_a_retired_host_accepts_no_order(lab_client, device, staff):
    retire_host(device.host, staff, "scrapped")
    page = lab_client.get(f"/lab/devices/{device.pk}/").text
    assert "Host local is retired since" in page
    assert "Prepare the drive" not in page
    assert Device.objects.get().retired_at is None


def test_an_error_of_the_register_is_not_shown_as_a_refusal(lab_client, device, monkeypatch):
    def fail(*_):
        raise ValueError("a fault")

    monkeypatch.setattr("webapp.lab.devices.views.retirement.retire_device", fail)
    with pytest.raises(ValueError, match="a fault"):
        lab_client.post(f"/lab/devices/{device.pk}/retire/", WHY)
