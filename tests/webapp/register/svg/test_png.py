"""The rasteriser: the font of its own, sizes that fit, and lines that are broken or shortened."""

import io

import pytest
from PIL import Image

from webapp.register.svg.png import BOLD, ELLIPSIS, fitting_size, lines_of, one_line, render_png, text_width


def picture_of(content, width=200, height=100):
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">{content}</svg>'
    return Image.open(io.BytesIO(render_png(svg))).convert("RGBA")


def ink_of(picture):
    return sum(picture.getchannel("A").histogram()[129:])  # pixels that are mostly covered


def test_an_image_has_the_size_of_its_document():
    assert picture_of("", 120, 63).size == (120, 63)


def test_text_is_drawn_without_fonts_of_the_machine():
    assert ink_of(picture_of('<text x="10" y="60" font-size="40">25.8 %</text>')) > 500
    assert ink_of(picture_of("")) == 0


def test_bold_text_has_more_ink():
    plain, bold = (
        ink_of(picture_of(f'<text x="10" y="60" font-size="40" font-weight="{weight}">25.8</text>'))
        for weight in (400, 700)
    )
    assert bold > 1.2 * plain


@pytest.mark.parametrize(("size", "weight"), [(104, BOLD), (26, 400), (20, 400)])
def test_the_measured_width_is_that_of_the_image(size, weight):
    text = "10.3 to 18.8 x"
    picture = picture_of(f'<text x="0" y="150" font-size="{size}" font-weight="{weight}">{text}</text>', 1200, 200)
    drawn = picture.getchannel("A").getbbox()[2]
    assert drawn == pytest.approx(text_width(text, size, weight), rel=0.05)


def test_the_same_document_gives_the_same_bytes():
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="5" height="5"/></svg>'
    assert render_png(svg) == render_png(svg)


def test_the_largest_size_that_fits_is_used_and_the_last_one_if_none_fits():
    width = text_width("25.8 %", 84, BOLD)
    assert fitting_size("25.8 %", (104, 84, 68), width, BOLD) == 84
    assert fitting_size("25.8 %", (104, 84, 68), width - 1, BOLD) == 68
    assert fitting_size("25.8 %", (104, 84, 68), 1, BOLD) == 68


LONG = "mean improvement over thread counts of workload D"


def test_lines_are_broken_between_words_where_the_next_word_does_not_fit():
    width = text_width("mean improvement over", 26)
    assert lines_of(LONG, 26, width, 3)[0] == "mean improvement over"
    assert lines_of(LONG, 26, width - 1, 4)[0] == "mean improvement"
    assert " ".join(lines_of(LONG, 26, width, 3)) == LONG
    assert lines_of("", 26, width, 2) == []


def test_a_text_that_needs_more_lines_ends_with_an_ellipsis_and_fits():
    width = text_width("mean improvement", 26)
    lines = lines_of(LONG, 26, width, 2)
    assert lines[0] == "mean improvement"
    assert lines[1].endswith(ELLIPSIS)
    assert all(text_width(line, 26) <= width for line in lines)


def test_a_word_that_is_too_long_is_shortened():
    line = one_line("n" * 200, 26, 300)
    assert line.endswith(ELLIPSIS)
    assert text_width(line, 26) <= 300
    assert one_line("short", 26, 300) == "short"
