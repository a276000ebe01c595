"""Sweeps over thread counts, against hand-computed cases."""

from decimal import Decimal
from fractions import Fraction

import pytest

from results.rules.ycsb import sweeps
from results.rules.ycsb.gains import Better
from results.rules.ycsb.sweeps import CORE_MIX, Point, littles_law


def sweep(*ops_per_s):
    return [Point(2**place, Fraction(value)) for place, value in enumerate(ops_per_s)]


def test_the_peak_is_the_highest_point_at_any_position():
    assert sweeps.peak(sweep(100, 300, 200)) == Point(2, Fraction(300))


def test_the_equal_peak_with_the_fewest_threads_counts():
    assert sweeps.peak(sweep(100, 300, 300)[::-1]) == Point(2, Fraction(300))


def test_without_points_there_is_no_peak():
    assert sweeps.peak([]) is None
    assert sweeps.peak_improvement([], sweep(1)) is None


def test_peaks_are_compared_each_at_its_own_thread_count():
    assert sweeps.peak_improvement(sweep(100, 150), sweep(120, 90)) == Fraction(1, 4)


def test_a_thread_count_twice_in_a_sweep_is_refused():
    with pytest.raises(ValueError, match=r"expected each thread count once, got \[4, 4\]"):
        sweeps.peak([Point(4, Fraction(1)), Point(4, Fraction(2))])


def test_improvements_are_computed_at_common_thread_counts():
    found = sweeps.improvements({4: 150, 8: 100, 16: 7}, {4: 100, 8: 200, 32: 9})
    assert list(found.items()) == [(4, Fraction(1, 2)), (8, Fraction(-1, 2))]


def test_the_mean_improvement_is_the_mean_of_ratios_not_the_ratio_of_means():
    values, base = {4: 20, 8: 300}, {4: 10, 8: 300}
    assert sweeps.mean_improvement(values, base) == Fraction(1, 2)
    assert Fraction(20 + 300, 10 + 300) - 1 == Fraction(1, 31)


def test_the_mean_improvement_is_over_all_common_thread_counts():
    assert sweeps.mean_improvement({4: 20, 8: 20, 16: 40}, {4: 10, 8: 10, 16: 10}) == Fraction(5, 3)


def test_lower_latencies_improve_a_mean():
    assert sweeps.mean_improvement({4: 50, 8: 75}, {4: 100, 8: 100}, Better.LOWER) == Fraction(3, 8)


@pytest.mark.parametrize(("values", "base"), [({4: 1}, {8: 1}), ({}, {}), ({4: 1, 8: 1}, {4: 0, 8: 1})])
def test_a_mean_with_an_unknown_part_is_unknown(values, base):
    assert sweeps.mean_improvement(values, base) is None


def test_means_are_weighted_by_operation_frequency():
    assert sweeps.mean_latency_us({"read": 95, "update": 5}, {"read": 100, "update": 300}) == 110


@pytest.mark.parametrize(("mix", "latency_us"), [({"read": 1, "update": 1}, {"read": 5}), ({}, {}), ({"read": 0}, {})])
def test_a_mean_without_one_of_its_operations_is_unknown(mix, latency_us):
    assert sweeps.mean_latency_us(mix, latency_us) is None


def test_an_operation_that_never_occurs_needs_no_latency():
    assert sweeps.mean_latency_us({"read": 1, "scan": 0}, {"read": 7}) == 7


@pytest.mark.parametrize("workload", CORE_MIX)
def test_the_proportions_of_a_workload_add_up(workload):
    assert sum(CORE_MIX[workload].values()) == 1


@pytest.mark.parametrize(("ops_per_s", "is_possible"), [(127_999, True), (128_000, True), (128_001, False)])
def test_operations_in_flight_do_not_exceed_the_threads(ops_per_s, is_possible):
    assert littles_law(ops_per_s, 1000, 128).is_possible is is_possible


def test_a_published_figure_violates_littles_law():
    mean_us = sweeps.mean_latency_us(CORE_MIX["A"], {"read": Decimal("147.24"), "update": Decimal("125.53")})
    law = littles_law(990_315, mean_us, 128)
    assert (round(law.in_flight), law.is_possible) == (135, False)
