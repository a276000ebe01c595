"""The axis of the endurance gap: its labels never touch, and it says whether the rating is exceeded."""

import re

import pytest

from webapp.register.svg.endurance_axis import WIDE_FROM, endurance_scale, endurance_svg

LABELS = ("rated 3 DWPD", "sustains 216,000", "needs 24 DWPD", "tested 1,728,000", "8 times its rating")
RATIOS = (1, 1.0001, 1.5, 2, WIDE_FROM - 0.001, WIDE_FROM, 2.5, 8, 100, 1e6)


@pytest.mark.parametrize(("one", "other"), [(1000, 1000 * ratio) for ratio in RATIOS] + [(1000 * RATIOS[-2], 1000)])
def test_both_places_are_in_the_axis_and_leave_room_for_their_labels(one, other):
    scale = endurance_scale(one, other)
    left, right = sorted((scale.place(one), scale.place(other)))
    if max(one, other) / min(one, other) >= WIDE_FROM:
        assert (left, right) == pytest.approx((0.225, 0.775))  # both labels are in the middle of their places
    else:
        assert left > 0.37  # labels point outwards: each has 37 % of the width, and they do not meet
        assert right < 0.63


def test_a_rating_below_the_tested_speed_is_drawn_as_a_gap():
    svg = endurance_svg(1_728_000, 216_000, LABELS)
    assert '<line class="gap" x1="22.5%" x2="77.5%"' in svg
    assert '<text class="over"' in svg
    assert 'aria-label="rated 3 DWPD, sustains 216,000; needs 24 DWPD, tested 1,728,000: 8 times its rating"' in svg


def test_a_rating_above_the_tested_speed_is_drawn_as_a_reserve():
    svg = endurance_svg(216_000, 1_728_000, LABELS)
    assert ('class="gap"' in svg, '<line class="reserve" x1="22.5%" x2="77.5%"' in svg) == (False, True)
    assert re.search(r'<circle class="rating" cx="77.5%"', svg)


@pytest.mark.parametrize(("tested", "anchors"), [(120, ["end", "start"]), (80, ["start", "end"])])
def test_labels_of_near_speeds_point_outwards(tested, anchors):
    svg = endurance_svg(tested, 100, LABELS)
    assert re.findall(r'class="name" x="[\d.]+%" text-anchor="(\w+)"', svg) == anchors
    assert "8 times its rating</text>" not in svg
