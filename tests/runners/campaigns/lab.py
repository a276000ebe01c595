"""A campaign on a drive of the fake lab. Its dispatches end as on a drive with a known limit."""

from datetime import timedelta
from decimal import Decimal
from itertools import count
from types import SimpleNamespace

import pytest
from django.utils import timezone

from results.ingest.rows import write_drives
from results.models import Evidence, Finding, Preparation, Reading, Run, Share, Submission
from runners.campaigns.commands import CampaignOrder, start
from runners.campaigns.scheduler import poll
from runners.campaigns.terms import Terms
from runners.evidence.submit import begun_at, lab_record
from runners.models import Dispatch, Step
from runners.models.campaign import Campaign
from runners.models.states import State
from runners.recipes import RECIPES
from tests.results.rows import judge

OPS_COUNT = 1_000_000
OVER = {1000: 50_000, 8000: 10_000, 64000: 1_000}  # the limits of the profile, 5, 1 and 0.1 %, of a million reads
SHORT = Terms(
    start_nx=Decimal(10), max_nx=Decimal(400), screening_s=60, load_s=120, stress_s=120, rest_s=0, overload_rest_s=0
)
numbers = count(1)


@pytest.fixture
def fake_prep(monkeypatch):
    monkeypatch.setitem(RECIPES, "prep", SimpleNamespace())


@pytest.fixture
def new_campaign(device, a_lab, staff, fake_prep):
    def create(terms=SHORT):
        return start(device, a_lab, CampaignOrder(terms, {"report_interval_s": 1}), staff)

    return create


@pytest.fixture
def campaign(new_campaign):
    return new_campaign()


def poll_campaign(campaign):
    """Poll a campaign and return it."""
    poll(campaign.pk)
    campaign.refresh_from_db()
    return campaign


def newest(campaign):
    return campaign.dispatches.order_by("campaign_step").last()


def end(dispatch, state=State.DONE, **columns):
    """End a dispatch as its steps would."""
    ended = {"ended_at": timezone.now(), "reason": f"it {state}"} | columns
    Dispatch.objects.filter(pk=dispatch.pk).update(state=state, **ended)


def begin(dispatch):
    """Begin a dispatch as its claim and start would. Runs that begin later follow it on the drive."""
    Dispatch.objects.filter(pk=dispatch.pk).update(generation=dispatch.pk)
    Step.objects.create(dispatch=dispatch, from_state=State.CLAIMED, to_state=State.PREPARING, actor="worker")
    dispatch.refresh_from_db()


def prepare(dispatch):
    """End a complete preparation."""
    begin(dispatch)
    log = Evidence.objects.create(
        organisation=dispatch.organisation,
        sha256=f"{next(numbers):064x}",
        size_bytes=1,
        filename="side.jsonl",
        kind="prep",
    )
    # Times are compared in whole seconds: a real preparation lasts some, this one none.
    times = {"started_at": begun_at(dispatch) - timedelta(seconds=2), "finished_at": timezone.now()}
    made = Preparation.objects.create(drive_key=dispatch.drive_key, evidence=log, **times)
    end(dispatch, exit_status=0, preparation=made)


def add_submission(dispatch, reading_state="done"):
    """Give a dispatch a submission whose log file does not exist."""
    log = Evidence.objects.create(
        organisation=dispatch.organisation, sha256=f"{next(numbers):064x}", size_bytes=1, filename="log"
    )
    submission = Submission.objects.create(organisation=dispatch.organisation, origin="dispatch", log=log)
    Reading.objects.create(evidence=log, reader_version="0.1.0", state=reading_state)
    end(dispatch, submission=submission, exit_status=0)
    return submission


def read_as(dispatch, over_ratio, outcome="undecided", stop="finished", finding=""):
    """End a dispatch with a run whose worst shares are this part of each limit, and with its lab record."""
    begin(dispatch)
    submission = add_submission(dispatch)
    run = Run.objects.create(
        submission=submission,
        reading=submission.log.readings.get(),
        tier="lab-verified",
        statistic="worst-slice",
        duration_s=dispatch.duration_s,
        nx_load=dispatch.nx_load,
        facts={"stop": {"kind": stop}},
        started_at=begun_at(dispatch),
    )
    write_drives(run, lab_record(dispatch).as_json())
    for threshold_us, at_limit in OVER.items():
        over_count = int(at_limit * Decimal(over_ratio))
        counted = {"over_count": over_count, "ops_count": OPS_COUNT, "slice_number": 1}
        share_pct = Decimal(over_count * 100) / OPS_COUNT
        columns = {"share_pct": share_pct, "printed": f"{share_pct:.2f}", "read_at_us": threshold_us}
        Share.objects.create(run=run, statistic="worst-slice", threshold_us=threshold_us, **columns, **counted)
    judge(run, outcome)
    if finding:
        Finding.objects.create(run=run, ordinal=0, rule_id=finding, severity="look", sentence=finding)
    return run


def answer(dispatch, limit_nx):
    """End a dispatch as a drive does that passes up to a load, and runs any to completion."""
    if dispatch.purpose == "prep":
        prepare(dispatch)
        return
    passes = dispatch.nx_load <= limit_nx
    read_as(dispatch, "0.5" if passes else "2", "undecided" if passes else "fail")


def drive_to_end(campaign, limit_nx, steps_max=60):
    for _ in range(steps_max):
        poll_campaign(campaign)
        if campaign.state != Campaign.State.ACTIVE:
            return campaign
        answer(newest(campaign), limit_nx)
    raise AssertionError(f"{campaign}: no end after {steps_max} steps")


def long_ago(campaign, seconds=100_000):
    """Let time pass since everything that has ended."""
    for dispatch in campaign.dispatches.filter(ended_at__isnull=False):
        Dispatch.objects.filter(pk=dispatch.pk).update(ended_at=dispatch.ended_at - timedelta(seconds=seconds))
