"""Panels of curves as SVG: positions, lines, intervals, fixed levels and legends."""

from fractions import Fraction
from itertools import pairwise

import pytest

from tests.webapp.register.drawings import drawn, of_class, percent, texts_of, words_of
from webapp.register.ycsb.curves import STYLES_COUNT, Curve, Dot, FixedLine, Panel


def dot(x, y, words="", **more):
    return Dot(Fraction(x), Fraction(y), words or f"{y} at {x}", **more)


def panel(*curves, **more):
    return Panel("Workload A", "reads", "threads", "ops/s", curves, **more)


def symbols(chart):
    return [(percent(each.get("x")), percent(each.get("y"))) for each in chart.iter("svg")]


def test_a_logarithmic_axis_puts_doubled_thread_counts_at_equal_distances():
    dots = [dot(threads, 10) for threads in (4, 8, 16, 32)]
    places = [x for x, _ in symbols(drawn(panel(Curve("7400", dots), is_x_log=True).drawing))]
    steps = [second - first for first, second in pairwise(places)]
    assert steps == [pytest.approx(steps[0], abs=0.02)] * 3


def test_the_vertical_axis_starts_at_zero():
    (_, low), (_, high) = symbols(drawn(panel(Curve("7400", [dot(1, 10), dot(2, 20)])).drawing))
    assert 100 - high == pytest.approx(2 * (100 - low), abs=0.02)


def test_measured_points_are_joined_in_their_order_and_points_read_from_a_chart_are_not():
    dots = [dot(1, 10), dot(3, 20), dot(2, 30)]
    assert len(of_class(drawn(panel(Curve("7400", dots)).drawing), "curve")) == 2
    assert of_class(drawn(panel(Curve("7400", dots, is_joined=False)).drawing), "curve") == []


def test_marks_say_the_words_of_their_points():
    chart = drawn(panel(Curve("7400", [dot(32, 42_012, "7400 PRO: 42,012 ops/s with 32 threads")])).drawing)
    assert words_of(chart) == ["7400 PRO: 42,012 ops/s with 32 threads"]


@pytest.mark.parametrize(
    ("spans", "fixed"),
    [({"y_span": (Fraction(5), Fraction(15))}, "x"), ({"x_span": (Fraction(40), Fraction(50))}, "y")],
)
def test_an_interval_is_drawn_along_the_axis_that_was_read(spans, fixed):
    chart = drawn(panel(Curve("7450", [dot(45, 10, **spans)], is_joined=False)).drawing)
    lines = [each for each in of_class(chart, "range") if each.tag == "line"]
    caps = [each for each in of_class(chart, "range") if each.tag == "path"]
    assert (len(lines), len(caps)) == (1, 2)
    (line,) = lines
    assert line.get(f"{fixed}1") == line.get(f"{fixed}2")
    other = "y" if fixed == "x" else "x"
    assert line.get(f"{other}1") != line.get(f"{other}2")


def test_the_axis_has_room_for_the_whole_interval():
    chart = drawn(panel(Curve("7450", [dot(1, 10, y_span=(Fraction(5), Fraction(15)))])).drawing)
    (line,) = [each for each in of_class(chart, "range") if each.tag == "line"]
    assert 0 < percent(line.get("y2")) < percent(line.get("y1")) < 100


def test_a_fixed_level_is_a_line_with_its_words():
    curve = Curve("7400", [dot(100, 10), dot(200, 20)])
    across = drawn(panel(curve, levels=[FixedLine("y", Fraction(15), "15 ms")]).drawing)
    (line,) = of_class(across, "fixed")
    assert (line.get("x1"), line.get("x2"), line.get("y1")) == ("0.00%", "100.00%", line.get("y2"))
    assert texts_of(across, "strong") == ["15 ms"]
    down = drawn(panel(curve, levels=[FixedLine("x", Fraction(150), "150 ops/s")]).drawing)
    (line,) = of_class(down, "fixed")
    assert (line.get("y1"), line.get("y2"), line.get("x1")) == ("100.00%", "0.00%", line.get("x2"))


def test_the_peak_has_its_value_as_a_label():
    chart = drawn(panel(Curve("7400", [dot(1, 10), dot(2, 20, peak="20")])).drawing)
    assert texts_of(chart, "value") == ["20"]


def test_curves_of_one_panel_differ_in_shape_and_each_is_in_the_legend():
    curves = [Curve(f"Drive {number}", [dot(1, 10 + number)]) for number in range(STYLES_COUNT)]
    shapes = {path.get("d") for path in drawn(panel(*curves).drawing).iter("path")}
    assert len(shapes) == STYLES_COUNT
    assert [name for _, name in panel(*curves).legend] == [curve.name for curve in curves]
    assert all("aria-hidden" in key for key, _ in panel(*curves).legend)


def test_a_panel_names_its_drives_and_its_axes_for_readers_who_cannot_see_it():
    assert panel(Curve("7400", [dot(1, 10)]), Curve("7300", [dot(1, 5)])).label == (
        "Workload A, reads: 7400 and 7300. Horizontal: threads. Vertical: ops/s."
    )


def test_a_panel_without_points_is_drawn_empty():
    assert words_of(drawn(panel(Curve("7400", []), is_x_log=True).drawing)) == []
