"""Reducing points to columns: every point in one column, no extreme lost."""

import random

import pytest

from results.rules.reduction import place_of_greatest, place_of_least, spans


@pytest.mark.parametrize("count", [0, 1, 287, 288, 289, 1440, 86_400, 86_401])
def test_spans_cover_every_point_once_and_do_not_exceed_the_limit(count):
    found = spans(count, 288)
    assert [place for span in found for place in span] == list(range(count))
    assert len(found) <= 288
    assert len({len(span) for span in found[:-1]}) <= 1


def test_zero_columns_are_refused():
    with pytest.raises(ValueError, match="expected 1 or more, got 0"):
        spans(5, 0)


@pytest.mark.parametrize("seed", range(20))
def test_the_extremes_of_the_columns_are_those_of_all_points(seed):
    chance = random.Random(seed)  # noqa: S311 - points of a chart, no secret
    points = [chance.choice([None, chance.random()]) for _ in range(chance.randint(1, 2000))] + [0.5]
    columns = spans(len(points), chance.randint(1, 300))
    known = [point for point in points if point is not None]
    greatest = [place_of_greatest(points, span) for span in columns]
    least = [place_of_least(points, span) for span in columns]
    assert max(points[place] for place in greatest if place is not None) == max(known)
    assert min(points[place] for place in least if place is not None) == min(known)


def test_a_column_of_unknown_points_has_no_extreme():
    assert place_of_greatest([None, None], range(2)) is None
    assert place_of_least([None, None], range(2)) is None
