"""The endurance gap, and the words for a part of a speed."""

from decimal import Decimal
from fractions import Fraction

import pytest

from results.rules.act.endurance_gap import endurance_gap, part_words
from results.rules.endurance import sustained_tps, three_digits


def test_the_gap_of_a_published_drive():
    gap = endurance_gap(Fraction(1_728_000), Decimal(3), 6400)
    assert (three_digits(gap.needed), three_digits(gap.sustained)) == (Decimal("24.0"), Decimal(216_000))
    assert not gap.is_covered


def test_a_speed_that_the_rating_sustains_exactly_is_covered():
    exact = sustained_tps(Decimal(3), 6400)
    assert endurance_gap(exact, Decimal(3), 6400).is_covered
    assert not endurance_gap(exact + Fraction(1, 10**9), Decimal(3), 6400).is_covered


def test_the_rated_writes_last_the_part_of_the_warranty_that_the_rating_is_of_the_need():
    gap = endurance_gap(Fraction(1_728_000), Decimal(3), 6400)
    assert gap.warranty_part == 3 / gap.needed
    assert endurance_gap(Fraction(1000), Decimal(3), 6400).warranty_part == 1
    assert endurance_gap(sustained_tps(Decimal(3), 6400), Decimal(3), 6400).warranty_part == 1
    assert endurance_gap(Fraction(1000), None, 6400).warranty_part is None


def test_missing_facts_stay_missing():
    unrated = endurance_gap(Fraction(1000), None, 6400)
    assert (unrated.ratio, unrated.is_covered, unrated.needed is not None) == (None, False, True)
    without_capacity = endurance_gap(Fraction(1000), Decimal(3), None)
    assert (without_capacity.ratio, without_capacity.needed) == (None, None)
    assert endurance_gap(Fraction(0), Decimal(3), 6400) is None


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        ("0.9999", "99 %"),
        ("0.7725", "three quarters"),
        ("0.7726", "77 %"),
        ("0.515", "half"),
        ("0.5151", "52 %"),
        ("0.485", "half"),
        ("0.4849", "48 %"),
        ("0.125", "an eighth"),
        ("0.097", "a tenth"),
        ("0.0969", "10 %"),
        ("0.01", "1 %"),
        ("0.0574", "6 %"),
        ("0.0099", "1 %"),
        ("0.0049", "less than 1 %"),
    ],
)
def test_a_part_is_a_simple_fraction_within_3_percent_and_otherwise_rounded_half_up(ratio, words):
    assert part_words(Fraction(ratio)) == words
