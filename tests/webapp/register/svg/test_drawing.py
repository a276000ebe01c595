"""Elements of charts: the same positions in percent of a page and in pixels of an image."""

import pytest

from tests.webapp.register.drawings import parsed
from webapp.register.svg.drawing import Surface, joined, tag

PAGE = Surface()
IMAGE = Surface(left=640, top=190, width=500, height=290, unit="", zoom=2)


@pytest.mark.parametrize(
    ("position", "on_page", "in_image"), [(0, "0.00%", "640.00"), (0.5, "50.00%", "890.00"), (1, "100.00%", "1140.00")]
)
def test_a_position_is_the_same_part_of_both_surfaces(position, on_page, in_image):
    assert (PAGE.x(position), IMAGE.x(position)) == (on_page, in_image)


def test_the_vertical_axis_points_upwards():
    assert [PAGE.y(position) for position in (0, 0.25, 1)] == ["100.00%", "75.00%", "0.00%"]
    assert [IMAGE.y(position) for position in (0, 1)] == ["480.00", "190.00"]


def test_sizes_are_pixels_of_a_page_and_are_multiplied_in_an_image():
    assert (PAGE.size(6), IMAGE.size(6)) == ("6", "12")


def test_a_bar_may_be_drawn_from_any_corner():
    upwards, downwards = (parsed(PAGE.bar(*ends, "col")) for ends in (((0.2, 0), (0.4, 0.5)), ((0.4, 0.5), (0.2, 0))))
    assert upwards.attrib == downwards.attrib
    assert upwards.attrib == {
        "class": "col", "x": "20.00%", "y": "50.00%", "width": "20.00%", "height": "50.00%",
    }  # fmt: skip


def test_texts_and_attributes_are_escaped_once():
    mark = PAGE.mark("<b>&", PAGE.text((0, 0), 'a & "b"', 'x" onload="y'))
    root = parsed(mark)
    assert [each.text for each in root] == ["<b>&", 'a & "b"']
    assert root[1].get("class") == 'x" onload="y'
    assert "&amp;amp;" not in mark


def test_what_is_not_safe_is_escaped_when_it_is_joined():
    assert joined([tag("g"), "<script>"]) == "<g></g>&lt;script&gt;"


def test_an_attribute_without_a_value_is_left_out():
    assert (
        tag("text", "t", dx=None, text_anchor="end", class_="tick") == '<text text-anchor="end" class="tick">t</text>'
    )
