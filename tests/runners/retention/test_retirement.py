"""Hosts and devices are retired only without live dispatches, and return with all their runs."""

import threading
from decimal import Decimal

import pytest
from django.db import transaction
from django.utils import timezone

from results.models import Event, Evidence, Preparation
from runners.campaigns.commands import CampaignOrder, start
from runners.campaigns.terms import Terms
from runners.dispatch.orders import Order, cancel, order
from runners.inventory import health
from runners.inventory.devices import bind
from runners.inventory.service_state import OutOfServiceError
from runners.models import Device, Dispatch, Host
from runners.models.campaign import Campaign
from runners.models.states import State
from runners.retention.retirement import RetireError, retire_device, retire_host, return_to_service
from tests.runners.lab import poll_state
from tests.runners.ssh_host import HEALTH, ssh_host
from tests.runners.threads import in_threads, wait_for_blocked_session

pytestmark = pytest.mark.django_db


@pytest.fixture
def retire(device, staff):
    """Return functions that retire the host or the device, by name."""
    return {
        "host": lambda: retire_host(device.host, staff, "scrapped"),
        "device": lambda: retire_device(device, staff, "scrapped"),
    }


BOTH = pytest.mark.parametrize("subject", ["host", "device"])


@BOTH
def test_a_retired_device_takes_no_order_and_its_history_names_who_and_why(retire, subject, device, a_lab, staff):
    retire[subject]()
    with pytest.raises(OutOfServiceError, match="is retired since"):
        order(Device.objects.get(), a_lab, Order(Decimal(1), 60, 10), staff)
    with pytest.raises(OutOfServiceError):
        start(Device.objects.get(), a_lab, CampaignOrder(Terms()), staff)
    event = Event.objects.get(kind=f"{subject}-retired")
    assert (event.actor, event.reason) == (staff, "scrapped")


@BOTH
@pytest.mark.parametrize("state", [State.QUEUED, State.RUNNING, State.COLLECTING, State.LOST])
def test_nothing_is_retired_during_a_live_dispatch(retire, subject, in_state, state):
    dispatch = in_state(state)
    with pytest.raises(RetireError, match=f"dispatch {dispatch} on fake drive on local"):
        retire[subject]()
    assert not Event.objects.filter(kind=f"{subject}-retired").exists()


@BOTH
def test_dispatches_that_have_ended_block_no_retirement(retire, subject, in_state, device):
    in_state(State.DONE, ended_at=timezone.now())
    retire[subject]()
    with pytest.raises(RetireError, match="is retired already"):
        retire[subject]()


@BOTH
def test_nothing_is_retired_during_a_campaign(retire, subject, device, a_lab, staff):
    campaign = start(device, a_lab, CampaignOrder(Terms()), staff)
    with pytest.raises(RetireError, match=f"campaign {campaign} on fake drive on local is active"):
        retire[subject]()
    Campaign.objects.update(state="cancelled")
    retire[subject]()


def test_a_retirement_needs_a_reason(device, staff):
    with pytest.raises(RetireError, match="expected a reason"):
        retire_device(device, staff, " ")


def test_a_host_that_sends_requests_to_a_live_sweep_stays(in_state, device, staff):
    sender = Host.objects.create(name="sender", kind="local")
    dispatch = in_state(State.RUNNING, load_host=sender)
    with pytest.raises(RetireError, match=str(dispatch)):
        retire_host(sender, staff, "scrapped")


def test_leftover_files_of_a_cancelled_run_block_retirement_unless_given_up(running, connect, device, staff):
    cancel(running, staff)
    assert poll_state(running, connect) == State.CANCELLED
    with pytest.raises(RetireError, match=f"leftover files of 1 run there .{running}. are not archived yet"):
        retire_host(device.host, staff, "scrapped")
    retire_host(device.host, staff, "scrapped", abandons_leftovers=True)
    assert Event.objects.get(kind="host-retired").details == {"given_up": [running.public_id]}


