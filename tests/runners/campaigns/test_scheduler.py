import threading
from decimal import Decimal

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from runners.campaigns import commands, scheduler
from runners.campaigns.outcomes import rungs_of
from runners.campaigns.requirements import missing_for_certificate
from runners.models import Device, Dispatch, DriveState
from runners.models.campaign import Campaign, CampaignEntry
from runners.models.dispatch import CONSENT_OPTION
from runners.models.postgres import lock_drive
from runners.models.states import State
from tests.runners.campaigns.lab import (
    SHORT,
    add_submission,
    answer,
    drive_to_end,
    end,
    long_ago,
    newest,
    poll_campaign,
    read_as,
)
from tests.runners.lab import poll as poll_dispatch
from tests.runners.threads import in_threads, wait_for_blocked_session

pytestmark = pytest.mark.django_db


def kinds(campaign):
    return list(campaign.entries.values_list("kind", flat=True))


def test_a_campaign_begins_with_prep_and_waits_for_its_end(campaign):
    poll_campaign(campaign)
    poll_campaign(campaign)
    dispatch = campaign.dispatches.get()
    assert (dispatch.purpose, dispatch.recipe, dispatch.nx_load, dispatch.duration_s) == ("prep", "prep", None, None)
    assert kinds(campaign) == ["started", "ordered"]
    assert "is running" in campaign.reason


def test_a_campaign_climbs_to_the_highest_load_and_confirms_it(campaign):
    drive_to_end(campaign, limit_nx=30)
    runs = [(dispatch.purpose, dispatch.nx_load) for dispatch in campaign.dispatches.order_by("campaign_step")]
    assert [nx for purpose, nx in runs if purpose == "screening"] == [10, 15, 22, 33, 27, 30, 31]
    assert runs[-2:] == [("load", 30), ("stress", 60)]
    assert (campaign.state, campaign.end, campaign.confirmed_nx) == ("finished", "confirmed", 30)
    assert "31x does not" in campaign.reason


def test_an_order_has_the_settings_of_its_campaign(campaign):
    drive_to_end(campaign, limit_nx=30)
    load = campaign.dispatches.get(purpose="load")
    assert (load.options, load.duration_s, load.slice_length_s) == ({"report_interval_s": 1}, 120, 120)
    assert (load.organisation, load.ordered_by, load.device) == (
        campaign.organisation, campaign.ordered_by, campaign.device,
    )  # fmt: skip


@pytest.mark.parametrize("options", [{}, {CONSENT_OPTION: "a partition table"}])
def test_consent_reaches_the_preparation_and_other_options_do_not(device, a_lab, staff, fake_prep, options):
    campaign = commands.start(device, a_lab, commands.CampaignOrder(SHORT, options | {"report_interval_s": 5}), staff)
    poll_campaign(campaign)
    assert (newest(campaign).recipe, newest(campaign).options) == ("prep", options)


def test_the_consent_of_a_campaign_ends_once_no_data_is_recognised(device, a_lab, staff, fake_prep):
    wanted = commands.CampaignOrder(SHORT, {CONSENT_OPTION: "a partition table", "report_interval_s": 5})
    campaign = commands.start(device, a_lab, wanted, staff)
    ordered = []
    for signature in ("a partition table", None, "a partition table"):
        poll_campaign(campaign)
        dispatch = newest(campaign)
        ordered.append((dispatch.purpose, CONSENT_OPTION in dispatch.options))
        answer(dispatch, 30)
        columns = {"moment": "after", "drive_key": dispatch.drive_key, "document": {"signature": signature}}
        DriveState.objects.create(dispatch=dispatch, **columns)
    poll_campaign(campaign)
    assert ordered == [("prep", True), ("screening", True), ("screening", False)]
    assert newest(campaign).options == {"report_interval_s": 5}


def test_an_end_names_the_missing_full_length_runs(campaign):
    drive_to_end(campaign, limit_nx=30)
    virtual, load, stress = campaign.missing
    assert "virtual" in virtual
    assert "load test at 30x of 86,400 seconds in slices of 3,600 seconds: " in load
    assert load.endswith("was ordered for 120 seconds in slices of 120 seconds")
    assert "stress test at 60x of 86,400 seconds" in stress


def test_full_length_runs_after_prep_on_a_real_drive_lack_nothing(new_campaign, device):
    device.identity_kind = "nvme"
    device.save()
    campaign = new_campaign(SHORT.changed(load_s=86_400, stress_s=86_400))
    for _ in range(60):
        poll_campaign(campaign)
        if campaign.state != "active":
            break
        if newest(campaign).purpose in {"load", "stress"}:
            read_as(newest(campaign), "0.5", "pass")
        else:
            answer(newest(campaign), 30)
    assert (campaign.confirmed_nx, campaign.missing) == (30, [])


