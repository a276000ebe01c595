"""The pictures of a comparison without a script: places of bars and curves."""

import pytest

from webapp.register.compare.pictures import DOTS_MAX, picture_of


def chart(*lines, **more):
    named = [{"name": name, "x": x, "y": y, "over": over, "text": []} for name, x, y, over in lines]
    return {"title": "Over 1 ms by load", "unit": "%", "xTitle": "tps", "lines": named} | more


def test_a_point_is_placed_between_the_axes_and_the_ends_of_the_scales():
    limited = chart(("A", [0.0, 100.0], [0.0, 3.0], [False, False]), limit=5.0, limitText="5", thresholdUs=1000)
    picture = picture_of(limited)
    (line,) = picture.lines
    assert line.points == "0.0,1000.0 1000.0,500.0"  # the scale ends at 1.2 x the limit
    assert [(dot.x, dot.y) for dot in line.dots] == [("0.00%", "100.00%"), ("100.00%", "50.00%")]
    assert (line.end_x, line.end_y, line.letter) == ("100.00%", "50.00%", "A")
    assert (picture.limit, picture.limit_text) == ("16.67%", "5")


@pytest.mark.parametrize(("limit", "ticks"), [(5.0, ["0", "2", "4", "6"]), (4.3, ["0", "2"]), (1.9, ["0", "1"])])
def test_no_tick_is_next_to_the_name_of_the_limit(limit, ticks):
    picture = picture_of(chart(("A", [1.0, 2.0], [1.0, 1.0], [False, False]), limit=limit, limitText=f"{limit:g}"))
    assert [tick.text for tick in picture.y_ticks] == ticks


def test_a_share_far_over_its_limit_extends_the_scale():
    picture = picture_of(chart(("A", [1.0, 2.0], [1.0, 20.0], [False, True]), limit=5.0, limitText="5"))
    assert [dot.is_over for dot in picture.lines[0].dots] == [False, True]
    assert float(picture.lines[0].end_y[:-1]) == pytest.approx(100 * (1 - 1 / 1.05), abs=0.01)


def test_a_line_without_points_is_left_out_and_the_others_keep_their_styles():
    picture = picture_of(chart(("A", [], [], []), ("B", [1.0, 2.0], [5.0, 6.0], [False, False])))
    assert [(line.letter, line.style) for line in picture.lines] == [("B", 1)]
    assert picture.limit == ""


@pytest.mark.parametrize(("count", "dots"), [(DOTS_MAX, DOTS_MAX), (DOTS_MAX + 1, 0)])
def test_many_points_are_drawn_as_a_line_only(count, dots):
    values = [float(number) for number in range(count)]
    (line,) = picture_of(chart(("A", values, values, [False] * count))).lines
    assert (len(line.points.split()), len(line.dots)) == (count, dots)


def test_points_that_are_all_zero_have_a_scale():
    (line,) = picture_of(chart(("A", [0.0, 0.0], [0.0, 0.0], [False, False]))).lines
    assert line.points == "0.0,1000.0 0.0,1000.0"


def test_the_picture_names_its_lines_for_readers_who_do_not_see_it():
    picture = picture_of(chart(("A", [1.0], [1.0], [False]), ("B", [2.0], [1.0], [False]), limit=5.0, limitText="5"))
    assert picture.sentence == "Over 1 ms by load, %, by tps: lines A, B. Limit 5 %."
    assert [tick.text for tick in picture_of(chart(("A", [40_000.0], [1.0], [False]))).x_ticks] == [
        "0",
        "10k",
        "20k",
        "30k",
        "40k",
    ]
