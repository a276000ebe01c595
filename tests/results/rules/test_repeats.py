"""Repeated runs, against the tables of Student's t and hand-computed cases."""

import math
from decimal import Decimal
from fractions import Fraction

import pytest

from results.rules.repeats import gain_interval, summarise, t_quantile


# Abramowitz and Stegun, table 26.10, to its 3 decimals.
@pytest.mark.parametrize(
    ("freedom", "confidence", "expected"),
    [
        (1, 0.95, 12.706),
        (2, 0.95, 4.303),
        (3, 0.95, 3.182),
        (4, 0.95, 2.776),
        (5, 0.95, 2.571),
        (10, 0.95, 2.228),
        (30, 0.95, 2.042),
        (120, 0.95, 1.980),
        (1, 0.9, 6.314),
        (4, 0.99, 4.604),
    ],
)
def test_quantiles_are_those_of_the_table(freedom, confidence, expected):
    assert round(t_quantile(freedom, confidence), 3) == expected


@pytest.mark.parametrize(("freedom", "confidence"), [(0, 0.95), (3, 0), (3, 1)])
def test_a_quantile_of_nothing_is_refused(freedom, confidence):
    with pytest.raises(ValueError, match="expected degrees of freedom from 1"):
        t_quantile(freedom, confidence)


def test_repeats_say_how_many_and_how_far_apart():
    found = summarise([Decimal("18.4"), Decimal("21.3"), Decimal("20.0")])
    assert (found.count, found.median, found.least, found.greatest) == (3, 20, Fraction("18.4"), Fraction("21.3"))
    assert found.mean == Fraction("19.9")
    assert found.spread_ratio == Fraction("0.145")


def test_the_interval_of_a_mean_is_by_hand():
    interval = summarise([10, 12, 14, 16]).mean_interval
    reach = 3.182446 * math.sqrt(20 / 3) / 2
    assert (interval.low, interval.high) == pytest.approx((13 - reach, 13 + reach), rel=1e-6)


def test_one_run_has_no_interval_and_none_say_nothing():
    assert summarise([5]).mean_interval is None
    assert summarise([]) is None


def test_equal_runs_have_an_interval_of_no_width():
    assert summarise([5, 5, 5]).mean_interval.low == summarise([5, 5, 5]).mean_interval.high == 5


def test_a_spread_over_nothing_is_unknown():
    assert summarise([0, 0]).spread_ratio is None


@pytest.mark.parametrize(("values", "base"), [([2], [1, 1]), ([2, 2], [1]), ([], [])])
def test_a_gain_without_repeats_has_no_interval(values, base):
    assert gain_interval(values, base) is None


def test_equal_repeats_give_the_gain_itself():
    interval = gain_interval([150, 150], [100, 100])
    assert (interval.low, interval.high) == pytest.approx((0.5, 0.5))


def test_the_interval_of_a_gain_is_by_hand():
    values, base = [math.e, math.e**3], [1, math.e**2]
    interval = gain_interval([Fraction(value) for value in values], [Fraction(value) for value in base])
    reach = 4.302653 * math.sqrt(2)  # logarithms 1, 3 and 0, 2: each mean has variance 1, two degrees of freedom
    assert (math.log1p(interval.low), math.log1p(interval.high)) == pytest.approx((1 - reach, 1 + reach), rel=1e-6)


def test_turning_a_gain_round_turns_its_interval_round():
    there, back = gain_interval([11, 12, 14], [7, 9]), gain_interval([7, 9], [11, 12, 14])
    assert (1 + there.low) * (1 + back.high) == pytest.approx(1)


def test_values_without_a_logarithm_are_refused():
    with pytest.raises(ValueError, match="expected values above 0, got 0"):
        gain_interval([0, 1], [1, 2])
