"""An order stays on the part of the drive that the page showed, until it has ended."""

from dataclasses import replace

import pytest
from django.utils import timezone

from runners.campaigns.commands import CampaignOrder, cancel, start
from runners.campaigns.scheduler import advance
from runners.campaigns.terms import Terms
from runners.inventory.devices import DeviceInUseError, bind
from runners.inventory.service_state import lock_in_service
from runners.models import Device
from runners.models.campaign import Campaign
from runners.models.states import State
from tests.runners.fake_host import DRIVE_BYTES

pytestmark = pytest.mark.django_db


@pytest.fixture
def bind_as(device, fake, staff):
    """Bind another part of the same drive, or bind the same part again."""

    def again(**changes):
        return bind(device.host, replace(fake.drives[device.path], **changes), "fake drive", staff)

    return again


@pytest.mark.parametrize("other", [{"path": "/dev/fake0p4"}, {"size_bytes": 1 << 30}])
@pytest.mark.parametrize(
    ("state", "columns", "is_over"),
    [
        (State.QUEUED, {}, False),
        (State.RUNNING, {}, False),
        (State.COLLECTING, {}, False),
        (State.LOST, {}, False),
        (State.LOST, {"ended_at": timezone.now()}, True),
        (State.DONE, {"ended_at": timezone.now()}, True),
    ],
)
def test_a_device_with_orders_does_not_become_another_part_of_its_drive(
    bind_as, in_state, other, state, columns, is_over
):
    dispatch = in_state(state, **columns)
    bind_as()
    if is_over:
        bind_as(**other)
    else:
        with pytest.raises(DeviceInUseError, match=f"before they have ended: dispatch {dispatch} on"):
            bind_as(**other)
    was_moved = not Device.objects.filter(path="/dev/fake0", size_bytes=DRIVE_BYTES).exists()
    assert was_moved is is_over


def test_a_device_with_a_campaign_does_not_become_another_part_of_its_drive(bind_as, device, a_lab, staff):
    campaign = start(device, a_lab, CampaignOrder(Terms()), staff)
    Campaign.objects.update(next_at=timezone.now())
    with pytest.raises(DeviceInUseError, match=f"campaign {campaign} on fake drive on local is active: cancel it"):
        bind_as(path="/dev/fake0p4")
    cancel(campaign, staff)
    advance(Campaign.objects.get())
    assert bind_as(path="/dev/fake0p4").path == "/dev/fake0p4"


def test_an_order_from_a_form_that_was_read_before_the_device_moved_is_refused(bind_as, device):
    bind_as(path="/dev/fake0p4")
    with pytest.raises(ValueError, match="was /dev/fake0 and is /dev/fake0p4 now; reload the page"):
        lock_in_service(device)
