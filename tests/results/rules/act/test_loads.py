"""Speed by number of devices, by hand and over the published page."""

import csv
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from results.catalogue.importer import PUBLISHED_CATALOGUE
from results.rules.act.loads import linearity, summarise


def test_speed_for_each_device_is_held_against_the_fewest_devices():
    one, four = linearity([(4, 3_000), (1, 1_000)])
    assert (one.devices_count, one.per_device, one.of_linear) == (1, 1_000, 1)
    assert (four.devices_count, four.per_device, four.of_linear) == (4, 750, Fraction(3, 4))


def test_of_several_results_with_the_fewest_devices_the_fastest_counts():
    assert [point.of_linear for point in linearity([(1, 800), (1, 1_000)])] == [1, Fraction(4, 5)]


def test_no_result_has_no_points():
    assert linearity([]) == []


@pytest.mark.parametrize("speeds", [[(0, 1)], [(1, 0)], [(-1, 5)], [(2, -5)]])
def test_what_is_not_above_nothing_is_refused(speeds):
    with pytest.raises(ValueError, match="expected devices and speeds above 0"):
        linearity(speeds)


def test_the_published_n2_standard_80_is_linear_from_1_to_24_devices():
    rows = list(csv.DictReader(Path(PUBLISHED_CATALOGUE).read_text().splitlines()))
    speeds = [(int(row["device_count"]), Decimal(row["tps"])) for row in rows if row["instance"] == "n2-standard-80"]
    found = {(point.devices_count, point.tps): point.of_linear for point in linearity(speeds)}
    assert {devices for devices, _ in found} == {1, 2, 3, 4, 8, 16, 24}
    assert {ratio for (_, tps), ratio in found.items() if tps != 1_308_000} == {1}
    assert found[4, 1_308_000] > 1


def test_repeats_say_how_many_and_how_far_apart():
    found = summarise([Decimal("18.4"), Decimal("21.3"), Decimal("20.0")])
    assert (found.count, found.median, found.least, found.greatest) == (3, 20, Fraction("18.4"), Fraction("21.3"))
    assert found.spread_ratio == Fraction("0.145")


def test_a_spread_over_nothing_is_unknown():
    assert summarise([0, 0]).spread_ratio is None


def test_no_runs_have_no_summary():
    assert summarise([]) is None
