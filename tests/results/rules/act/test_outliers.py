import pytest

from results.rules.act.outliers import FEWEST_OTHERS, outlier_test

SPEEDS = [80.0, 90.0, 95.0, 100.0, 100.0, 105.0, 111.0, 125.0]


@pytest.mark.parametrize(("figure", "is_outlier"), [(65, True), (66.8, False), (100, False), (149, False), (150, True)])
def test_a_figure_is_an_outlier_beyond_three_and_a_half_robust_deviations(figure, is_outlier):
    found = outlier_test(figure, SPEEDS)
    assert found is not None
    assert found.is_outlier is is_outlier


def test_a_factor_above_is_as_far_as_the_same_factor_below():
    above, below = outlier_test(200, SPEEDS), outlier_test(50, SPEEDS)
    assert above.score == pytest.approx(-below.score)


def test_too_few_others_give_no_hint():
    assert outlier_test(1000, SPEEDS[: FEWEST_OTHERS - 1]) is None
    assert outlier_test(1000, [0.0, *SPEEDS[: FEWEST_OTHERS - 1]]) is None
    assert outlier_test(1000, SPEEDS[:FEWEST_OTHERS]) is not None


def test_mostly_equal_others_and_a_figure_of_zero_give_no_hint():
    assert outlier_test(1000, [100.0] * 5 + [90.0, 95.0, 110.0]) is None
    assert outlier_test(0, SPEEDS) is None


def test_one_wrong_figure_among_the_others_hides_no_outlier():
    assert outlier_test(200, [*SPEEDS[:-1], 1e9]).is_outlier
