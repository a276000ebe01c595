import pytest
from django.test import Client

from runners.campaigns.commands import CampaignOrder, start
from runners.campaigns.terms import Terms
from tests.runners.ssh_host import agent_host

pytestmark = pytest.mark.django_db

PAGES = ["/lab/", "/lab/hosts/add/", "/lab/hosts/local/", "/lab/hosts/local/devices/add/",
         "/lab/devices/{device}/order/", "/lab/dispatches/{dispatch}/",
         "/lab/dispatches/{dispatch}/live/", "/lab/dispatches/{dispatch}/cancel/confirm/",
         "/lab/dispatches/{dispatch}/retry/confirm/", "/lab/campaigns/{campaign}/cancel/confirm/",
         "/lab/devices/{device}/",
         "/lab/devices/{device}/campaign/", "/lab/campaigns/",
         "/lab/campaigns/{campaign}/", "/lab/campaigns/{campaign}/live/", "/lab/campaigns/{campaign}/ladder.json",
         ]  # fmt: skip
DEEDS = ["/lab/hosts/local/add/", "/lab/hosts/lab-1/agent/code/", "/lab/hosts/lab-1/agent/revoke/",
         "/lab/hosts/lab-1/agent/program/",
         "/lab/devices/{device}/label/", "/lab/hosts/local/devices/bind/",
         "/lab/dispatches/{dispatch}/cancel/", "/lab/dispatches/{dispatch}/fetch/",
         "/lab/dispatches/{dispatch}/retry/", "/lab/campaigns/{campaign}/pause/", "/lab/campaigns/{campaign}/resume/",
         "/lab/campaigns/{campaign}/cancel/", "/lab/campaigns/{campaign}/terms/", "/lab/hosts/local/retire/",
         "/lab/hosts/local/back/", "/lab/devices/{device}/retire/", "/lab/devices/{device}/back/"]  # fmt: skip


@pytest.fixture
def address(dispatch, a_lab, staff):
    agent_host()
    campaign = start(dispatch.device, a_lab, CampaignOrder(Terms()), staff)
    names = {"device": dispatch.device.pk, "dispatch": dispatch.public_id, "campaign": campaign.public_id}
    return lambda pattern: pattern.format(**names)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_of_the_lab_requires_staff(address, lab_client, visitor, page):
    assert lab_client.get(address(page)).status_code == 200
    assert visitor.get(address(page)).status_code == 403
    assert Client().get(address(page)).status_code == 302


@pytest.mark.parametrize("deed", DEEDS)
def test_an_action_in_the_lab_requires_staff(address, lab_client, visitor, deed):
    assert lab_client.post(address(deed)).status_code in {200, 302}  # 200: the page with the errors of the form
    assert visitor.post(address(deed)).status_code == 403
    assert "/login/" in Client().post(address(deed)).headers["Location"]


@pytest.mark.parametrize("deed", DEEDS)
def test_an_action_requires_a_post_with_a_token(address, staff, lab_client, deed):
    assert lab_client.get(address(deed)).status_code == 405
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(staff)
    assert strict.post(address(deed)).status_code == 403


@pytest.mark.parametrize("page", PAGES)
def test_a_lab_page_is_not_cached_or_indexed(address, lab_client, page):
    headers = lab_client.get(address(page)).headers
    assert "no-store" in headers["Cache-Control"]
    assert headers["X-Robots-Tag"] == "noindex"


def test_an_unknown_dispatch_is_404(lab_client):
    assert lab_client.get("/lab/dispatches/d-nothing/").status_code == 404
