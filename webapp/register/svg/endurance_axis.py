"""The endurance gap of one drive on one axis: the speed that the rating allows, and the tested speed.

The axis is chosen so that both places are far from its ends and their labels never touch, at every width from 280 px.
"""

import math
from html import escape

from django.utils.safestring import SafeString, mark_safe

from webapp.register.svg.scales import LogScale
from webapp.register.svg.strips import axis_html, percent, ticks_of

GAP_PART = 0.55  # of the axis, between the two places
WIDE_FROM = 2.1  # the ratio of the speeds from which both labels fit between their places and the ends
NARROW_RANGE = 20  # the range of the axis for smaller ratios, whose labels point outwards
AXIS_Y, TICK_LABEL_Y, NAME_Y, FIGURE_Y, GAP_Y = 48, 65, 11, 25, 40


def endurance_scale(one: float, other: float) -> LogScale:
    """Return the axis of two speeds.

    >>> scale = endurance_scale(216_000, 1_728_000)
    >>> round(scale.place(216_000), 3), round(scale.place(1_728_000), 3)
    (0.225, 0.775)
    """
    low, high = min(one, other), max(one, other)
    ratio = high / low
    whole = ratio ** (1 / GAP_PART) if ratio >= WIDE_FROM else NARROW_RANGE
    beyond = math.sqrt(whole / ratio)
    return LogScale(low / beyond, high * beyond)


def endurance_svg(tested: float, sustained: float, labels: tuple[str, str, str, str, str]) -> SafeString:
    """Return the axis. `labels`: name and figure of the rating, those of the test, and the words for the gap."""
    rating, sustains, needs, was_tested, gap = labels
    scale = endurance_scale(tested, sustained)
    at_rating, at_test = scale.place(sustained), scale.place(tested)
    is_over = tested > sustained
    is_wide = max(tested, sustained) / min(tested, sustained) >= WIDE_FROM
    left, right = percent(min(at_rating, at_test)), percent(max(at_rating, at_test))
    span = f'<line class="{"gap" if is_over else "reserve"}" x1="{left}" x2="{right}" y1="{AXIS_Y}" y2="{AXIS_Y}"/>'
    ring = f'<circle class="rating" cx="{percent(at_rating)}" cy="{AXIS_Y}" r="6"/>'
    bar = f'<line class="tested" x1="{percent(at_test)}" x2="{percent(at_test)}" y1="{AXIS_Y - 9}" y2="{AXIS_Y + 9}"/>'
    outwards = ("end", "start") if at_rating <= at_test else ("start", "end")
    anchors = ("middle", "middle") if is_wide else outwards
    words = _label(at_rating, anchors[0], rating, sustains) + _label(at_test, anchors[1], needs, was_tested)
    if is_wide:
        middle, name = percent((at_rating + at_test) / 2), "over" if is_over else "reserve"
        words += f'<text class="{name}" x="{middle}" y="{GAP_Y}" text-anchor="middle">{escape(gap)}</text>'
    name = f"{rating}, {sustains}; {needs}, {was_tested}: {gap}"
    content = axis_html(ticks_of(scale), AXIS_Y, TICK_LABEL_Y) + span + ring + bar + words
    return mark_safe(f'<svg class="endurance" role="img" aria-label="{escape(name)}">{content}</svg>')  # noqa: S308 - escaped above


def _label(place: float, anchored: str, name: str, figure: str) -> str:
    x = f'x="{percent(place)}" text-anchor="{anchored}"'
    return f'<text class="name" {x} y="{NAME_Y}">{escape(name)}</text><text {x} y="{FIGURE_Y}">{escape(figure)}</text>'
