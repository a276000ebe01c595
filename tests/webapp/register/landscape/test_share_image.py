"""Share images: the same picture as on the page, in pixels, with fixed colours and large text."""

import re
from io import BytesIO
from xml.etree import ElementTree

import pytest
from django.conf import settings
from PIL import Image

from tests.webapp.register.landscape.cases import drives_of, frontiers_of, question_of, read_cases
from webapp.register.landscape.picture import Cell, Line, Picture
from webapp.register.landscape.share_image import EDGE, HEIGHT, WIDTH, share_svg
from webapp.register.landscape.speed_chart import speed_chart
from webapp.register.svg.png import BOLD, text_width

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


def test_density_cells_are_drawn_in_the_colours_of_the_page():
    cells = tuple(Cell(2.5 * level, 0, level, 1, 1, 1) for level in range(1, 6))
    image = share_svg(Picture(cells=cells, ticks=(50,)), "A", "B", "tps")
    tokens = (settings.BASE_DIR / "static/css/tokens.css").read_text()
    for level in range(1, 6):
        colour = re.search(rf"--q{level}:(#\w+)", tokens)[1]
        assert image.count(f'fill="{colour}"') == 1
    assert image.count("<line ") == 1


def test_the_lines_of_the_plot_are_drawn_above_density_cells_and_the_grid_below():
    lines = (Line("grid", 0, 50, 100, 50), Line("limit", 0, 10, 100, 10))
    root = ElementTree.fromstring(share_svg(Picture(cells=(Cell(0, 0, 1, 1, 1, 1),), lines=lines), "A", "B", "tps"))  # noqa: S314 - our own document
    assert [part.tag.partition("}")[2] for part in root][-4:-1] == ["line", "rect", "line"]


def test_a_long_title_ends_within_the_image():
    title = "Western Digital Ultrastar DC SN655 15.36 TB, with a name longer than the image: speed and slow reads"
    shown = re.search("Western Digital[^<]*", image_of(title))[0]
    assert shown.endswith("...")
    assert EDGE + text_width(shown, 38, BOLD) <= WIDTH - EDGE


@pytest.mark.parametrize("category", ["nvme-flash", "cloud", "networked"])
def test_a_category_has_its_chart_as_a_png(client, catalogue, category):
    answer = client.get(f"/drives/{category}/landscape.png")
    assert (answer.status_code, answer["Content-Type"]) == (200, "image/png")
    assert Image.open(BytesIO(answer.content)).size == (WIDTH, HEIGHT)
    assert f"/drives/{category}/landscape.png" in client.get(f"/drives/{category}/").content.decode()


def test_there_is_no_chart_of_an_unknown_category_or_with_parameters(client, catalogue):
    assert client.get("/drives/paper/landscape.png").status_code == 404
    assert client.get("/drives/cloud/landscape.png?limit_1ms=2").status_code == 400
