"""Ladders: load against share, limits beside it, and no statistic among another."""

from decimal import Decimal
from fractions import Fraction

import pytest

from results.rules.act.ladder import LadderRun, LadderShare, ladders
from results.rules.act.limits import Limit

LIMITS = [Limit(8000, Decimal("1")), Limit(1000, Decimal("5"))]


def run(run_id, nx, *shares):
    return LadderRun(run_id, None if nx is None else Fraction(nx), 1, "pass", shares)


def worst(share_pct, over_count=None, ops_count=None, threshold_us=1000):
    return LadderShare(threshold_us, "worst-slice", Decimal(share_pct), over_count, ops_count)


def published(share_pct):
    return LadderShare(1000, "steady-as-published", Decimal(share_pct))


def ids(rungs):
    return [rung.run_id for rung in rungs]


def test_runs_stand_by_rising_load_then_share_then_id():
    runs = [run("c", 50, worst("2")), run("b", 50, worst("2")), run("d", 50, worst("1")), run("a", "50.5", worst("0"))]
    assert ids(ladders(runs, LIMITS)[0].measured) == ["d", "b", "c", "a"]


def test_there_is_a_ladder_for_every_threshold_with_its_limit_or_none():
    found = ladders([run("a", 1, worst("1", threshold_us=256), worst("1"))], LIMITS)
    assert [(ladder.threshold_us, ladder.limit_pct) for ladder in found] == [(256, None), (1000, 5), (8000, 1)]
    assert [len(ladder.measured) for ladder in found] == [1, 1, 0]


def test_published_figures_stand_apart_and_are_marked():
    ladder = ladders([run("log", 30, worst("4")), run("page", 30, published("1"))], LIMITS)[0]
    assert (ids(ladder.measured), ids(ladder.as_published)) == (["log"], ["page"])
    assert [rung.mark for rung in (*ladder.measured, *ladder.as_published)] == ["", "steady state as published"]


def test_a_run_of_unknown_load_has_no_place_on_the_axis():
    ladder = ladders([run("a", None, worst("4")), run("b", None, published("3"))], LIMITS)[0]
    assert (ladder.measured, ladder.as_published, ids(ladder.without_load)) == ((), (), ["b", "a"])


@pytest.mark.parametrize(("over_count", "is_within"), [(49_999, True), (50_000, True), (50_001, False)])
def test_counts_decide_where_the_printed_share_is_the_limit(over_count, is_within):
    ladder = ladders([run("a", 30, worst("5.00", over_count, 1_000_000))], LIMITS)[0]
    assert ladder.measured[0].is_within is is_within


@pytest.mark.parametrize(("printed", "is_within"), [("5.00", True), ("5.01", False)])
def test_printed_digits_decide_where_they_are_all_there_is(printed, is_within):
    assert ladders([run("a", 30, published(printed))], LIMITS)[0].as_published[0].is_within is is_within


def test_the_share_of_a_whole_run_stands_on_no_ladder():
    share = LadderShare(1000, "overall", Decimal("1"))
    with pytest.raises(ValueError, match="a: expected a statistic of worst-slice"):
        ladders([run("a", 30, share)], LIMITS)
