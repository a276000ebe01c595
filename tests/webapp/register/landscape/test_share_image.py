"""Share images: the same picture as on the page, in pixels, with fixed colours and large text."""

import re
from xml.etree import ElementTree

from tests.webapp.register.landscape.cases import drives_of, frontiers_of, question_of, read_cases
from webapp.register.landscape.share_image import HEIGHT, WIDTH, share_svg
from webapp.register.landscape.speed_chart import speed_chart

CASE = read_cases()[0]


def image_of(title="A < B"):
    drives = drives_of(CASE)
    return share_svg(speed_chart(question_of(CASE), drives, frontiers_of(drives)), title, "C & D", "tps")


def test_an_image_has_the_size_that_sites_expect_and_a_mark_for_each_drive():
    root = ElementTree.fromstring(image_of())  # noqa: S314 - our own document
    assert (root.get("width"), root.get("height")) == (str(WIDTH), str(HEIGHT))
    assert len(root.findall("{*}path")) == len(CASE["drives"])
    assert [text.text for text in root.findall("{*}text")][:2] == ["A < B", "C & D"]


def test_no_text_is_smaller_than_20_pixels():
    sizes = [float(size) for size in re.findall(r'font-size="([\d.]+)"', image_of())]
    assert len(sizes) > 20
    assert min(sizes) >= 20


def test_colours_are_fixed_and_labels_of_phones_are_left_out():
    image = image_of()
    assert "var(--" not in image
    assert "class=" not in image
    assert image.count("DC SN861</text>") == 0


def test_all_texts_of_the_plot_are_within_the_image():
    root = ElementTree.fromstring(image_of())  # noqa: S314 - our own document
    for text in root.findall("{*}text"):
        assert 0 <= float(text.get("x")) <= WIDTH
        assert 0 <= float(text.get("y")) <= HEIGHT
