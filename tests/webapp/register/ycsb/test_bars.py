"""Bars and columns: lengths by value, intervals of chart readings, and lines at the stated value."""

from dataclasses import replace
from fractions import Fraction

import pytest

from tests.webapp.register.drawings import drawn, of_class, percent, texts_of, words_of
from webapp.register.svg.drawing import Surface
from webapp.register.ycsb.bars import (
    Bar,
    BarGroup,
    Column,
    Levels,
    bars_height_px,
    draw_bars,
    draw_columns,
)

PAGE = Surface()
OLD, NEW = Bar("7300", Fraction(50), "50 us"), Bar("7400", Fraction(100), "100 us", is_own=True)


def widths(chart):
    return [percent(each.get("width")) for each in of_class(chart, "col")]


def test_bars_are_as_long_as_their_values_are_great():
    old, new = widths(drawn(draw_bars([BarGroup("", [OLD, NEW])], PAGE)))
    assert new == pytest.approx(2 * old, abs=0.01)
    assert new < 100


def test_the_own_drive_differs_by_its_fill_and_each_bar_says_its_words():
    chart = drawn(draw_bars([BarGroup("", [OLD, NEW])], PAGE))
    assert [each.get("class") for each in of_class(chart, "col")] == ["col", "col own"]
    assert words_of(chart) == texts_of(chart, "value") == ["7300: 50 us", "7400: 100 us"]


def test_a_bar_of_an_impossible_result_differs_by_its_frame_and_says_so():
    chart = drawn(draw_bars([BarGroup("", [replace(OLD, is_impossible=True), NEW])], PAGE))
    assert [each.get("class") for each in of_class(chart, "col")] == ["col impossible", "col own"]
    assert words_of(chart) == texts_of(chart, "value") == ["7300: 50 us, impossible", "7400: 100 us"]


def test_each_group_has_a_scale_of_its_own():
    small = BarGroup("ms", [Bar("7300", Fraction(1), "1 ms")])
    first, second = widths(drawn(draw_bars([small, BarGroup("us", [NEW])], PAGE)))
    assert first == second


def test_a_value_read_from_a_chart_has_an_interval_and_a_printed_one_has_none():
    read = Bar("X100", Fraction(290), "290 us", span=(Fraction(240), Fraction(340)), detail=", read from a chart")
    chart = drawn(draw_bars([BarGroup("", [read])], PAGE))
    across, *caps = of_class(chart, "range")
    (bar,) = widths(chart)
    ends = [percent(across.get(name)) for name in ("x1", "x2")]
    assert ends == [pytest.approx(bar * value / 290, abs=0.02) for value in (240, 340)]
    assert len(caps) == 2
    assert words_of(chart) == ["X100: 290 us, read from a chart"]
    assert of_class(drawn(draw_bars([BarGroup("", [OLD])], PAGE)), "range") == []


@pytest.mark.parametrize(
    ("needed", "anchor"), [(100, "end"), (71, "end"), (70, "middle"), (38, "middle"), (37, None), (0, None)]
)
def test_the_stated_value_is_a_dashed_line_with_words_that_stay_inside(needed, anchor):
    chart = drawn(draw_bars([BarGroup("", [OLD, NEW], (Fraction(needed), "stated 25 %"))], PAGE))
    (line,), (words,) = of_class(chart, "level"), [each for each in of_class(chart, "stated") if each.tag == "text"]
    assert percent(line.get("x1")) == pytest.approx(needed / 108 * 100, abs=0.01)
    assert (words.text, words.get("text-anchor")) == ("stated 25 %", anchor)


def test_the_words_of_the_stated_value_are_above_its_line_which_crosses_only_its_own_bar():
    chart = drawn(draw_bars([BarGroup("", [OLD, NEW], (Fraction(90), "stated 25 %"))], PAGE))
    (line,), (words,) = of_class(chart, "level"), [each for each in of_class(chart, "stated") if each.tag == "text"]
    top, bottom = (percent(line.get(name)) for name in ("y2", "y1"))
    top, bottom = min(top, bottom), max(top, bottom)
    values = [percent(each.get("y")) for each in of_class(chart, "value")]
    old, new = (percent(each.get("y")) for each in of_class(chart, "col"))
    assert old < values[1] < percent(words.get("y")) < top < new < bottom <= 100


def test_a_label_far_from_its_line_begins_with_a_sample_of_it():
    levels = Levels((Fraction(26), "its table 25.8 %"), (Fraction(24), "stated 24 %"))
    far, near = (drawn(draw_columns(columns_of(*gains), levels, PAGE)) for gains in [(44, 34), (5, 5, 5)])
    assert [line.get("class") for line in of_class(far, "sample")] == ["level sample", "level sample stated"]
    labels = [*of_class(far, "strong"), *(each for each in of_class(far, "stated") if each.tag == "text")]
    for label, line in zip(labels, of_class(far, "sample"), strict=True):
        assert percent(line.get("x1")) < percent(line.get("x2")) < percent(label.get("x"))
    assert of_class(near, "sample") == []


