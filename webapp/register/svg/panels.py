"""Panels of a product's page as inline SVG: a load ladder under one limit, and the distribution of one run.

Places across are percentages of the width, and places down are pixels, so one drawing fits every width.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from django.utils.safestring import SafeString, mark_safe

from webapp.register.svg.marks import CIRCLE, CROSS, DIAMOND, over_limit
from webapp.register.svg.scales import LinearScale, LogScale
from webapp.register.svg.strips import anchor, percent, short_number

TOP, BOTTOM, LABEL_Y = 16, 108, 124  # px: the plot, and the labels of the axis below it
BEYOND_LIMIT = 1.2  # the end of the share axis as a multiple of the limit, so that limit lines are at one height
SYMBOLS = (f"{CIRCLE}1", f"{DIAMOND}1", f"{CROSS}1")  # of the marks of lines; static/css/run.css has their dashes
NAMED_LINES = 3  # more names would lie on each other; each mark has its own
NAME_PLACE, NAME_PX = 0.25, 16  # the name of the limit: its part of the narrowest panel, and its height above the limit
LOADS_NAMED = 5
LEAST_PCT = 0.0001  # the lower end of the share axis of a distribution, percent


@dataclass(frozen=True)
class Rung:
    """One run on a ladder: its load per device, its share in percent, its name, and the address of its page."""

    load: float
    share_pct: float
    is_over: bool
    label: str
    address: str


@dataclass(frozen=True)
class RungLine:
    """The runs of one comparison group, by rising load."""

    name: str
    rungs: Sequence[Rung]


def ladder_svg(name: str, lines: Sequence[RungLine], limit_pct: float, limit_text: str) -> SafeString:
    """Return a panel: the share of each run by its load, a line for each comparison group, and the limit."""
    rungs = [rung for line in lines for rung in line.rungs]
    across = LinearScale(0, max((rung.load for rung in rungs), default=1) * 1.05, LOADS_NAMED)
    highest = max((rung.share_pct for rung in rungs), default=0)
    down = LinearScale(0, max(BEYOND_LIMIT * limit_pct, 1.05 * highest) or 1)

    def y(share_pct: float) -> float:
        return round(BOTTOM - down.place(share_pct) * (BOTTOM - TOP), 1)

    axis = f'<line class="axis" x1="0" x2="100%" y1="{BOTTOM}" y2="{BOTTOM}"/>'
    loads = "".join(_tick(across.place(load), f"{short_number(load)}x") for load in across.ticks())
    limit_y = y(limit_pct)
    near = [across.place(rung.load) for rung in rungs if -NAME_PX < y(rung.share_pct) - limit_y < NAME_PX / 2]
    is_at_end = min(near, default=1) < NAME_PLACE and max(near) < 1 - NAME_PLACE
    name_place = 'x="100%" text-anchor="end"' if is_at_end else 'x="0"'
    limit = (
        f'<line class="limit" x1="0" x2="100%" y1="{limit_y}" y2="{limit_y}"/>'
        f'<text class="name" {name_place} y="{limit_y - 4}">limit {escape(limit_text)} %</text>'
    )
    drawn = "".join(
        _line(line, number, across, y, is_named=1 < len(lines) <= NAMED_LINES) for number, line in enumerate(lines)
    )
    first = min(rungs, key=lambda rung: rung.load, default=None)
    marks = "".join(
        _rung(
            rung,
            SYMBOLS[number % len(SYMBOLS)],
            percent(across.place(rung.load)),
            y(rung.share_pct),
            is_stop=rung is first,
        )
        for number, line in enumerate(lines)
        for rung in line.rungs
    )
    return mark_safe(  # noqa: S308 - escaped here and in the parts
        f'<svg class="panel" role="group" aria-label="{escape(name)}" data-marks>'
        f"{axis}{loads}{limit}{drawn}{marks}</svg>"
    )


def _tick(place: float, label: str) -> str:
    x = percent(place)
    return (
        f'<line class="axis" x1="{x}" x2="{x}" y1="{BOTTOM}" y2="{BOTTOM + 4}"/>'
        f'<text x="{x}" y="{LABEL_Y}" text-anchor="{anchor(place, 0.04)}">{escape(label)}</text>'
    )


def _line(line: RungLine, number: int, across: LinearScale, y: Callable[[float], float], *, is_named: bool) -> str:
    parts = [
        f'<line class="series series-{number % len(SYMBOLS)}" x1="{percent(across.place(one.load))}" '
        f'y1="{y(one.share_pct)}" x2="{percent(across.place(other.load))}" y2="{y(other.share_pct)}"/>'
        for one, other in pairwise(line.rungs)
    ]
    if is_named and line.rungs:
        last = line.rungs[-1]
        x = percent(across.place(last.load))
        parts.append(
            f'<text class="name" x="{x}" y="{y(last.share_pct) - 9}" text-anchor="end">{escape(line.name)}</text>'
        )
    return "".join(parts)


def _rung(rung: Rung, symbol: str, x: str, y: float, *, is_stop: bool) -> str:
    label, tab = escape(rung.label), 0 if is_stop else -1
    shown, name = (over_limit(symbol), "mark over") if rung.is_over else (symbol, "mark")
    return (
        f'<a class="{name}" href="{escape(rung.address)}" tabindex="{tab}" '
        f'aria-label="{label}"><title>{label}</title><use href="#{shown}" x="{x}" y="{y}"/></a>'
    )


@dataclass(frozen=True)
class Bar:
    """One bucket of a histogram: its share of the reads in percent, its name, and how many limits it is over."""

    share_pct: float
    label: str
    limits_over: int


@dataclass(frozen=True)
class EdgeLine:
    """A threshold before the bucket with an index, with its name."""

    bar: int
    label: str


def distribution_svg(name: str, bars: Sequence[Bar], edges: Sequence[EdgeLine]) -> SafeString:
    """Return the share of the reads in each bucket, on a logarithmic scale, with lines at the thresholds of limits.

    On a linear scale the slow reads, which decide, would not be seen.
    """
    scale = LogScale(LEAST_PCT, 100)
    width = 1 / len(bars)
    parts = [f'<line class="axis" x1="0" x2="100%" y1="{BOTTOM}" y2="{BOTTOM}"/>']
    for pct in (100, 1, 0.01):
        y = round(BOTTOM - scale.place(pct) * (BOTTOM - TOP), 1)
        parts.append(f'<line class="grid" x1="0" x2="100%" y1="{y}" y2="{y}"/>')
        parts.append(f'<text x="100%" y="{y - 3}" text-anchor="end">{pct:g} %</text>')
    for number, bar in enumerate(bars):
        height = round(max(scale.place(bar.share_pct), 0.01) * (BOTTOM - TOP), 1) if bar.share_pct else 0
        if height:
            parts.append(
                f'<rect class="bar limits-{bar.limits_over}" x="{percent((number + 0.06) * width)}" '
                f'width="{percent(0.88 * width)}" y="{round(BOTTOM - height, 1)}" height="{height}">'
                f"<title>{escape(bar.label)}</title></rect>"
            )
    for edge in edges:
        place = edge.bar * width
        x = percent(place)
        parts.append(
            f'<line class="limit" x1="{x}" x2="{x}" y1="{TOP - 4}" y2="{BOTTOM + 4}"/>'
            f'<text class="name" x="{x}" y="{LABEL_Y}" text-anchor="{anchor(place, 0.08)}">{escape(edge.label)}</text>'
        )
    return mark_safe(f'<svg class="panel" role="img" aria-label="{escape(name)}">{"".join(parts)}</svg>')  # noqa: S308 - escaped above
