"""How a device's drive stands now: away, free, or taken, and by what; for every page from which it is ordered on."""

from dataclasses import dataclass

from django.db.models import Q

from runners.campaigns.commands import open_on
from runners.models import UNCONFIRMED, Device, Dispatch
from runners.models.campaign import Campaign
from runners.models.states import LIVE, State


@dataclass(frozen=True)
class DriveNow:
    """What has the drive, wherever it is bound: a campaign, a dispatch, each None where none has; how many wait."""

    is_away: bool
    campaign: Campaign | None
    holder: Dispatch | None
    queued_count: int

    @property
    def is_free(self) -> bool:
        """Tell whether an order would be claimed at once."""
        return not (self.is_away or self.campaign or self.holder or self.queued_count)


def drive_now(device: Device) -> DriveNow:
    """Return how the drive of a device stands."""
    on_drive = Dispatch.objects.filter(drive_key=device.drive_key)
    holder = on_drive.filter(Q(state__in=LIVE) | UNCONFIRMED).order_by("-ordered_at").first()
    queued_count = on_drive.filter(state=State.QUEUED).count()
    return DriveNow(device.is_away, open_on(device.drive_key), holder, queued_count)
