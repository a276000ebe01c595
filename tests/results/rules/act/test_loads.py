"""Speed by number of devices, by hand and over the published page."""

import csv
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from results.catalogue.importer import PUBLISHED_CATALOGUE
from results.rules.act.loads import linearity, summarise


def test_speed_per_device_is_compared_with_that_of_the_fewest_devices():
    one, four = linearity([(4, 3_000), (1, 1_000)])
    assert (one.devices_count, one.per_device, one.of_linear) == (1, 1_000, 1)
    assert (four.devices_count, four.per_device, four.of_linear) == (4, 750, Fraction(3, 4))


def test_the_fastest_result_with_the_fewest_devices_is_the_reference():
    assert [point.of_linear for point in linearity([(1, 800), (1, 1_000)])] == [1, Fraction(4, 5)]


def test_without_results_there_are_no_points():
    assert linearity([]) == []


@pytest.mark.parametrize("speeds", [[(0, 1)], [(1, 0)], [(-1, 5)], [(2, -5)]])
def test_values_that_are_not_positive_are_refused(speeds):
    with pytest.raises(ValueError, match="expected devices and speeds above 0"):
        linearity(speeds)


def test_the_published_n2_standard_80_is_linear_from_1_to_24_devices():
    rows = list(csv.DictReader(Path(PUBLISHED_CATALOGUE).read_text().splitlines()))
    speeds = [(int(row["device_count"]), Decimal(row["tps"])) for row in rows if row["instance"] == "n2-standard-80"]
    found = {(point.devices_count, point.tps): point.of_linear for point in linearity(speeds)}
    assert {devices for devices, _ in found} == {1, 2, 3, 4, 8, 16, 24}
    assert {ratio for (_, tps), ratio in found.items() if tps != 1_308_000} == {1}
    assert found[4, 1_308_000] > 1


def test_repeats_have_a_count_and_a_spread():
    found = summarise([Decimal("18.4"), Decimal("21.3"), Decimal("20.0")])
    assert (found.count, found.median, found.least, found.greatest) == (3, 20, Fraction("18.4"), Fraction("21.3"))
    assert found.spread_ratio == Fraction("0.145")


def test_a_spread_relative_to_zero_is_unknown():
    assert summarise([0, 0]).spread_ratio is None


def test_without_runs_there_is_no_summary():
    assert summarise([]) is None
