"""Scales of drawings: places, ticks and ends."""

import itertools

import pytest

from webapp.register.svg.scales import LinearScale, LogScale, enclosing_log_scale, step_at_least, step_below

VALUES = [base * 10**decade for decade in range(-6, 9) for base in (1, 1.001, 1.999, 2, 3, 4.999, 5, 5.001, 9.999)]


@pytest.mark.parametrize("value", VALUES)
def test_steps_enclose_every_value(value):
    low, high = step_below(value), step_at_least(value)
    assert low <= value * (1 + 1e-9)
    assert high >= value * (1 - 1e-9)
    assert high / low in (pytest.approx(1), pytest.approx(2), pytest.approx(2.5))


def test_an_enclosing_scale_contains_both_values_and_has_ticks():
    for low, high in itertools.combinations_with_replacement(VALUES, 2):
        scale = enclosing_log_scale(low, high)
        assert all(-1e-9 <= scale.place(value) <= 1 + 1e-9 for value in (low, high))
        assert len(scale.ticks()) >= 2


def test_a_value_at_an_end_does_not_move_the_scale():
    assert enclosing_log_scale(100_000, 2_000_000) == LogScale(100_000, 2_000_000)
    assert enclosing_log_scale(99_999, 2_000_001) == LogScale(50_000, 5_000_000)


@pytest.mark.parametrize(
    ("scale", "ticks"),
    [
        (LogScale(1, 1000), [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]),
        (LogScale(1, 2000), [1, 10, 100, 1000]),
        (LinearScale(0, 5), [0, 1, 2, 3, 4, 5]),
        (LinearScale(0, 5.6), [0, 2, 4]),
        (LinearScale(98, 101, ticks_count=3), [98, 99, 100, 101]),
    ],
)
def test_ticks_are_round_numbers_within_the_scale(scale, ticks):
    assert scale.ticks() == ticks
