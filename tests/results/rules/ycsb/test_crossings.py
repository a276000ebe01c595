"""Crossings of curves that fold back, against hand-computed cases."""

from fractions import Fraction

import pytest

from results.rules.ycsb.crossings import Crossing, latency_at, throughput_at
from results.rules.ycsb.sweeps import Point


def curve(*points):
    """Return a sweep of (threads, ops/s, us)."""
    return [Point(threads, Fraction(ops), None if us is None else Fraction(us)) for threads, ops, us in points]


# Throughput rises to 400 at 8 threads and falls back to 200; latency continues to rise.
FOLDED = curve((2, 100, 10), (4, 300, 20), (8, 400, 60), (16, 200, 100))


def test_between_neighbours_the_line_is_straight():
    found = latency_at(FOLDED, 200)
    assert found.first == Crossing(Fraction(15), 2, 4)
    assert not found.first.is_measured


def test_the_first_crossing_has_the_lowest_thread_count_and_the_others_are_listed():
    assert latency_at(FOLDED, 350).further == (Crossing(Fraction(70), 8, 16),)
    assert latency_at(FOLDED, 200).further == (Crossing(Fraction(100), 16, 16),)


def test_the_order_of_the_points_does_not_matter():
    assert latency_at(FOLDED[::-1], 350) == latency_at(FOLDED, 350)


@pytest.mark.parametrize(("ops_per_s", "latency_us"), [(100, 10), (400, 60)])
def test_a_measured_point_on_the_level_is_one_crossing(ops_per_s, latency_us):
    found = latency_at(FOLDED, ops_per_s)
    assert found.first.is_measured
    assert (found.first.value, found.further) == (latency_us, ())


@pytest.mark.parametrize("ops_per_s", [Fraction("99.999"), Fraction("400.001")])
def test_there_is_no_crossing_outside_the_measured_points(ops_per_s):
    found = latency_at(FOLDED, ops_per_s)
    assert (found.first, found.further) == (None, ())
    assert (found.measured_from, found.measured_to) == (100, 400)


def test_a_latency_is_met_by_a_throughput():
    found = throughput_at(FOLDED, 80)
    assert (found.first, found.further) == (Crossing(Fraction(300), 8, 16), ())


def test_a_run_without_a_latency_breaks_the_curve():
    broken = curve((2, 100, 10), (4, 300, None), (8, 500, 30))
    assert latency_at(broken, 200).first is None
    assert latency_at(broken, 500).first == Crossing(Fraction(30), 8, 8)


def test_a_flat_stretch_on_the_level_has_a_crossing_at_each_end():
    flat = curve((2, 100, 10), (4, 100, 30))
    found = latency_at(flat, 100)
    assert [found.first.value, *(crossing.value for crossing in found.further)] == [10, 30]


@pytest.mark.parametrize("points", [[], curve((4, 100, None))])
def test_without_points_there_is_no_crossing(points):
    found = latency_at(points, 100)
    assert (found.first, found.measured_from, found.measured_to) == (None, None, None)


@pytest.mark.parametrize("level", range(100, 401, 7))
def test_every_crossing_is_between_its_neighbours(level):
    by_threads = {point.threads: point for point in FOLDED}
    found = latency_at(FOLDED, level)
    for crossing in (found.first, *found.further):
        ends = [by_threads[threads].latency_us for threads in (crossing.from_threads, crossing.to_threads)]
        assert min(ends) <= crossing.value <= max(ends)
