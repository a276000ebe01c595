"""Panels of a product's page: the heights of shares and limits, marks, lines and bars."""

import re

import pytest

from webapp.register.svg.panels import BOTTOM, TOP, Bar, EdgeLine, Rung, RungLine, distribution_svg, ladder_svg


def rung(load, share_pct, *, is_over=False):
    return Rung(load, share_pct, is_over, f"{load}x: {share_pct} %", "/runs/r-1/")


def heights(svg, name):
    return [float(y) for y in re.findall(rf'class="{name}"[^>]* y1="([\d.]+)"', svg)]


def test_the_limit_has_the_same_height_in_every_panel_without_larger_shares():
    lines = [RungLine("1 device", [rung(30, 0.01), rung(60, 0.1)])]
    (one,), (other,) = (heights(ladder_svg("x", lines, limit, "5"), "limit") for limit in (5.0, 1.0))
    assert one == other == round(BOTTOM - (BOTTOM - TOP) / 1.2, 1)


def test_a_share_above_the_axis_lowers_the_limit():
    low = heights(ladder_svg("x", [RungLine("1 device", [rung(30, 50.0, is_over=True)])], 5.0, "5"), "limit")
    assert low[0] > 90


def test_lines_join_the_rungs_of_one_number_of_devices():
    lines = [RungLine("1 device", [rung(30, 1), rung(60, 2), rung(90, 3)]), RungLine("4 devices", [rung(30, 1)])]
    svg = ladder_svg("x", lines, 5.0, "5")
    assert (svg.count("series-0"), svg.count("series-1"), svg.count("<a ")) == (2, 0, 4)
    assert svg.count('tabindex="0"') == 1


def test_a_rung_over_the_limit_keeps_the_shape_of_its_line_and_has_a_line_below():
    lines = [RungLine(name, [rung(30, 1), rung(60, 6, is_over=True)]) for name in ("1 device", "4 devices")]
    svg = ladder_svg("x", lines, 5.0, "5")
    over = ("mark over", "c1o"), ("mark over", "d1o")
    assert re.findall(r'class="(mark[\w ]*)".*?#(\w+)', svg) == [("mark", "c1"), over[0], ("mark", "d1"), over[1]]


@pytest.mark.parametrize(
    ("rungs", "is_at_end"),
    [
        ([rung(10, 5.1), rung(100, 1)], True),
        ([rung(10, 4.0), rung(100, 1)], False),
        ([rung(50, 5.1), rung(100, 1)], False),
        ([rung(10, 5.1), rung(100, 5.1)], False),
    ],
)
def test_the_name_of_the_limit_gives_way_to_a_mark_if_the_other_end_is_free(rungs, is_at_end):
    svg = ladder_svg("x", [RungLine("1 device", rungs)], 5.0, "5")
    assert ('<text class="name" x="100%" text-anchor="end"' in svg) == is_at_end


def test_bars_are_logarithmic_and_a_rare_read_is_still_seen():
    bars = [Bar(99.9, "below 1 ms", 0), Bar(0, "1 ms to 2 ms", 1), Bar(0.00001, "2 ms to 4 ms", 1)]
    svg = distribution_svg("x", bars, [EdgeLine(1, "1 ms")])
    found = re.findall(r'class="bar limits-(\d)".*?height="([\d.]+)"', svg)
    assert [limits for limits, _ in found] == ["0", "1"]
    assert float(found[0][1]) > 90
    assert 0 < float(found[1][1]) < 2
    assert '<line class="limit" x1="33.33%"' in svg
