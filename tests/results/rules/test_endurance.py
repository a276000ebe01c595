"""ACT write rates that endurance ratings allow: computed by hand, and for the published page."""

import csv
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from results.catalogue.importer import PUBLISHED_CATALOGUE
from results.rules.endurance import (
    is_within_rating,
    needed_dwpd,
    sustained_tps,
    three_digits,
    tps_per_tb,
    written_gb_per_day,
)

ROWS = list(csv.DictReader(Path(PUBLISHED_CATALOGUE).read_text().splitlines()))
RATED = [row for row in ROWS if row["endurance_dwpd"]]


def test_act_writes_266_gb_a_day_at_1x():
    assert written_gb_per_day(3000) == Fraction(2353 * 131_072 * 86_400, 100 * 10**9)
    assert round(written_gb_per_day(3000)) == 266


def test_32_of_the_36_published_drives_with_a_rating_are_faster_than_their_rating_allows():
    faster = [
        row["model"]
        for row in RATED
        if Decimal(row["tps"]) > sustained_tps(Decimal(row["endurance_dwpd"]), int(row["capacity_gb"]))
    ]
    assert (len(RATED), len(faster)) == (36, 32)


def test_the_sn861_of_6_4_tb_would_need_about_24_drive_writes_a_day():
    assert three_digits(needed_dwpd(Decimal(1_728_000), 6400)) == Decimal("24.0")


def test_the_rating_needed_at_the_sustained_speed_is_the_rating():
    for row in RATED:
        rating, capacity_gb = Decimal(row["endurance_dwpd"]), int(row["capacity_gb"])
        assert needed_dwpd(sustained_tps(rating, capacity_gb), capacity_gb) == rating


def test_the_rating_needed_at_a_load_is_in_proportion_to_the_load():
    for row in RATED:
        tested, capacity_gb = int(row["tps"]), int(row["capacity_gb"])
        at_load = needed_dwpd(tested, capacity_gb) * 500_000 / tested
        assert needed_dwpd(500_000, capacity_gb) == at_load


@pytest.mark.parametrize(("above", "is_within"), [(Fraction(0), True), (Fraction(1, 10**9), False)])
def test_a_rating_allows_exactly_the_rated_writes(above, is_within):
    assert is_within_rating(Fraction(3) + above, Decimal(3)) is is_within


def test_twice_the_capacity_sustains_twice_the_speed():
    assert sustained_tps(Decimal(3), 6400) == 2 * sustained_tps(Decimal(3), 3200)


def test_speed_for_capacity():
    assert tps_per_tb(Decimal(300_000), 6400) == 46_875
    assert three_digits(Fraction(46_875)) == Decimal(46_900)


@pytest.mark.parametrize(("rating", "capacity_gb"), [(None, 6400), (Decimal(3), None)])
def test_without_a_stated_rating_the_sustained_speed_is_unknown(rating, capacity_gb):
    assert sustained_tps(rating, capacity_gb) is None


@pytest.mark.parametrize(("tps", "capacity_gb"), [(None, 6400), (Decimal(3), None), (Decimal(3), 0)])
def test_without_a_stated_speed_the_needed_rating_is_unknown(tps, capacity_gb):
    assert needed_dwpd(tps, capacity_gb) is None
    assert tps_per_tb(tps, capacity_gb) is None


@pytest.mark.parametrize(
    ("number", "printed"),
    [
        ("0", "0"), ("999", "999"), ("999.4", "999"), ("999.6", "1000"), ("1005", "1000"), ("1015", "1020"),
        ("0.00012345", "0.000123"), ("9.996", "10.0"), ("23.98", "24.0"), ("1728000", "1730000"), ("1", "1.00"),
    ],
)  # fmt: skip
def test_three_significant_digits_half_to_even(number, printed):
    assert str(three_digits(Fraction(number))) == printed


def test_zero_stays_zero():
    assert three_digits(None) is None