def test_an_incomplete_preparation_is_repeated_and_never_counted(campaign):
    poll_campaign(campaign)
    first = newest(campaign)
    end(first, exit_status=0)
    long_ago(campaign)
    poll_campaign(campaign)
    again = newest(campaign)
    assert (again.purpose, again.retry_of) == ("prep", first)
    assert "not show that the whole drive was prepared" in campaign.reason
    assert "prep of the drive" in missing_for_certificate(campaign, None, rungs_of(campaign))


def test_the_end_of_a_campaign_without_prep_names_that(new_campaign):
    campaign = drive_to_end(new_campaign(SHORT.changed(with_prep=False)), limit_nx=30)
    assert "prep of the drive" in campaign.missing


def test_repeated_polls_of_one_step_make_one_order(campaign):
    """A worker that was cut off after its query finds that another order has the number."""
    stale = Campaign.objects.select_related("device", "organisation", "ordered_by", "profile").get(pk=campaign.pk)
    poll_campaign(campaign)
    scheduler.advance(stale)
    assert campaign.dispatches.count() == 1


@pytest.mark.django_db(transaction=True)
def test_one_of_many_workers_orders(campaign):
    """Without the lock, the number of steps alone must prevent a second order."""
    started, failed = threading.Barrier(4), []

    def work():
        own = Campaign.objects.select_related("device", "organisation", "ordered_by", "profile").get(pk=campaign.pk)
        started.wait()
        try:
            scheduler.advance(own)
        except Exception as error:  # noqa: BLE001 - the waiting thread reports it
            failed.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert campaign.dispatches.count() == 1


@pytest.mark.django_db(transaction=True)
def test_an_order_and_a_second_campaign_on_its_drive_do_not_wait_for_each_other(campaign, device, a_lab, staff):
    """A start of a campaign locks the drive first. An order that locked the campaign first was a deadlock."""
    looking = threading.Thread(target=in_threads, args=[scheduler.poll, [campaign.pk]])
    with transaction.atomic():
        lock_drive(device.drive_key)
        looking.start()
        wait_for_blocked_session()
        with pytest.raises(commands.DriveTakenError):
            commands.start(device, a_lab, commands.CampaignOrder(SHORT), staff)
    looking.join()
    assert campaign.dispatches.count() == 1


def test_a_campaign_whose_device_is_out_of_service_is_paused_with_the_remedy(campaign, device):
    Device.objects.filter(pk=device.pk).update(retired_at=timezone.now())
    poll_campaign(campaign)
    assert (campaign.state, campaign.dispatches.count()) == ("paused", 0)
    assert "return it to service" in campaign.reason


def test_a_campaign_waits_for_a_log_that_is_being_read(campaign):
    poll_campaign(campaign)
    answer(newest(campaign), 30)
    poll_campaign(campaign)
    add_submission(newest(campaign), "pending")
    poll_campaign(campaign)
    assert campaign.dispatches.count() == 2
    assert "being read" in campaign.reason


def test_a_rest_is_recorded_once_and_stays(new_campaign):
    campaign = new_campaign(SHORT.changed(with_prep=False, rest_s=1800))
    poll_campaign(campaign)
    read_as(newest(campaign), "2", "fail")
    for _ in range(3):
        poll_campaign(campaign)
    assert kinds(campaign) == ["started", "ordered", "rested"]
    assert campaign.next_at > timezone.now()
    long_ago(campaign)
    poll_campaign(campaign)
    assert (campaign.dispatches.count(), campaign.next_at) == (2, None)


def test_a_new_campaign_rests_after_the_overload_of_the_last_one(new_campaign, staff):
    terms = SHORT.changed(with_prep=False, overload_rest_s=7200)
    last = new_campaign(terms)
    poll_campaign(last)
    overloaded = newest(last)
    end(overloaded, exit_status=4)
    Campaign.objects.filter(pk=last.pk).update(state="cancelled")
    campaign = new_campaign(terms)
    poll_campaign(campaign)
    assert not campaign.dispatches.exists()
    assert str(overloaded) in campaign.reason
    long_ago(last)
    poll_campaign(campaign)
    assert campaign.dispatches.count() == 1


def test_a_failed_attempt_is_ordered_again_as_a_retry(new_campaign):
    campaign = new_campaign(SHORT.changed(with_prep=False))
    poll_campaign(campaign)
    first = newest(campaign)
    end(first, State.FAILED)
    long_ago(campaign)
    poll_campaign(campaign)
    assert newest(campaign).retry_of == first


def test_a_refused_dispatch_pauses_the_campaign_until_a_person_resumes_it(new_campaign, staff):
    campaign = new_campaign(SHORT.changed(with_prep=False))
    poll_campaign(campaign)
    end(newest(campaign), State.REFUSED, reason="it is mounted")
    poll_campaign(campaign)
    assert campaign.state == "paused"
    assert "it is mounted" in campaign.reason
    assert commands.resume(campaign, staff)
    poll_campaign(campaign)
    assert (campaign.state, campaign.dispatches.count()) == ("active", 2)


