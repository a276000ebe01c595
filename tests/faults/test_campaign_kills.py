"""Workers killed at each commit of a campaign, and at random while its hosts fail too."""

from decimal import Decimal

import pytest

from results.models import Run, Submission
from runners.campaigns.commands import CampaignOrder, cancel, start
from runners.campaigns.terms import Terms
from runners.models import Dispatch
from runners.models.campaign import Campaign
from runners.models.states import State
from tests.faults.chaos import FAULTS, Chaos, ends
from tests.faults.simulated import data_dir, device_on, kill_one_after_the_other, new_lab, new_worker, sim_lab
from tests.register import wait_for
from tests.runners.lab import drivetest

__all__ = ["data_dir", "drivetest", "new_lab", "new_worker", "sim_lab"]

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True)]

LEAST_DEATHS = 20  # five dispatches take some sixty commits; fewer deaths would mean that the kill points do not count
KILLS_COUNT, SEED = 40, 3
LIMIT_S = 300  # two busy cores may take long
SHORT = Terms(
    start_nx=Decimal(1), max_nx=Decimal(4), screening_s=60, load_s=60, stress_s=60, slice_length_s=10, rest_s=0,
    overload_rest_s=0, near_pct=Decimal(0),
)  # fmt: skip
PURPOSES = ["prep", "screening", "screening", "load", "stress"]


@pytest.fixture
def new_campaign(sim_lab, staff):
    def create(lab, name="sim-0"):
        return start(device_on(lab, name, staff), sim_lab, CampaignOrder(SHORT, {"report_interval_s": 10}), staff)

    return create


def test_workers_killed_at_each_commit_of_a_campaign_leave_each_step_made_once(
    new_lab, new_worker, new_campaign, drivetest
):
    lab = new_lab(hosts_count=1, speed=600)
    campaign = new_campaign(lab)
    assert kill_one_after_the_other(new_worker(lab)) > LEAST_DEATHS
    campaign.refresh_from_db()
    check_made_once(campaign, lab)


def check_made_once(campaign, lab):
    """Check that each step has one dispatch, one load and one run, and that the history lists each once."""
    assert (campaign.state, campaign.end) == (Campaign.State.FINISHED, "at-limit"), campaign.reason
    made = campaign.dispatches.order_by("campaign_step")
    assert [dispatch.purpose for dispatch in made] == PURPOSES
    assert {dispatch.state for dispatch in made} == {State.DONE}
    assert [dispatch.campaign_step for dispatch in made] == list(range(1, len(PURPOSES) + 1))
    assert campaign.entries.filter(kind="ordered").count() == len(PURPOSES)
    assert [model.objects.count() for model in (Dispatch, Submission, Run)] == [5, 4, 4]
    truth = lab.truth()
    assert (truth["starts_count"], truth["most_loads"], truth["overlaps"]) == (len(PURPOSES), 1, [])


def test_campaigns_whose_hosts_fail_while_workers_are_killed_at_random_load_no_drive_twice(
    new_lab, new_worker, new_campaign, staff, drivetest
):
    lab = new_lab(hosts_count=2, faults=FAULTS | {"seed": SEED})
    campaigns = [new_campaign(lab, name) for name in lab.names]
    chaos = Chaos(lab, [new_worker(lab), new_worker(lab)], None, SEED, queued_at_most=0)
    chaos.play(KILLS_COUNT)
    # On a busy machine, every worker may have been killed before it ordered a run.
    wait_for(lambda: all(campaign.dispatches.exists() for campaign in campaigns), chaos.parents[0].log.read_text)
    for campaign in campaigns:
        cancel(campaign, staff)
    assert chaos.settle(LIMIT_S), (ends(), chaos.parents[0].log.read_text()[-2000:])
    for campaign in campaigns:
        check_counted_once(campaign)
    truth = lab.truth()
    assert (truth["overlaps"], truth["most_loads"]) == ([], 1)


def check_counted_once(campaign):
    """Check that each step is counted, recorded and ordered once."""
    campaign.refresh_from_db()
    assert campaign.state in {Campaign.State.CANCELLED, Campaign.State.FINISHED}, campaign.reason
    numbers = list(campaign.dispatches.order_by("campaign_step").values_list("campaign_step", flat=True))
    assert numbers == list(range(1, campaign.steps_count + 1))
    assert campaign.entries.filter(kind="ordered").count() == campaign.steps_count > 0