def test_a_log_too_large_for_the_intake_blocks_retirement_too(running, connect, fake, device, staff, settings):
    settings.UPLOAD_MAX_BYTES = 10
    fake.end(running.public_id, 0)
    assert poll_state(running, connect) == State.FAILED
    with pytest.raises(RetireError, match=f"leftover files of 1 run there .{running}. are not archived yet"):
        retire_host(device.host, staff, "scrapped")


def test_a_run_whose_start_was_never_answered_blocks_retirement_too(running, device, staff):
    Dispatch.objects.update(state=State.CANCELLED, started_at=None, ended_at=timezone.now())
    with pytest.raises(RetireError, match="leftover files of 1 run there"):
        retire_host(device.host, staff, "scrapped")


def test_leftover_files_of_a_sweep_block_retirement_of_its_second_host_too(loading, staff):
    Dispatch.objects.update(state=State.LOST, ended_at=timezone.now())
    with pytest.raises(RetireError, match="leftover files of 1 run there"):
        retire_host(loading.load_host, staff, "scrapped")


def test_a_run_that_was_refused_before_anything_was_sent_left_nothing(dispatch, connect, fake, device, staff):
    fake.add_drive(refusals=["mounted"])
    assert poll_state(dispatch, connect) == State.REFUSED
    retire_host(device.host, staff, "scrapped")


def test_a_submission_of_an_earlier_version_without_a_time_blocks_no_retirement(running, connect, device, staff):
    evidence = Evidence.objects.create(
        organisation=running.organisation, sha256="ab" * 32, size_bytes=1, filename="side"
    )
    made = Preparation.objects.create(drive_key=running.drive_key, evidence=evidence)
    cancel(running, staff)
    assert poll_state(running, connect) == State.CANCELLED
    Dispatch.objects.update(preparation=made)
    retire_host(device.host, staff, "scrapped")


def test_a_run_that_was_cancelled_before_its_start_left_nothing(dispatch, connect, device, staff):
    cancel(dispatch, staff)
    assert poll_state(dispatch, connect) == State.CANCELLED
    retire_host(device.host, staff, "scrapped")


def test_a_retired_host_is_not_checked_and_gets_no_work_until_it_is_back_and_was_checked(staff):
    host = ssh_host(health=HEALTH, checked_at=timezone.now())
    retire_host(host, staff, "gone")
    assert health.take_due_hosts(9) == []
    assert "it is retired since" in health.no_work_message(host)
    assert return_to_service(host, staff)
    assert health.no_work_message(host) == "it has not been checked yet"
    assert health.take_due_hosts(9) == [host]
    assert not return_to_service(host, staff)


def test_a_retired_device_comes_back_with_all_its_runs_when_its_drive_is_bound_again(device, dispatch, fake, staff):
    Dispatch.objects.update(state=State.DONE, ended_at=timezone.now())
    retire_device(device, staff, "sent back")
    again = bind(device.host, fake.drives["/dev/fake0"], "fake drive", staff)
    assert (again.pk, again.retired_at) == (device.pk, None)
    assert list(again.dispatches.all()) == [dispatch]
    assert Event.objects.get(kind="device-back-in-service").reason == "its drive was bound again"


def test_a_retired_device_returns_to_service_on_request(device, staff):
    retire_device(device, staff, "sent back")
    assert return_to_service(device, staff)
    assert Event.objects.get(kind="device-back-in-service").actor == staff


def test_no_drive_is_bound_to_a_retired_host(device, fake, staff):
    retire_host(device.host, staff, "scrapped")
    with pytest.raises(OutOfServiceError, match="Host local is retired"):
        bind(device.host, fake.drives["/dev/fake0"], "fake drive", staff)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("subject", ["host", "device"])
def test_an_order_waits_for_a_retirement_in_progress_and_is_then_refused(retire, subject, device, a_lab, staff):
    refused = []

    def give_order(device):
        try:
            order(device, a_lab, Order(Decimal(1), 60, 10), staff)
        except OutOfServiceError as error:
            refused.append(str(error))

    ordering = threading.Thread(target=in_threads, args=[give_order, [Device.objects.get()]])
    with transaction.atomic():
        retire[subject]()
        ordering.start()
        wait_for_blocked_session()
    ordering.join()
    assert "is retired since" in refused[0]
    assert not Dispatch.objects.exists()