def test_a_campaign_waits_for_a_lost_dispatch_until_its_host_has_answered(new_campaign):
    campaign = new_campaign(SHORT.changed(with_prep=False))
    poll_campaign(campaign)
    end(newest(campaign), State.LOST, ended_at=None)
    poll_campaign(campaign)
    assert (campaign.dispatches.count(), "lost" in campaign.reason) == (1, True)
    end(newest(campaign), State.LOST)
    long_ago(campaign)
    poll_campaign(campaign)
    assert campaign.dispatches.count() == 2


def test_a_cancel_is_confirmed_when_the_host_has_ended_it(campaign, staff):
    poll_campaign(campaign)
    assert commands.cancel(campaign, staff)
    under_way = newest(campaign)
    assert under_way.cancel_requested_at is not None
    poll_campaign(campaign)
    assert (campaign.state, campaign.ended_at) == ("cancelling", None)
    end(under_way, State.LOST, ended_at=None)
    assert poll_campaign(campaign).state == "cancelling"
    end(under_way, State.CANCELLED)
    poll_campaign(campaign)
    assert (campaign.state, campaign.ended_at is not None) == ("cancelled", True)


def test_a_campaign_that_another_worker_ended_since_it_was_found_due_stays_cancelled(campaign, staff):
    poll_campaign(campaign)
    commands.cancel(campaign, staff)
    end(newest(campaign), State.CANCELLED, reason="its campaign was cancelled")
    found_by_both = campaign.pk
    scheduler.poll(found_by_both)
    scheduler.poll(found_by_both)
    campaign.refresh_from_db()
    assert (campaign.state, kinds(campaign)[-1]) == ("cancelled", "cancelled")


def test_a_campaign_that_a_person_paused_since_it_was_found_due_keeps_the_reason(campaign, staff):
    poll_campaign(campaign)
    end(newest(campaign), State.REFUSED, reason="it is mounted")
    assert commands.pause(campaign, staff)
    reason = campaign.reason
    poll_campaign(campaign)
    assert (campaign.state, campaign.reason, kinds(campaign)[-2:]) == ("paused", reason, ["ordered", "paused"])


def test_a_campaign_that_rests_or_has_a_live_dispatch_reads_no_results(new_campaign, staff):
    campaign = new_campaign(SHORT.changed(with_prep=False, rest_s=1800))
    assert list(scheduler.due()) == [campaign]
    poll_campaign(campaign)
    assert not scheduler.due().exists()
    read_as(newest(campaign), "2", "fail")
    assert list(scheduler.due()) == [campaign]
    poll_campaign(campaign)
    assert campaign.next_at is not None
    assert not scheduler.due().exists()
    assert commands.change(campaign, {"rest_s": 0}, staff)
    assert list(scheduler.due()) == [campaign]


@pytest.mark.parametrize("state", [State.QUEUED, State.RUNNING, State.LOST])
def test_a_cancel_and_a_lost_dispatch_are_polled_until_they_are_settled(campaign, staff, state):
    poll_campaign(campaign)
    end(newest(campaign), state, ended_at=None)
    assert scheduler.due().exists() is (state == State.LOST)
    commands.cancel(campaign, staff)
    assert list(scheduler.due()) == [campaign]


def test_an_internal_error_in_one_campaign_does_not_delay_another(
    campaign, new_campaign, other_drive, monkeypatch, caplog
):
    other = commands.start(other_drive, campaign.organisation, commands.CampaignOrder(SHORT), campaign.ordered_by)
    Campaign.objects.filter(pk=campaign.pk).update(terms={"max_nx": "no number"})
    scheduler.run_due()
    assert other.dispatches.count() == 1
    assert f"campaign {campaign.pk}: internal error" in caplog.text


def test_the_history_cannot_be_changed(campaign):
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        CampaignEntry.objects.update(reason="never happened")


def test_a_finished_campaign_orders_nothing(campaign):
    drive_to_end(campaign, limit_nx=30)
    count = Dispatch.objects.count()
    scheduler.run_due()
    assert Dispatch.objects.count() == count


def test_a_drive_that_fails_everywhere_ends_without_a_load(campaign):
    drive_to_end(campaign, limit_nx=Decimal("0.5"))
    assert (campaign.end, campaign.confirmed_nx) == ("nothing-passes", None)
    assert "a load that passes both tests" in campaign.missing


def test_a_drive_with_data_pauses_the_campaign_at_once(new_campaign, fake, connect):
    campaign = new_campaign(SHORT.changed(with_prep=False))
    poll_campaign(campaign)
    dispatch = newest(campaign)
    poll_dispatch(dispatch.pk, connect)
    fake.files[dispatch.public_id]["stderr"] = b"drivetest: /dev/nvme0n1: holds an XFS file system\n"
    fake.end(dispatch.public_id, 2)
    poll_dispatch(dispatch.pk, connect)
    poll_campaign(campaign)
    assert (campaign.state, campaign.dispatches.get().state) == ("paused", State.REFUSED)
    assert "holds an XFS file system" in campaign.reason
