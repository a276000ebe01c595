"""Failed runs that the host may have caused: each is repeated before it counts."""

import pytest

from runners.campaigns.planner import Run, next_step
from runners.campaigns.terms import Purpose
from runners.campaigns.voting import judged
from tests.runners.campaigns.drives import SMALL, outcome

LATER_S = 10**9
BUSY = {"host_causes": ("host-busy",)}
SCREENED = (outcome("screening", 10, "passed", 1), outcome("screening", 11, "failed", 2))


def next_run(*past):
    run = next_step(SMALL, [*SCREENED, *past], LATER_S)
    assert isinstance(run, Run), run
    return run.purpose, run.nx, run.reason


@pytest.mark.parametrize("result", ["failed", "overloaded"])
def test_a_doubted_load_test_is_repeated_at_its_load(result):
    purpose, nx, reason = next_run(outcome("load", 10, result, 3, **BUSY))
    assert (purpose, nx) == (Purpose.LOAD, 10)
    assert "d-3 failed, and the host may be the cause; " in reason
    assert "host-busy" not in reason  # the history shows it also after its side file was sequestered


def test_a_load_test_that_fails_without_doubt_leads_down_at_once():
    assert next_run(outcome("load", 10, "failed", 3))[:2] == (Purpose.LOAD, 9)


def test_a_second_fail_is_believed_doubted_or_not():
    first = outcome("load", 10, "failed", 3, **BUSY)
    for second in (outcome("load", 10, "failed", 4, **BUSY), outcome("load", 10, "failed", 4)):
        assert next_run(first, second)[:2] == (Purpose.LOAD, 9)


def test_a_pass_after_a_doubted_fail_decides():
    past = outcome("load", 10, "failed", 3, **BUSY), outcome("load", 10, "passed", 4)
    assert next_run(*past)[:2] == (Purpose.STRESS, 20)


def test_a_doubted_stress_test_is_repeated_and_a_second_fail_leads_down():
    load = outcome("load", 10, "passed", 3)
    first, second = (outcome("stress", 20, "overloaded", number, **BUSY) for number in (4, 5))
    purpose, nx, reason = next_run(load, first)
    assert (purpose, nx) == (Purpose.STRESS, 20)
    assert "d-4 failed" in reason
    assert next_run(load, first, second)[:2] == (Purpose.LOAD, 9)


def test_a_pass_is_never_doubted():
    assert judged([outcome("load", 10, "passed", **BUSY)], Purpose.LOAD, SMALL) == {10: True}


def climbing(*past):
    run = next_step(SMALL, list(past), LATER_S)
    assert isinstance(run, Run), run
    return run.purpose, run.nx


ON_THE_WAY = (outcome("screening", 10, "passed", 1), outcome("screening", 15, "failed", 2, **BUSY))
AT_ITS_END = (*ON_THE_WAY, outcome("screening", 12, "passed", 3), outcome("screening", 13, "failed", 4, **BUSY))


def test_a_doubted_screening_run_decides_until_it_ends_the_ladder():
    assert climbing(*ON_THE_WAY) == (Purpose.SCREENING, 12)
    assert climbing(*AT_ITS_END) == (Purpose.SCREENING, 13)


@pytest.mark.parametrize("causes", [BUSY, {}])
def test_a_second_fail_ends_the_ladder_and_is_repeated_no_more(causes):
    again = outcome("screening", 13, "failed", 5, **causes)
    assert climbing(*AT_ITS_END, again) == (Purpose.LOAD, 12)


def test_a_pass_after_the_doubted_fail_continues_the_ladder():
    again = outcome("screening", 13, "passed", 5)
    assert climbing(*AT_ITS_END, again) == (Purpose.SCREENING, 14)


def test_a_ladder_that_ends_at_an_undoubted_fail_is_not_repeated():
    assert next_run()[:2] == (Purpose.LOAD, 10)
