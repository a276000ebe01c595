"""Pictures of charts as SVG: scales, ticks and bars, without script and inline style."""

import re

import pytest
from django.utils.safestring import SafeString

from webapp.register.runs.charts.drawing import Bar, Linear, Tick, band, drawing, element, stretched, time_ticks


def test_texts_and_attributes_are_escaped_and_elements_are_not():
    inner = element("title", "<b> & more")
    assert element("rect", inner, aria_label='"x"') == (
        '<rect aria-label="&quot;x&quot;"><title>&lt;b&gt; &amp; more</title></rect>'
    )


@pytest.mark.parametrize(("value", "part"), [(98, 0), (99.5, 0.5), (101, 1), (104, 2)])
def test_a_scale_reaches_from_its_low_to_its_high_end(value, part):
    assert Linear(98, 101).part(value) == part


def test_a_scale_without_extent_has_one_tick():
    assert (Linear(0, 0).ticks(), Linear(0, 0).part(0)) == ([0], 0)


@pytest.mark.parametrize("high", [0.07, 0.112, 1, 5.6, 24, 1440, 2_592_000])
@pytest.mark.parametrize("most", [4, 6])
def test_ticks_are_round_few_and_within_the_axis(high, most):
    ticks = Linear(0, high).ticks(most)
    assert 2 <= len(ticks) <= most
    assert (ticks[0], ticks[-1] <= high) == (0, True)
    assert {re.sub(r"[0.]|e[-+]\d+", "", f"{tick:g}")[:1] or "0" for tick in ticks[:2]} <= set("0125")


@pytest.mark.parametrize(
    ("seconds", "title"),
    [(299, "seconds"), (300, "minutes"), (7_199, "minutes"), (7_200, "hours"), (4 * 86_400, "days")],
)
def test_time_axes_use_the_unit_that_suits_the_length(seconds, title):
    assert time_ticks(0, seconds)[1] == f"{title} since the start"


def test_a_bar_reaches_from_its_least_to_its_greatest_value():
    picture = band([Bar(0.25, 0.5, 0.1, 0.9, "bad second")])
    assert '<rect class="band" x="250" width="250" y="10" height="80"><title>bad second</title></rect>' in picture


def test_a_bar_beyond_the_plot_ends_at_its_edge():
    assert 'y="0" height="100"' in band([Bar(0, 1, -0.5, 1.5, "")])


def test_a_picture_has_a_name_and_no_style_or_script():
    marks = stretched(10, 100, [element("rect", class_="bar", x=1.5, width=0.25)])
    ticks = [Tick(0, "0"), Tick(0.5, "5"), Tick(1, "10", is_strong=True)]
    picture = drawing("Share by slice", marks, x_ticks=ticks, y_ticks=ticks, x_title="slice", kind="slices")
    assert isinstance(picture, SafeString)
    assert picture.startswith('<svg class="drawing slices" role="img" aria-label="Share by slice">')
    assert not re.search(r"style=|<script|on\w+=", picture)
    assert 'viewBox="0 0 10 100" preserveAspectRatio="none"' in picture


def test_the_outermost_ticks_stay_within_the_picture():
    ticks = [Tick(0, "0"), Tick(0.5, "5"), Tick(1, "10")]
    picture = drawing("x", stretched(1, 1, []), x_ticks=ticks, y_ticks=[])
    anchors = re.findall(r'class="tick along"[^>]*text-anchor="(\w+)"', picture)
    assert anchors == ["start", "middle", "end"]
