"""Outages and concurrent runs of the host on the campaign page."""

from datetime import timedelta

import pytest
from django.utils import timezone

from runners.campaigns import commands
from runners.dispatch.orders import Order, order
from runners.hosts.protocol import ResponseTimer, WaitPeriod
from runners.inventory.devices import bind
from runners.models import Dispatch, HostOutage
from runners.models.states import State
from runners.monitoring.connectivity import record_answer
from tests.runners.campaigns.lab import (  # noqa: F401 - fixtures
    campaign,
    fake_prep,
    new_campaign,
    newest,
    poll_campaign,
)
from tests.runners.lab import add_outage

pytestmark = pytest.mark.django_db


def page(client, campaign, part=""):  # noqa: F811
    return client.get(f"/lab/campaigns/{campaign.public_id}/{part}")


@pytest.fixture
def running_rung(campaign):  # noqa: F811
    poll_campaign(campaign)
    Dispatch.objects.update(state=State.RUNNING)
    return newest(campaign)


@pytest.fixture
def concurrent_run(running_rung, device, a_lab, staff, fake):
    """A dispatch on another drive of the same host."""
    other = bind(device.host, fake.add_drive("/dev/fake1", "loop:1:3"), "other drive", staff)
    return order(other, a_lab, Order(recipe="prep"), staff)


def test_an_outage_is_listed_in_the_campaign_history_and_with_the_run(lab_client, campaign, running_rung):  # noqa: F811
    now = timezone.now()
    outage = add_outage(running_rung, now - timedelta(seconds=31))
    version = page(lab_client, campaign).context["version"]
    HostOutage.objects.filter(pk=outage.pk).update(until=now)
    shown = page(lab_client, campaign, f"live/?version={version}")
    assert "no answer from local for 31 s, since " in shown.text
    assert "host: 1 outage, 31 s in total" in shown.text
    lines = [(line.label, line.dispatch) for line in shown.context["history"]]
    assert lines[-1] == ("outage", running_rung)


def test_the_page_refreshes_after_an_outage_between_polls(lab_client, campaign, running_rung):  # noqa: F811
    version = page(lab_client, campaign).context["version"]
    timer = ResponseTimer()
    timer.longest = WaitPeriod(timezone.now(), 12)
    record_answer(running_rung, running_rung.device.host, timer)
    assert "no answer from local for 12 s" in page(lab_client, campaign, f"live/?version={version}").text


def test_the_history_names_the_person_of_a_request(lab_client, campaign, staff):  # noqa: F811
    commands.change(campaign, {"max_nx": campaign.device.pk + 20}, staff)
    for deed in (commands.pause, commands.resume, commands.cancel):
        assert deed(campaign, staff)
    history = page(lab_client, campaign).context["history"]
    assert [line.label for line in history] == ["started", "changed", "paused", "resumed", "cancel requested"]
    assert {line.actor for line in history} == {staff.get_username()}


def test_the_run_shows_the_cancellation_of_its_campaign(campaign, running_rung, staff):  # noqa: F811
    commands.cancel(campaign, staff)
    step = running_rung.steps.get()
    assert (step.actor, step.reason) == (
        staff.get_username(),
        f"{staff.get_username()} requested the cancellation: campaign {campaign} was cancelled",
    )


@pytest.mark.parametrize(
    ("state", "is_told"), [("queued", False), ("preparing", True), ("running", True), ("done", False)]
)
def test_another_active_run_on_the_host_gives_a_warning(lab_client, campaign, concurrent_run, state, is_told):  # noqa: F811
    Dispatch.objects.filter(pk=concurrent_run.pk).update(state=state)
    text = page(lab_client, campaign).text
    assert ("Also running on host local: " in text) is is_told
    assert (concurrent_run.public_id in text) is is_told


def test_the_page_refreshes_when_another_run_begins_on_the_host(lab_client, campaign, concurrent_run):  # noqa: F811
    version = page(lab_client, campaign).context["version"]
    Dispatch.objects.filter(pk=concurrent_run.pk).update(state=State.RUNNING)
    assert page(lab_client, campaign, f"live/?version={version}").status_code == 200


def test_a_run_on_another_host_gives_no_warning(lab_client, campaign, concurrent_run):  # noqa: F811
    Dispatch.objects.filter(pk=concurrent_run.pk).update(state=State.RUNNING)
    assert len(page(lab_client, campaign).context["concurrent_dispatches"]) == 1
    host = campaign.device.host
    host.pk, host.name = None, "another"
    host.save()
    concurrent_run.device.host = host
    concurrent_run.device.save()
    assert page(lab_client, campaign).context["concurrent_dispatches"] == []