def test_thin_bars_have_their_words_only_for_pointer_and_keyboard():
    chart = drawn(draw_bars([BarGroup("Run time", [OLD, NEW])], PAGE, are_thin=True))
    assert (texts_of(chart, "value"), texts_of(chart, "name")) == ([], ["Run time"])
    assert words_of(chart) == ["7300: 50 us", "7400: 100 us"]


def test_the_height_grows_with_the_groups_and_no_bar_is_below_the_chart():
    groups = [BarGroup("A", [OLD, NEW])] * 3
    assert bars_height_px(groups) == 3 * bars_height_px(groups[:1])
    bottoms = [
        percent(each.get("y")) + percent(each.get("height")) for each in of_class(drawn(draw_bars(groups, PAGE)), "col")
    ]
    assert bottoms == sorted(bottoms)
    assert bottoms[-1] <= 100


def columns_of(*gains):
    return [Column(str(2**place), Fraction(gain), f"{gain}.0", f"{gain} %") for place, gain in enumerate(gains)]


def test_columns_and_lines_share_one_axis():
    levels = Levels((Fraction(20), "its table 20 %"), (Fraction(10), "stated 10 %"))
    chart = drawn(draw_columns(columns_of(10, 40), levels, PAGE))
    tops = [percent(each.get("y")) for each in of_class(chart, "col")]
    recomputed, stated = (percent(each.get("y1")) for each in of_class(chart, "level"))
    assert stated == tops[0]
    assert recomputed == pytest.approx(100 - 2 * (100 - stated), abs=0.02)
    assert texts_of(chart, "tick") == ["0", "10", "20", "30", "40", "1", "2"]


@pytest.mark.parametrize(("stated", "moves"), [(5, ["-6", "-6"]), (30, ["15", "-6"]), (20, ["-6", "15"])])
def test_the_labels_of_lines_are_next_to_them_where_no_column_is(stated, moves):
    levels = Levels((Fraction(20), "table"), (Fraction(stated), "stated"))
    chart = drawn(draw_columns(columns_of(10, 40), levels, PAGE))
    labels = [*of_class(chart, "strong"), *(each for each in of_class(chart, "stated") if each.tag == "text")]
    assert [each.get("dy") for each in labels] == moves


@pytest.mark.parametrize("gains", [(4, 9, 18, 28, 44, 34, 36, 35, 28, 22), (44, 34), (5, 5, 5), (-4, 9, 30)])
@pytest.mark.parametrize("stated", [24, 26, 40])
def test_the_labels_of_lines_cover_no_column_on_a_phone(gains, stated):
    levels = Levels((Fraction(26), "its table 25.8 %"), (Fraction(stated), "stated 24 %"))
    chart = drawn(draw_columns(columns_of(*gains), levels, PAGE))
    width, height = 320, 290
    labels = [*of_class(chart, "strong"), *(each for each in of_class(chart, "stated") if each.tag == "text")]
    boxes = []
    for each in labels:
        left = percent(each.get("x")) * width / 100 + 4
        base = percent(each.get("y")) * height / 100 + float(each.get("dy"))
        boxes.append((left, left + 7.1 * len(each.text), base - 10, base + 3))
    for column in of_class(chart, "col"):
        x, y, across, down = (percent(column.get(name)) for name in ("x", "y", "width", "height"))
        boxes.append((x * width / 100, (x + across) * width / 100, y * height / 100, (y + down) * height / 100))
    for number, label in enumerate(boxes[:2]):
        assert label[1] <= width
        for other in boxes[number + 1 :]:
            apart = label[1] <= other[0] or other[1] <= label[0] or label[3] <= other[2] or other[3] <= label[2]
            assert apart, (label, other)


def test_a_negative_gain_is_drawn_below_zero():
    chart = drawn(draw_columns(columns_of(-10, 40), Levels((Fraction(15), "table")), PAGE))
    below, above = of_class(chart, "col")
    zero = percent(above.get("y")) + percent(above.get("height"))
    assert percent(below.get("y")) == pytest.approx(zero, abs=0.02)


def test_an_image_has_the_columns_at_the_same_places_without_the_small_digits():
    columns, levels = columns_of(10, 40), Levels((Fraction(20), "table"))
    page = drawn(draw_columns(columns, levels, PAGE))
    image = drawn(draw_columns(columns, levels, Surface(0, 0, 1000, 500, "", 2), has_values=False))
    for on_page, in_image in zip(of_class(page, "col"), of_class(image, "col"), strict=True):
        assert float(in_image.get("x")) == pytest.approx(10 * percent(on_page.get("x")), abs=0.1)
        assert float(in_image.get("height")) == pytest.approx(5 * percent(on_page.get("height")), abs=0.1)
    assert texts_of(page, "value") == ["10.0", "40.0"]
    assert texts_of(image, "value") == []
