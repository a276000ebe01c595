"""Axes of YCSB charts."""

import pytest

from webapp.register.svg.scales import LinearScale, LogScale
from webapp.register.ycsb.axes import from_zero, of_threads, thread_ticks, tick_text


def test_an_axis_from_zero_has_every_value_and_room_beyond_the_greatest():
    assert from_zero([10, 50], 1.1).high == pytest.approx(55)
    assert from_zero([-10, 50], 1.1).low == pytest.approx(-11)
    assert from_zero([0, 0]) == LinearScale(0.0, 1.0)


@pytest.mark.parametrize(
    ("greatest", "expected"),
    [(43.5, [0, 10, 20, 30, 40]), (561_359, [0, 200_000, 400_000, 600_000]), (4.4, [0, 1, 2, 3, 4]), (4.5, [0, 2, 4])],
)
def test_ticks_are_round(greatest, expected):
    assert from_zero([greatest]).ticks() == expected


def test_an_axis_of_threads_has_room_on_both_sides():
    axis = of_threads([4, 256])
    assert isinstance(axis, LogScale)
    assert (axis.low, axis.high) == (pytest.approx(4 / 1.2), pytest.approx(256 * 1.2))
    assert of_threads([8]).place(8) == pytest.approx(0.5)
    assert of_threads([]) is None
    assert of_threads([0, 4]) is None


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.25, "0.25"), (999, "999"), (1000.0, "1,000"), (1_200_000, "1,200,000"), (-2000, "-2,000")],
)
def test_ticks_have_their_thousands_separated(value, text):
    assert tick_text(value) == text


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([4, 8, 16, 32, 48, 64, 96, 128, 192, 256], [4, 8, 16, 32, 64, 128, 256]),
        ([4, 8, 12], [4, 8, 12]),
        ([16, 8, 4, 4], [4, 8, 16]),
        ([], []),
    ],
)
def test_thread_counts_are_named_by_powers_of_two_if_there_are_three(counts, expected):
    assert thread_ticks(counts) == expected
