from decimal import Decimal

import pytest

from results.models import Event
from runners.campaigns import commands
from runners.campaigns.terms import parse_terms
from runners.dispatch.claim import claim
from runners.models.campaign import CampaignEntry
from tests.runners.campaigns.lab import SHORT, drive_to_end, newest, poll_campaign

pytestmark = pytest.mark.django_db


def test_one_campaign_is_open_on_a_drive(campaign, device, staff):
    with pytest.raises(commands.DriveTakenError, match=campaign.public_id):
        commands.start(device, campaign.organisation, commands.CampaignOrder(SHORT), staff)


def test_after_its_end_another_may_start(campaign, device, staff):
    drive_to_end(campaign, 30)
    assert commands.start(device, campaign.organisation, commands.CampaignOrder(SHORT), staff).pk != campaign.pk


def test_a_paused_campaign_orders_nothing(campaign, staff):
    assert commands.pause(campaign, staff)
    poll_campaign(campaign)
    assert not campaign.dispatches.exists()
    assert not commands.pause(campaign, staff)
    assert commands.resume(campaign, staff)
    assert not commands.resume(campaign, staff)
    poll_campaign(campaign)
    assert campaign.dispatches.count() == 1


def test_an_order_that_was_not_begun_waits_while_its_campaign_is_paused(campaign, staff, connect):
    poll_campaign(campaign)
    dispatch = newest(campaign)
    commands.pause(campaign, staff)
    assert not claim(dispatch, connect)
    assert dispatch.reason == f"campaign {campaign} is paused; the run waits until a person resumes the campaign"
    commands.resume(campaign, staff)
    assert claim(dispatch, connect)


def test_a_run_ordered_before_the_campaign_waits_for_its_end(campaign, staff, connect, new_dispatch):
    before = new_dispatch()
    for command in (commands.pause, commands.resume, commands.cancel):
        assert not claim(before, connect)
        assert before.reason == f"campaign {campaign} uses the drive; the run waits until the campaign has ended"
        command(campaign, staff)
    assert not claim(before, connect)
    poll_campaign(campaign)
    assert claim(before, connect)


def test_a_changed_term_decides_the_next_step(campaign, staff):
    assert commands.change(campaign, {"max_nx": Decimal(12), "ladder_factor": Decimal(2)}, staff)
    entry = campaign.entries.get(kind="changed")
    assert entry.details == {"max_nx": ["400", "12"], "ladder_factor": ["1.5", "2"]}
    drive_to_end(campaign, 30)
    assert (campaign.end, campaign.confirmed_nx) == ("at-limit", 6)


def test_a_change_without_effect_is_not_recorded(campaign, staff):
    assert not commands.change(campaign, {"max_nx": Decimal("400")}, staff)
    assert not campaign.entries.filter(kind="changed").exists()


def test_the_load_resolution_cannot_be_changed(campaign, staff):
    with pytest.raises(ValueError, match="resolution_nx"):
        commands.change(campaign, {"resolution_nx": Decimal("0.5")}, staff)


def test_a_campaign_that_has_ended_takes_no_orders(campaign, staff):
    drive_to_end(campaign, 30)
    assert not commands.change(campaign, {"max_nx": Decimal(12)}, staff)
    assert not commands.pause(campaign, staff)
    assert not commands.cancel(campaign, staff)
    assert parse_terms(campaign.terms).max_nx == 400


def test_a_paused_campaign_is_cancelled_with_the_run_that_went_on(campaign, staff):
    poll_campaign(campaign)
    commands.pause(campaign, staff)
    assert commands.cancel(campaign, staff)
    assert newest(campaign).cancel_requested_at is not None


def test_every_command_is_in_both_histories(campaign, staff):
    commands.pause(campaign, staff)
    commands.resume(campaign, staff)
    entered = [f"campaign-{kind}" for kind in CampaignEntry.objects.values_list("kind", flat=True)]
    assert entered == ["campaign-started", "campaign-paused", "campaign-resumed"]
    assert (
        list(Event.objects.filter(subject_id=campaign.public_id).order_by("pk").values_list("kind", flat=True))
        == entered
    )
