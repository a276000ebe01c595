"""Picture of slices under a limit: strong bars over it, calm bars within it, the limit at one height."""

import re

import pytest

from webapp.register.runs.charts.slice_bars import slice_drawing


def panel(*shares, limit=5.0, over=None, most=None):
    return {
        "threshold": "1 ms",
        "thresholdUs": 1000,
        "limit": limit,
        "limitText": f"{limit:g}",
        "shares": list(shares),
        "most": list(most or shares),
        "spans": [f"slice {number}" for number in range(1, len(shares) + 1)],
        "texts": [f"{share} % (so many reads)" for share in shares],
        "over": over or [share is not None and share > limit for share in shares],
    }


def picture_of(*shares, **fields):
    return slice_drawing([number + 1.0 for number in range(len(shares))], panel(*shares, **fields))


def test_bars_over_the_limit_are_strong_and_others_are_calm():
    classes = re.findall(r'<rect class="(\w+)"', picture_of(4.9, 5.1, 0.2))
    assert classes == ["bar", "over", "bar"]


def test_the_name_of_the_limit_is_left_of_the_bars():
    picture = picture_of(4.9, 5.1)
    assert re.search(r'<text class="limit-text" x="-6" y="[\d.]+%" dy="4" text-anchor="end">limit 5<', picture)


def test_a_share_equal_to_the_limit_is_not_over_it():
    assert 'class="over"' not in picture_of(5.0, 1.0)


@pytest.mark.parametrize(("shares", "height"), [((1.0, 3.0), "16.667%"), ((1.0, 10.0), "50.98%")])
def test_the_limit_is_at_one_height_unless_a_bar_stretches_the_panel(shares, height):
    assert f'<line class="limit" x1="0" x2="100%" y1="{height}" y2="{height}"/>' in picture_of(*shares)


def test_the_highest_bar_has_its_value_only_if_it_stretches_the_panel():
    assert re.search(r'class="highest"[^>]*>12.5</text>', picture_of(12.5, 1.0))
    assert re.search(r'class="highest"[^>]*/>', picture_of(5.5, 1.0))


def test_the_pointer_shows_the_exact_text_and_whether_the_limit_is_exceeded():
    picture = picture_of(7.0, None, 2.0)
    assert "<title>slice 1: 7.0 % (so many reads), over the limit of 5 %</title>" in picture
    assert "<title>no operations</title>" in picture
    assert "<title>slice 3: 2.0 % (so many reads)</title>" in picture


@pytest.mark.parametrize(("count", "texts"), [(3, ["1", "2", "3"]), (200, ["1", "101", "200"])])
def test_each_of_few_slices_has_a_tick_and_three_of_many(count, texts):
    assert re.findall(r'class="tick along"[^>]*>(\d+)<', picture_of(*[1.0] * count)) == texts


def test_the_open_part_of_a_bar_reaches_from_its_share_to_the_largest_possible_one():
    picture = picture_of(3.0, 1.0, most=(6.0, 1.0))
    parts = re.findall(r'<rect class="may" data-place="(\d)"[^>]* y="([\d.]+)" height="([\d.]+)"', picture)
    assert [(place, float(y), float(height)) for place, y, height in parts] == [("0", 1.9608, 49.0196)]


def test_a_limit_of_zero_has_a_scale():
    assert 'y1="100%"' in picture_of(0.0, 0.0, limit=0.0)
