"""The frame of share images."""

import io
import re
from pathlib import Path

from django.conf import settings
from PIL import Image

from tests.webapp.register.drawings import parsed
from webapp.register.svg import card
from webapp.register.svg.card import HEIGHT, PLOT, WIDTH, Headline, Plot, plot_surface, share_card
from webapp.register.svg.png import render_png, text_width

LIGHT = (Path(settings.BASE_DIR) / "static/css/tokens.css").read_text().split("@media")[0]


def texts_of(svg):
    return [(each.text, each.attrib) for each in parsed(svg).iter("text")]


def size_of(style):
    return int(re.search(r"font-size:(\d+)px", style)[1])


def make(label="Its own table gives", words="25.8 %", foot="A brief", plot="", x_title=""):
    headlines = [Headline("Stated", "24 %", warns=True), Headline(label, words)]
    return share_card("published claims", headlines, foot, [foot, foot], Plot(plot, "%", x_title) if plot else None)


def test_a_card_is_a_picture_of_1200_by_630_without_transparency():
    picture = Image.open(io.BytesIO(render_png(make()))).convert("RGBA")
    assert picture.size == (WIDTH, HEIGHT) == (1200, 630)
    assert picture.getchannel("A").getextrema() == (255, 255)


def test_the_words_of_a_fault_have_its_colour_and_the_others_have_not():
    found = {text: attributes["style"] for text, attributes in texts_of(make())}
    assert card.OVER in found["24 %"]
    assert card.OVER not in found["25.8 %"]


def test_long_texts_stay_on_the_card():
    long = "a very long sentence that nobody would ever print on a picture of this size " * 4
    for plot in ("", '<g class="mark"></g>'):
        room = card.TEXT_WIDTH if plot else card.WHOLE_WIDTH
        for text, attributes in texts_of(make(label=long, words=long, foot=long, plot=plot)):
            style = attributes.get("style", "")
            weight = int(re.search(r"font-weight:(\d+)", style)[1])
            is_foot = float(attributes["y"]) > 464
            assert text_width(text, size_of(style), weight) <= (card.WHOLE_WIDTH if is_foot else max(room, 940))
            assert float(attributes["y"]) < HEIGHT


def test_a_card_without_a_plot_has_room_for_larger_words():
    words = "10.3 to 18.8 x of it"
    sizes = {
        plot: next(
            size_of(attributes["style"]) for text, attributes in texts_of(make(words=words, plot=plot)) if text == words
        )
        for plot in ("", "<g></g>")
    }
    assert sizes[""] > sizes["<g></g>"]


def test_texts_are_escaped():
    assert [text for text, _ in texts_of(make(foot="<script>&"))][-1] == "<script>&"


def test_the_plot_is_next_to_the_words():
    assert PLOT.left >= card.EDGE + card.TEXT_WIDTH
    assert PLOT.left + PLOT.width <= WIDTH - card.EDGE


def test_the_colours_are_those_of_the_light_theme():
    names = {"paper": card.PAPER, "ink": card.INK, "ink-2": card.INK_2, "ink-3": card.INK_3, "over": card.OVER}
    names |= {"rule": card.RULE, "rule-2": card.RULE_2, "accent": card.ACCENT, "accent-2": card.ACCENT_2}
    assert {name: re.search(rf"--{name}:(#\w+)", LIGHT)[1] for name in names} == names


def test_the_title_of_the_horizontal_axis_has_room_below_the_plot():
    at = dict(texts_of(make(plot='<g class="mark"></g>', x_title="threads")))
    surface = plot_surface("threads")
    tick_baseline = surface.top + surface.height + 17 * surface.zoom
    assert tick_baseline + 18 <= float(at["threads"]["y"]) <= 460
    assert "threads" not in {text for text, _ in texts_of(make(plot='<g class="mark"></g>'))}
    assert plot_surface("") == PLOT
