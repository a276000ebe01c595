"""The tables of the lab: hosts, devices, dispatches, campaigns, drive states."""

from runners.models.campaign import Campaign, CampaignEntry
from runners.models.device import Device
from runners.models.dispatch import HAS_WRITTEN, UNCONFIRMED, Dispatch, StageEnd, Step
from runners.models.drive_state import DriveState
from runners.models.host import Host

__all__ = [
    "HAS_WRITTEN",
    "UNCONFIRMED",
    "Campaign",
    "CampaignEntry",
    "Device",
    "Dispatch",
    "DriveState",
    "Host",
    "StageEnd",
    "Step",
]
