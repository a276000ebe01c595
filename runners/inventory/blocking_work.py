"""What is live on hosts and devices: it stands against retiring them, and against giving a device another path."""

from collections.abc import Iterator

from django.db.models import Q

from runners.models import UNCONFIRMED, Dispatch
from runners.models.campaign import Campaign
from runners.models.states import FINAL


def under_way(dispatches: Q, campaigns: Q) -> Iterator[str]:
    """Yield what is live among some dispatches and campaigns and where, each with its remedy."""
    for dispatch in Dispatch.objects.filter(dispatches).exclude(state__in=FINAL).select_related("device__host"):
        yield f"dispatch {dispatch} on {dispatch.device} is {dispatch.state}: cancel it, or wait for its end"
    for dispatch in Dispatch.objects.filter(dispatches).filter(UNCONFIRMED).select_related("device__host"):
        yield f"dispatch {dispatch} on {dispatch.device} was lost and may still run: say on its page that nothing does"
    for campaign in Campaign.objects.filter(campaigns, state__in=Campaign.OPEN_STATES).select_related("device__host"):
        yield f"campaign {campaign} on {campaign.device} is {campaign.state}: cancel it, or wait for its end"
