"""Campaigns on several drives by API."""

import pytest

from runners.campaigns.terms import parse_terms
from runners.inventory.devices import bind
from runners.models import Campaign

pytestmark = pytest.mark.django_db
ADDRESS = "/api/v1/lab/selection/campaigns/"


@pytest.fixture
def second(device, staff, fake):
    return bind(device.host, fake.add_drive("/dev/fake1", "file:lab1:8:6"), "shelf 2", staff)


def post(client, *devices, **fields):
    drives = [each if isinstance(each, dict) else {"device": each.pk} for each in devices]
    return client.post(ADDRESS, fields | {"drives": drives}, content_type="application/json")


def test_one_campaign_is_started_on_each_drive_of_a_selection(olga, device, second):
    answer = post(olga, device, second, max_nx="200")
    assert answer.status_code == 201
    started = Campaign.objects.order_by("device")
    assert {each["id"] for each in answer.json()["results"]} == {each.public_id for each in started}
    assert [(each.device, parse_terms(each.terms).max_nx) for each in started] == [(device, 200), (second, 200)]


def test_no_campaign_is_started_if_one_drive_refuses_it(olga, device, second):
    post(olga, second)
    answer = post(olga, device, second)
    assert (answer.status_code, answer.json()["code"]) == (409, "selection-refused")
    (reason,) = answer.json()["reasons"]
    assert reason["device"] == second.pk
    assert Campaign.objects.count() == 1


def test_a_selection_has_each_device_once_with_its_consent(olga, device):
    for drives in ([], [device, device], [{"device": 4711}], [{"device": device.pk, "size": 1}], [{}]):
        assert post(olga, *drives).status_code == 400
    assert post(olga, device, max_nx="1.999").status_code == 400
    for wrong in (None, "x", ["x"]):
        answer = olga.post(ADDRESS, {"drives": wrong}, content_type="application/json")
        assert answer.status_code == 400
    assert not Campaign.objects.exists()


def test_a_script_that_only_reads_starts_none(watcher, device):
    assert post(watcher, device).status_code == 403
