"""Panels of a product's page: the heights of shares and limits, marks, lines and bars."""

import re

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


def test_a_rung_over_the_limit_is_an_open_square_whatever_its_line():
    svg = ladder_svg("x", [RungLine("1 device", [rung(30, 1), rung(60, 6, is_over=True)])], 5.0, "5")
    assert re.findall(r'class="(mark[\w ]*)".*?#(\w+)', svg) == [("mark", "c1"), ("mark over", "s1")]


def test_bars_are_logarithmic_and_a_rare_read_is_still_seen():
    bars = [Bar(99.9, "below 1 ms", 0), Bar(0, "1 ms to 2 ms", 1), Bar(0.00001, "2 ms to 4 ms", 1)]
    svg = distribution_svg("x", bars, [EdgeLine(1, "1 ms")])
    found = re.findall(r'class="bar limits-(\d)".*?height="([\d.]+)"', svg)
    assert [limits for limits, _ in found] == ["0", "1"]
    assert float(found[0][1]) > 90
    assert 0 < float(found[1][1]) < 2
    assert '<line class="limit" x1="33.33%"' in svg
