from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from results.models import Evidence, Finding, Run
from runners.campaigns.outcomes import rungs_of
from runners.campaigns.terms import Result
from runners.campaigns.voting import is_doubted
from runners.models.states import State
from tests.runners.campaigns.lab import SHORT, add_submission, drive_to_end, end, newest, poll_campaign, read_as

pytestmark = pytest.mark.django_db


@pytest.fixture
def dispatch(new_campaign):
    campaign = poll_campaign(new_campaign(SHORT.changed(with_prep=False)))
    return newest(campaign)


def outcome(dispatch):
    (rung,) = rungs_of(dispatch.campaign)
    return rung.outcome


@pytest.mark.parametrize(
    ("over_ratio", "result"), [("1", Result.PASSED), ("1.001", Result.FAILED), ("0.999", Result.PASSED)]
)
def test_a_run_passes_if_no_share_is_over_its_limit(dispatch, over_ratio, result):
    read_as(dispatch, over_ratio)
    assert outcome(dispatch).result is result


@pytest.mark.parametrize("state", [State.REFUSED, State.FAILED])
def test_a_drive_that_drivetest_refuses_is_refused_and_not_retried(dispatch, state):
    end(dispatch, state, exit_status=2, reason="holds an XFS file system")
    found = outcome(dispatch)
    assert found.result is Result.REFUSED
    assert "XFS" in found.reason
    assert "at the host" in found.reason


def test_the_margin_is_that_of_the_nearest_limit(dispatch):
    run = read_as(dispatch, "0.5")
    run.shares.filter(threshold_us=8000).update(over_count=9_900)
    assert float(outcome(dispatch).margin) == 0.01


def test_the_printed_share_decides_nothing(dispatch):
    """50,001 of a million are over 5 %, and print as 5.00."""
    run = read_as(dispatch, "0.5")
    run.shares.filter(threshold_us=1000).update(over_count=50_001, printed="5.00", share_pct=Decimal("5.0"))
    assert outcome(dispatch).result is Result.FAILED


@pytest.mark.parametrize(
    ("state", "result"),
    [(State.FAILED, Result.UNUSABLE), (State.REFUSED, Result.REFUSED), (State.CANCELLED, Result.CANCELLED)],
)
def test_an_end_without_a_run_decides_nothing_about_the_drive(dispatch, state, result):
    end(dispatch, state)
    assert (outcome(dispatch).result, outcome(dispatch).reason) == (result, f"it {state}")


def test_a_drive_that_cannot_keep_up_is_overloaded_before_its_log_is_read(dispatch):
    add_submission(dispatch, "pending")
    end(dispatch, exit_status=4)
    assert outcome(dispatch).result is Result.OVERLOADED


def test_a_load_that_was_not_sustained_is_an_overload(dispatch):
    read_as(dispatch, "0.5", finding="rate-below-asked")
    assert outcome(dispatch).result is Result.OVERLOADED


@pytest.mark.parametrize("changes", [{"stop": "interrupted"}, {"outcome": "void"}])
def test_an_incomplete_run_decides_nothing(dispatch, changes):
    read_as(dispatch, "0.5", **changes)
    assert outcome(dispatch).result is Result.UNUSABLE


@pytest.mark.parametrize(("is_sequestered", "reason"), [(False, "void: its side file has 17 faults"), (True, "void")])
def test_a_withheld_file_gives_no_reason(dispatch, is_sequestered, reason):
    read_as(dispatch, "0.5", "void").verdicts.update(headline="void: its side file has 17 faults")
    Evidence.objects.update(sequestered=is_sequestered)
    assert outcome(dispatch).reason == reason


def test_a_run_without_a_whole_slice_decides_nothing(dispatch):
    read_as(dispatch, "0.5").shares.all().delete()
    assert "no complete slice" in outcome(dispatch).reason


def test_a_log_that_no_reader_accepts_decides_nothing(dispatch):
    add_submission(dispatch, "failed")
    assert "could not be read" in outcome(dispatch).reason


def test_a_stress_test_passes_by_running_to_its_end(dispatch):
    type(dispatch).objects.filter(pk=dispatch.pk).update(purpose="stress")
    read_as(dispatch, "20", "fail")
    assert outcome(dispatch).result is Result.PASSED


def test_the_current_run_of_two_readings_counts(dispatch):
    old = read_as(dispatch, "2")
    new = Run.objects.create(submission=old.submission, ordinal=1, tier="lab-verified", statistic="worst-slice")
    Run.objects.filter(pk=old.pk).update(visibility="superseded", superseded_by=new, predates_approvals=True)
    (rung,) = rungs_of(dispatch.campaign)
    assert rung.run == new


def test_a_ladder_makes_as_many_queries_for_many_rungs_as_for_few(new_campaign):
    campaign = new_campaign()
    poll_campaign(campaign)
    end(newest(campaign), exit_status=0)
    poll_campaign(campaign)
    read_as(newest(campaign), "0.5")
    with CaptureQueriesContext(connection) as few:
        rungs_of(campaign)
    drive_to_end(campaign, 30)
    with CaptureQueriesContext(connection) as many:
        assert len(rungs_of(campaign)) > 8
    assert len(many) == len(few)


@pytest.mark.parametrize(
    ("side_file", "causes"),
    [
        (None, ("host-busy",)),
        ({"engine": "io_uring"}, ("host-busy",)),  # read by drivetest 0.3
        ({"host_causes": ["host-busy", "generator-late"]}, ("generator-late", "host-busy")),
        ({"host_causes": []}, ()),  # the drive was overloaded, and kept its host busy
    ],
)
def test_causes_at_the_host_are_shown_with_the_result(dispatch, side_file, causes):
    run = read_as(dispatch, "2", "fail", finding="host-busy")
    run.facts |= {"side_file": side_file}
    run.save()
    assert (outcome(dispatch).result, outcome(dispatch).host_causes) == (Result.FAILED, causes)


def test_a_finding_about_the_host_casts_no_doubt_on_a_full_drive_that_was_not_sustained(dispatch):
    run = read_as(dispatch, "0.5", finding="rate-below-asked")
    Finding.objects.create(run=run, ordinal=1, rule_id="host-busy", severity="look", sentence="busy")
    run.facts |= {"side_file": {"host_causes": []}}
    run.save()
    assert (outcome(dispatch).result, is_doubted(outcome(dispatch))) == (Result.OVERLOADED, False)
    run.facts["side_file"]["host_causes"] = ["generator-late"]
    run.save()
    assert (outcome(dispatch).result, is_doubted(outcome(dispatch))) == (Result.OVERLOADED, True)
