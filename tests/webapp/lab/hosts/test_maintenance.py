from datetime import UTC, datetime

import pytest

from runners.models import MaintenanceWindow

pytestmark = pytest.mark.django_db


def test_maintenance_of_a_host_is_planned_and_ended_on_its_page(lab_client, device):
    data = {"starts_at": "2099-01-01T08:00", "ends_at": "2099-01-01T10:00", "reason": "new firmware"}
    page = lab_client.post("/lab/hosts/local/maintenance/", data, follow=True).text
    window = MaintenanceWindow.objects.get()
    assert (window.host, window.starts_at) == (device.host, datetime(2099, 1, 1, 8, tzinfo=UTC))
    assert "new firmware" in page
    answer = lab_client.post(f"/lab/windows/{window.pk}/end/")
    assert answer.headers["Location"] == "/lab/hosts/local/"
    assert "No maintenance is planned." in lab_client.get("/lab/hosts/local/").text


@pytest.mark.parametrize(
    "data", [{"reason": ""}, {"reason": "x", "starts_at": "soon"}, {"reason": "x", "ends_at": "2001-01-01T00:00"}]
)
def test_an_invalid_window_is_refused_with_the_reason(lab_client, device, data):
    page = lab_client.post("/lab/hosts/local/maintenance/", data, follow=True).text
    assert "No maintenance was planned." in page
    assert not MaintenanceWindow.objects.exists()


def test_the_whole_lab_is_paused_and_resumed(lab_client, device):
    assert "Pause all" in lab_client.get("/lab/").text
    page = lab_client.post("/lab/pause/", {"reason": "power cut"}, follow=True).text
    assert "The lab is paused</b> since" in page
    assert "power cut" in page
    assert "It is paused already." in lab_client.post("/lab/pause/", {"reason": "again"}, follow=True).text
    window = MaintenanceWindow.objects.get()
    assert (window.host, window.ends_at) == (None, None)
    assert lab_client.post(f"/lab/windows/{window.pk}/end/").headers["Location"] == "/lab/"
    assert "Pause all" in lab_client.get("/lab/").text


def test_a_pause_needs_a_reason(lab_client, device):
    assert "The lab was not paused." in lab_client.post("/lab/pause/", {"reason": " "}, follow=True).text
    assert not MaintenanceWindow.objects.exists()
