import random
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest

from runners.campaigns.planner import End, Finish, Pause, Run, Wait, next_step
from runners.campaigns.terms import Purpose, Result, Terms
from tests.runners.campaigns.drives import SMALL, Drive, climb, near_limit, outcome, steady

LATER_S = 10**9


def step(*outcomes, terms=SMALL, now_s=LATER_S):
    return next_step(terms, outcomes, now_s)


def next_run(*outcomes, **more):
    run = step(*outcomes, **more)
    assert isinstance(run, Run), run
    return run.purpose, run.nx


@pytest.mark.parametrize("limit", range(200))
def test_every_steady_drive_ends_at_its_highest_passing_load(limit):
    """To the step of 1x: all these loads are at or below 200x, where 1 % is less than two steps."""
    end, _ = climb(SMALL.changed(resolution_pct=Decimal(0)), steady(limit))
    assert end.nx == (Decimal(limit) if limit else None)


def test_under_any_terms_the_end_is_a_load_that_passes_next_to_one_that_fails():
    dice = random.Random(1)  # noqa: S311 - the same drives at every run
    for _ in range(400):
        terms = any_terms(dice)
        drive = any_drive(dice, terms)
        end, past = climb(terms, drive)
        assert_highest(terms, drive, end)
        assert all(each.nx <= terms.max_nx for each in past if each.nx is not None)


def any_terms(dice):
    resolution_nx = dice.choice([Decimal("0.001"), Decimal("0.1"), Decimal(1), Decimal(5)])
    return Terms(
        start_nx=resolution_nx * dice.randint(1, 300),
        max_nx=resolution_nx * dice.randint(2, 3000),
        resolution_nx=resolution_nx,
        resolution_pct=Decimal(dice.choice([0, 1, 5])),
        ladder_factor=Decimal(dice.choice(["1.1", "1.5", "2", "4"])),
        with_prep=dice.random() < 0.5,
        confirmations_max=1000,
    )


def any_drive(dice, terms):
    screening_nx = Decimal(dice.randint(0, 2 * terms.cap_units)) * terms.resolution_nx
    load_nx = screening_nx * dice.randint(1, 10) / 10
    keeps_up_nx = 2 * load_nx * dice.choice([Decimal("0.5"), Decimal(1), Decimal(10)])
    return Drive(screening_nx, load_nx, keeps_up_nx)


def assert_highest(terms, drive, end):
    """Check the result against the drive's own limits, not the planner's."""
    limit_nx = min(drive.load_nx, drive.keeps_up_nx / 2, drive.screening_nx)
    if end.nx is None:
        assert limit_nx < terms.resolution_nx
        return
    gap_nx = max(terms.resolution_nx, end.nx * terms.resolution_pct / 100)
    assert end.nx <= limit_nx
    assert limit_nx < end.nx + gap_nx or terms.units(end.nx) == terms.cap_units


def test_each_step_follows_from_the_rows_alone():
    """A campaign whose state is read again after every step takes the same steps."""
    _, past = climb(SMALL, Drive(Decimal(77), Decimal(70)))
    for count, expected in enumerate(past):
        assert next_run(*past[:count]) == (expected.purpose, expected.nx)


def test_a_certificate_begins_with_prep():
    terms = SMALL.changed(with_prep=True)
    assert next_run(terms=terms) == (Purpose.PREP, None)
    assert next_run(outcome("prep", None, "passed"), terms=terms) == (Purpose.SCREENING, Decimal(10))


def test_a_ladder_climbs_by_its_factor_and_then_halves():
    _, past = climb(SMALL, steady(30))
    assert [each.nx for each in past if each.purpose is Purpose.SCREENING] == [10, 15, 22, 33, 27, 30, 31]
    assert [(each.purpose, each.nx) for each in past][-2:] == [(Purpose.LOAD, 30), (Purpose.STRESS, 60)]


def test_a_first_rung_that_fails_leads_down():
    _, past = climb(SMALL, steady(3))
    assert [each.nx for each in past if each.purpose is Purpose.SCREENING] == [10, 6, 4, 2, 3]


