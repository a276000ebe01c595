"""Positions among comparable drives: ties, small groups, and percentages on both sides of every edge."""

from fractions import Fraction
from itertools import product

import pytest

from results.rules.act.positions import Position, Standing, position_of


@pytest.mark.parametrize(
    ("position", "standing"),
    [
        (Position(0, 0, 0), Standing.ONLY),
        (Position(0, 3, 0), Standing.EQUAL),
        (Position(0, 0, 1), Standing.FIRST),
        (Position(0, 1, 1), Standing.SHARED_FIRST),
        (Position(1, 0, 0), Standing.LAST),
        (Position(1, 1, 0), Standing.SHARED_LAST),
        (Position(1, 0, 7), Standing.PLACE),
        (Position(1, 0, 8), Standing.AHEAD),
        (Position(1, 8, 0), Standing.SHARED_LAST),
        (Position(8, 0, 1), Standing.AHEAD),
    ],
)
def test_a_position_is_worded_by_its_standing(position, standing):
    assert position.standing == standing


def test_a_percentage_needs_ten_drives():
    assert Position(4, 0, 4).beaten_pct is None
    assert Position(4, 0, 5).beaten_pct == 56


@pytest.mark.parametrize(
    ("position", "percent"),
    [
        (Position(1, 0, 99), 99),
        (Position(1, 0, 1999), 99),  # 99.95 % is not 100 %
        (Position(0, 0, 1999), 100),
        (Position(99, 0, 1), 1),
        (Position(3, 0, 8), 73),  # 72.7 %
        (Position(318, 0, 432), 58),  # 57.6 %
        (Position(199, 0, 1), 1),  # exactly half a percent
        (Position(200, 0, 1), None),  # which rounds to nothing
        (Position(100, 0, 0), 0),
    ],
)
def test_a_percentage_is_rounded_half_up_and_100_only_for_all(position, percent):
    assert position.beaten_pct == percent


def test_drives_with_an_equal_figure_are_not_beaten():
    position = Position(better=2, equal=3, worse=5)
    assert (position.beaten_share, position.place, position.total) == (Fraction(1, 2), 3, 11)
    assert Position(0, 0, 0).beaten_share is None


@pytest.mark.parametrize(
    ("figure", "others"),
    [(figure, others) for count in range(4) for figure, *others in product(range(3), repeat=count + 1)],
)
def test_every_other_drive_is_counted_once_and_both_directions_mirror_each_other(figure, others):
    up = position_of(figure, others, more_is_better=True)
    down = position_of(figure, others, more_is_better=False)
    assert up.others == len(others)
    assert (up.better, up.equal, up.worse) == (down.worse, down.equal, down.better)
    assert up.place == sorted([figure, *others], reverse=True).index(figure) + 1


def test_exact_figures_that_a_float_would_confuse_differ():
    third = Fraction(1, 3)
    assert position_of(third, [third + Fraction(1, 10**30), third], more_is_better=True) == Position(1, 1, 0)
