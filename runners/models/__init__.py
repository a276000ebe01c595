"""The tables of the lab: hosts, devices, dispatches, campaigns, drive states."""

from runners.models.agent import Agent, AgentExchange
from runners.models.campaign import Campaign, CampaignEntry
from runners.models.dispatch import HAS_WRITTEN, LOST_UNCONFIRMED, Dispatch, DriveState, StageEnd, Step
from runners.models.host import Device, Host
from runners.models.maintenance import MaintenanceWindow
from runners.models.order_key import OrderKey
from runners.models.order_template import OrderTemplate
from runners.models.outage import HostOutage