@pytest.mark.parametrize(("max_nx", "highest"), [(2, 1), (3, 1), (60, 30), (61, 30)])
def test_the_highest_load_leaves_room_for_its_stress_test(max_nx, highest):
    end, past = climb(SMALL.changed(max_nx=Decimal(max_nx)), steady(1000))
    assert (end.end, end.nx, max(each.nx for each in past)) == (End.AT_LIMIT, highest, 2 * highest)


def test_a_limit_too_low_for_any_load_waits_for_a_person():
    assert isinstance(step(terms=SMALL.changed(max_nx=Decimal("1.9"))), Pause)


def test_a_raised_limit_resumes_the_climb():
    end, past = climb(SMALL.changed(max_nx=Decimal(40)), steady(50))
    assert (end.end, end.nx) == (End.AT_LIMIT, 20)
    end, _ = climb(SMALL, steady(50), past, LATER_S)
    assert (end.end, end.nx) == (End.CONFIRMED, 50)


def test_a_lowered_limit_applies_at_once():
    _, past = climb(SMALL, steady(50))
    end, after = climb(SMALL.changed(max_nx=Decimal(40)), steady(50), past[:6], LATER_S)
    assert end.nx == 20
    assert all(each.nx <= 40 for each in after[6:])


def test_a_drive_that_passes_nothing_gets_that_reason():
    end, _ = climb(SMALL, steady(0))
    assert (end.end, end.nx) == (End.NOTHING_PASSES, None)
    assert end.reason == "the drive failed at 1x, and the campaign tests no load below 1x"


def test_an_end_names_runs_whose_failure_the_host_may_have_caused():
    end, past = climb(SMALL, steady(0))
    assert "host" not in end.reason
    first = replace(past[0], host_causes=("host-busy", "host-stolen"))
    assert "may be the cause of 1 of the" in step(first, *past[1:]).reason
    twice = [outcome("screening", 1, "failed", number, host_causes=("host-busy",)) for number in (1, 2)]
    reason = "the host may be the cause of 2 of the 2 failed runs: see their findings"
    assert step(*twice).reason.endswith(reason)


def test_a_load_test_that_fails_leads_down_and_back_between():
    end, past = climb(SMALL, Drive(Decimal(100), Decimal(95)))
    loads = [each.nx for each in past if each.purpose is Purpose.LOAD]
    assert loads == [100, 99, 97, 93, 95, 96]
    assert end.nx == 95


def test_a_stress_test_that_fails_leads_down_too():
    end, past = climb(SMALL, Drive(Decimal(100), Decimal(100), keeps_up_nx=Decimal(190)))
    assert end.nx == 95
    assert next(each.nx for each in past if each.purpose is Purpose.STRESS) == 200


def test_as_many_loads_are_tested_at_length_as_allowed():
    terms = SMALL.changed(confirmations_max=2)
    end, past = climb(terms, Drive(Decimal(100), Decimal(50)))
    assert (end.end, end.nx) == (End.SPENT, None)
    assert sum(each.purpose is Purpose.LOAD for each in past) == 2


@pytest.mark.parametrize("result", ["passed", "failed"])
def test_a_result_near_a_limit_is_repeated(result):
    assert next_run(near_limit("screening", 10, result)) == (Purpose.SCREENING, 10)
    assert "near a limit" in step(near_limit("screening", 10, result)).reason


def test_two_near_results_that_agree_decide():
    passed = (near_limit("screening", 10, "passed"), near_limit("screening", 10, "passed", 2))
    assert next_run(*passed) == (Purpose.SCREENING, 15)


def test_of_near_results_that_differ_a_third_decides():
    mixed = (near_limit("screening", 10, "passed"), near_limit("screening", 10, "failed", 2))
    assert next_run(*mixed) == (Purpose.SCREENING, 10)
    assert next_run(*mixed, near_limit("screening", 10, "failed", 3)) == (Purpose.SCREENING, 6)


def test_a_near_result_that_no_longer_matters_is_not_repeated():
    past = (
        outcome("screening", 10, "passed"),
        near_limit("screening", 15, "failed", 2),
        outcome("screening", 12, "failed", 3),
    )
    assert next_run(*past) == (Purpose.SCREENING, 11)


