import pytest

from runners.models import Device, Host
from runners.retiring import retire_device, retire_host
from tests.runners.ssh_host import PINNED, ssh_host

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
    assert f'<a href="{address}">fake drive</a>' in lab_client.get("/lab/hosts/local/").text
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


def test_a_device_of_a_retired_host_takes_no_order(lab_client, device, staff):
    retire_host(device.host, staff, "scrapped")
    page = lab_client.get(f"/lab/devices/{device.pk}/").text
    assert "Host local is retired since" in page
    assert "Prepare the drive" not in page
    assert Device.objects.get().retired_at is None
