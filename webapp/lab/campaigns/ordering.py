"""Commands on campaigns, for the pages and the API. Each refusal has a code and a sentence."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from results.models import Organisation
from runners.campaigns import commands
from runners.campaigns.commands import CampaignOrder
from runners.dispatch.orders import Order
from runners.errors import RequestRefusedError
from runners.models import Device
from runners.models.campaign import Campaign
from webapp.accounts.models import User
from webapp.lab.dispatches.ordering import check_order


def start_campaign(
    posted: Mapping[str, str], device: Device, organisation: Organisation, campaign_order: CampaignOrder, actor: User
) -> Campaign:
    """Start a campaign with the consent that was posted with it.

    Raises RequestRefusedError if the consent is missing, the drive is taken, or its host would refuse the runs.
    """
    return commands.start(device, organisation, check_campaign(posted, device, campaign_order), actor)


def check_campaign(posted: Mapping[str, str], device: Device, campaign_order: CampaignOrder) -> CampaignOrder:
    """Return the order of a campaign with the consent that was posted with it. It may query the host of the device.

    Raises RequestRefusedError if the consent is missing, or the host would refuse the runs.
    """
    checked = check_order(posted, device, Order(options=campaign_order.options))
    return replace(campaign_order, options=checked.options)


def pause(campaign: Campaign, actor: User) -> None:
    """Pause a campaign: it orders no more runs. Raises RequestRefusedError."""
    if not commands.pause(campaign, actor):
        raise RequestRefusedError("The campaign was not paused, because it is not active.", "not-active")


def resume(campaign: Campaign, actor: User) -> None:
    """Resume a paused campaign. Raises RequestRefusedError."""
    if not commands.resume(campaign, actor):
        raise RequestRefusedError("The campaign was not resumed, because it is not paused.", "not-paused")


def request_cancellation(campaign: Campaign, actor: User, reason: str) -> None:
    """Request the cancellation of a campaign and its current run. Raises RequestRefusedError."""
    if not commands.cancel(campaign, actor, reason=reason):
        sentence = "Not cancelled: the campaign has ended, or its cancellation was already requested."
        raise RequestRefusedError(sentence, "not-cancellable")


def change_terms(campaign: Campaign, changes: dict[str, Any], actor: User) -> None:
    """Change editable terms; they apply from the next step on. Raises RequestRefusedError."""
    if not commands.change(campaign, changes, actor):
        sentence = "No term was changed: the values are the same, or the campaign has ended."
        raise RequestRefusedError(sentence, "nothing-changed")