@pytest.mark.parametrize(
    ("share", "is_repeated"), [("0.0499", True), ("0.05", False), ("-0.0499", True), ("-0.05", False)]
)
def test_a_result_is_near_on_both_sides_of_the_limit(share, is_repeated):
    margin = Fraction(share)
    first = outcome("screening", 10, "passed" if margin > 0 else "failed", margin=margin)
    assert (next_run(first) == (Purpose.SCREENING, 10)) is is_repeated


def test_a_load_test_near_its_limit_counts_unless_the_terms_differ():
    past = [*climb(SMALL, steady(30))[1][:-2], near_limit("load", 30, "passed", 50)]
    assert next_run(*past) == (Purpose.STRESS, 60)
    assert next_run(*past, terms=SMALL.changed(load_near_pct=Decimal(2))) == (Purpose.LOAD, 30)


@pytest.mark.parametrize(
    ("purpose", "result", "rest_s"),
    [
        ("screening", "failed", 1800),
        ("screening", "overloaded", 7200),
        ("stress", "failed", 7200),
        ("screening", "unusable", 60),
        ("load", "unusable", 1800),
        ("stress", "unusable", 7200),
    ],
)
def test_a_drive_rests_after_an_overload(purpose, result, rest_s):
    past = (outcome(purpose, 20, result),)
    waited = step(*past, now_s=100_000 + rest_s - 1)
    assert isinstance(waited, Wait)
    assert waited.until_s == 100_000 + rest_s
    assert isinstance(step(*past, now_s=100_000 + rest_s), Run)


def test_a_run_that_never_began_is_retried_at_once():
    past = (outcome("stress", 20, "unusable", has_run=False),)
    assert isinstance(step(*past, now_s=100_059), Wait)
    assert isinstance(step(*past, now_s=100_060), Run)


def test_a_drive_rests_after_runs_outside_the_campaign():
    overload = outcome("screening", 90, "overloaded")
    waited = next_step(SMALL, (), 100_000 + 7199, [overload])
    assert (waited.until_s, "d-1" in waited.reason) == (100_000 + 7200, True)
    assert isinstance(next_step(SMALL, (), 100_000 + 7200, [overload]), Run)


def test_a_pass_needs_no_rest():
    assert isinstance(step(outcome("screening", 10, "passed"), now_s=100_000), Run)


def test_nothing_is_ordered_during_an_open_run():
    waited = step(outcome("screening", 10, "open"))
    assert isinstance(waited, Wait)
    assert "d-1" in waited.reason


def test_an_attempt_that_decided_nothing_is_repeated_as_its_retry():
    run = step(outcome("screening", 10, "unusable", reason="host restarted"))
    assert (run.purpose, run.nx, run.retry_of) == (Purpose.SCREENING, 10, "d-1")
    assert "host restarted" in run.reason


def test_failed_attempts_wait_for_a_person_who_may_excuse_them():
    failed = [outcome("screening", 10, "unusable", number, reason="no disk") for number in (1, 2, 3)]
    assert isinstance(step(*failed[:2]), Run)
    paused = step(*failed)
    assert isinstance(paused, Pause)
    assert "no disk" in paused.reason
    excused = [outcome("screening", 10, "unusable", number, is_excused=True) for number in (1, 2, 3)]
    assert next_run(*excused) == (Purpose.SCREENING, 10)


@pytest.mark.parametrize("result", [Result.REFUSED, Result.CANCELLED])
def test_a_run_that_a_person_or_the_host_stopped_waits_for_a_person(result):
    assert isinstance(step(outcome("screening", 10, result)), Pause)
    assert next_run(outcome("screening", 10, result, is_excused=True)) == (Purpose.SCREENING, 10)


def test_a_pass_above_a_fail_is_not_believed():
    past = (outcome("screening", 10, "failed"), outcome("screening", 20, "passed", 2))
    assert next_run(*past) == (Purpose.SCREENING, 6)


def test_an_ended_campaign_takes_no_more_steps():
    end, past = climb(SMALL, steady(30))
    assert isinstance(end, Finish)
    assert step(*past) == end
