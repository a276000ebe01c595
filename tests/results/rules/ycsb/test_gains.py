"""Gains: the better direction of a metric, and the size of a gain."""

from decimal import Decimal
from fractions import Fraction

import pytest

from results.rules.ycsb.gains import Better, better, decrease, gain, increase, times_less


@pytest.mark.parametrize(
    ("metric", "direction"),
    [
        ("throughput", Better.HIGHER),
        ("throughput_max", Better.HIGHER),
        ("read_latency_avg", Better.LOWER),
        ("read_modify_write_latency_p99_99", Better.LOWER),
        ("runtime", Better.LOWER),
        ("memory_used", Better.LOWER),
        ("iowait_max", Better.LOWER),
        ("cpu_utilization_max", None),
        ("average_request_size", None),
    ],
)
def test_a_metric_is_better_in_its_direction(metric, direction):
    assert better(metric) is direction


def test_two_publications_prefer_opposite_processor_loads():
    assert better("cpu_utilization_max", "kioxia-fl6-brief") is Better.HIGHER
    assert better("cpu_utilization_max", "micron-x100-paper") is Better.LOWER
    assert better("cpu_utilization_max", "another-publication") is None


@pytest.mark.parametrize(
    ("value", "base", "direction", "expected"),
    [
        (150, 100, Better.HIGHER, Fraction(1, 2)),
        (150, 100, Better.LOWER, Fraction(-1, 2)),
        (50, 100, Better.LOWER, Fraction(1, 2)),
        (100, 100, Better.LOWER, Fraction(0)),
        (150, 100, None, None),
        (150, 0, Better.HIGHER, None),
    ],
)
def test_a_gain_is_positive_if_the_value_is_better(value, base, direction, expected):
    assert gain(value, base, direction) == expected


def test_gains_are_exact():
    assert decrease(Decimal("100.83"), Decimal("147.24")) == Fraction(4641, 14724)
    assert increase(1, 3) == Fraction(-2, 3)


@pytest.mark.parametrize(("value", "base", "times"), [(290, 4000, Fraction(400, 29)), (0, 5, None), (5, 0, 0)])
def test_times_less_is_the_base_over_the_value(value, base, times):
    assert times_less(value, base) == times
