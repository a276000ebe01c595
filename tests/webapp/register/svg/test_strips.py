"""Strips as SVG: places, labels, links, and the order in which marks are painted."""

import re

import pytest

from webapp.register.svg.scales import LinearScale
from webapp.register.svg.strips import (
    COLUMNS,
    StripMark,
    Tick,
    anchor,
    density_svg,
    strip_svg,
    ticks_around,
    ticks_of,
)


def mark(place, size=0, label="Exemplar EX1: 1 tps"):
    return StripMark(place, f"s{size}", label, "/drive/exemplar/")


def test_only_the_leftmost_link_is_a_tab_stop_and_small_marks_are_painted_last():
    svg = strip_svg("Speed", [], [mark(0.5, 3), mark(0.1, 2), mark(0.9, 0)], mark(0.3))
    places = re.findall(r'tabindex="(-?\d)".*? x="([\d.]+)%"', svg)
    assert places == [("-1", "50"), ("0", "10"), ("-1", "90")]


def test_the_drive_in_question_is_no_link_and_is_painted_above_all():
    svg = strip_svg("Speed", [], [mark(0.1)], mark(0.3, label="9 tps"))
    assert svg.rindex("</a>") < svg.index('<g class="mark this">')
    assert '<text class="this" x="30%" y="18" text-anchor="middle">9 tps</text>' in svg


def test_names_are_escaped():
    svg = strip_svg('a"b', [], [mark(0.1, label="<script>")], mark(0.2, label="<i>"))
    assert ("<script>" in svg, "<i>" in svg, 'aria-label="a&quot;b"' in svg) == (False, False, True)


@pytest.mark.parametrize(("place", "side"), [(0.149, "start"), (0.15, "middle"), (0.85, "middle"), (0.851, "end")])
def test_labels_near_an_end_stay_in_the_drawing(place, side):
    assert anchor(place, 0.15) == side


def test_ticks_that_would_touch_the_limit_are_left_out():
    limit = Tick(0.9, "limit 5 %", is_limit=True)
    found = ticks_around(limit, [Tick(0, "0"), Tick(0.69, "4"), Tick(0.71, "4.2"), Tick(1, "6")])
    assert [tick.label for tick in found] == ["0", "4", "limit 5 %"]


def test_ticks_have_short_labels():
    assert [tick.label for tick in ticks_of(LinearScale(0, 2_000_000, 4))] == ["0", "500k", "1M", "1.5M", "2M"]


def test_many_drives_are_columns_without_links():
    svg = density_svg("Speed", [], [(0.5, 20), (0.2, 3), (1.0, 1), (0.5, 10)], mark(0.3))
    columns = re.findall(r'class="column" x="([\d.]+)%".*?height="([\d.]+)"', svg)
    assert columns == [("20", "1.5"), ("50", "12"), (f"{100 * (COLUMNS - 1) / COLUMNS:.2f}", "1.5")]
    assert "<a " not in svg
