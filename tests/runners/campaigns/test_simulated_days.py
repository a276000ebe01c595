"""Campaigns from order to certificate on a simulated drive: days of virtual time, the register's own code."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from results.certification.certificates import attempts
from results.ingest import queue as ingest_queue
from results.lifecycle import visibility
from results.lifecycle.review import create_product
from results.models import Certificate, Run
from runners.campaigns.commands import CampaignOrder, start
from runners.campaigns.outcomes import rungs_of
from runners.campaigns.scheduler import run_due
from runners.campaigns.terms import Terms
from runners.inventory.devices import bind
from runners.models import Host
from tests.lab_simulator.act_log import EPOCH
from tests.lab_simulator.clock import ManualClock
from tests.lab_simulator.lab import PATH, InProcessHost, SimulatedLab
from tests.lab_simulator.worker import FOUND_FIT, KIND
from tests.results.builders import make_user
from tests.results.rows import make_product
from tests.runners.lab import poll_all

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("real_reader"), pytest.mark.long]

POLL_PERIOD_S = 4 * 3600  # of virtual time, while a program runs
POLLS_MAX = 500
PRODUCT = {"category": "nvme-flash", "vendor": "Simulated", "model": "SIM 1000", "part_number": "", "capacity_gb": 64}
FACTS = PRODUCT | {"firmware": "FW1", "over_provisioning_pct": "7.00", "notes": ""}
TERMS = Terms(max_nx=Decimal(400))  # all other terms have their defaults: runs of a day, slices of an hour, rests
MINUTES = {"report_interval_s": 60}
HOLDS_NX = 30


@pytest.fixture
def clock(monkeypatch):
    """Return a common clock for the hosts and the register."""
    clock = ManualClock()
    monkeypatch.setattr(timezone, "now", lambda: EPOCH + timedelta(seconds=clock.now_s()))
    return clock


@pytest.fixture
def lab(clock):
    lab = SimulatedLab(1, clock)
    lab.drives[0].highest_nx = HOLDS_NX
    return lab


@pytest.fixture
def product(db):
    return make_product(**PRODUCT)


@pytest.fixture
def new_campaign(lab, a_lab, staff, product):
    def create(terms=TERMS, options=MINUTES):
        host = Host.objects.create(name="sim-0", kind=KIND, checked_at=FOUND_FIT)
        device = bind(host, lab.call("sim-0", "identify", PATH), "simulated", staff)
        return start(device, a_lab, CampaignOrder(terms, options, FACTS), staff)

    return create


@pytest.fixture
def carry_out(lab, clock):
    def poll_until_it_ends(campaign):
        for _ in range(POLLS_MAX):
            run_due()
            poll_all(lambda host: InProcessHost(lab, host.name))
            ingest_queue.sweep()
            campaign.refresh_from_db()
            if campaign.state != campaign.State.ACTIVE:
                return campaign
            clock.at_s = next_s(lab, clock, campaign)
        raise AssertionError(f"{campaign}: no end after {POLLS_MAX} polls: {campaign.reason}")

    return poll_until_it_ends


def next_s(lab, clock, campaign):
    """Return the time of the next event: a program or a rest ends, or a poll is due."""
    end_s = lab.next_end_s()
    if end_s is not None:
        return min(end_s, clock.at_s + POLL_PERIOD_S)
    rest_s = (campaign.next_at - timezone.now()).total_seconds() if campaign.next_at else 0
    return clock.at_s + max(1, rest_s)


@pytest.fixture
def publish(db):
    """Have every run reviewed, and return the certificates that follow."""
    rita = make_user("rita", is_reviewer=True)

    def publish_all():
        for run in Run.objects.order_by("pk"):
            if run.product_id is None:
                create_product(run.submission, rita)  # the existing product, which is not public yet
            visibility.publish(run, rita)
        return list(Certificate.objects.all())

    return publish_all


def run_of(campaign, purpose):
    return campaign.dispatches.get(purpose=purpose).submission.runs.get()


def ladder(campaign):
    return [(each.purpose, each.nx_load) for each in campaign.dispatches.order_by("campaign_step")]


def missing(product):
    product.refresh_from_db()
    (found,) = attempts(product)
    return {requirement["id"]: requirement["sentence"] for requirement in found["missing"]}


def test_a_drive_is_prepared_climbs_its_ladder_and_is_certified_by_a_day_of_each_test(
    new_campaign, carry_out, publish, lab
):
    campaign = carry_out(new_campaign(options={}))  # a report per second, the default
    screened = [("screening", nx) for nx in (10, 15, 22, 33, 27, 30, 31)]
    assert ladder(campaign) == [("prep", None), *screened, ("load", 30), ("stress", 60)]
    assert (campaign.end, campaign.confirmed_nx, campaign.missing) == ("confirmed", HOLDS_NX, [])
    (certificate,) = publish()
    assert certificate.nx_load == HOLDS_NX
    assert set(certificate.runs.all()) == {run_of(campaign, "load"), run_of(campaign, "stress")}
    assert lab.truth()["overlaps"] == []


def test_a_load_test_whose_last_hour_is_over_a_limit_certifies_nothing_and_names_the_hour(
    new_campaign, carry_out, publish, lab
):
    lab.drives[0].slow_hours = frozenset({23})
    campaign = carry_out(new_campaign(TERMS.changed(confirmations_max=1)))
    assert (campaign.end, campaign.confirmed_nx) == ("spent", None)
    assert "the campaign tested 1 load with load tests" in campaign.reason
    assert campaign.missing == ["a load that passes both tests"]
    assert publish() == []
    load = rungs_of(campaign)[-1].outcome
    assert (load.purpose, load.result) == ("load", "failed")
    assert "slice 24 (hours 23-24), reads over 1 ms: 8.00 % > 5 %" in load.reason


def test_a_firmware_that_changed_during_the_stress_test_voids_the_pair_and_is_named(
    new_campaign, carry_out, publish, lab, clock, product
):
    lab.drives[0].updates = ((36 * 3600, "FW2"),)
    campaign = carry_out(new_campaign())
    stress = campaign.dispatches.get(purpose="stress")
    assert stress.started_at < EPOCH + timedelta(hours=36) < stress.ended_at
    assert [state.firmware for state in stress.drive_states.order_by("at")] == ["FW1", "FW2"]
    (why,) = campaign.missing
    assert "the firmware changed from FW1 to FW2" in why
    assert publish() == []
    assert "FW1, FW2" in missing(product)["firmware"]
