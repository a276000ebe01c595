"""The tolerance of requested capacities."""

from fractions import Fraction

import pytest

from results.rules.capacity import capacity_bound


@pytest.mark.parametrize(
    ("requested", "least", "most"),
    [(6400, 6208, 6592), (3840, 3725, 3955), (Fraction("3800.5"), 3687, 3914), (0, 0, 0), (1, 1, 1)],
)
def test_a_capacity_may_be_off_by_three_percent_and_no_more(requested, least, most):
    assert capacity_bound(Fraction(requested), is_least=True) == least
    assert capacity_bound(Fraction(requested), is_least=False) == most
