"""A picture of a chart: lines, texts and marks at places in percent of the plot, with sizes in px.

Pages write the percentages as they are, so that one SVG fits every width. Share images multiply them by their plot
box. Nothing here knows of HTML.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from webapp.register.landscape.marks import Mark
from webapp.register.svg.scales import LogScale

GRID = "grid"  # the kind of lines that density cells cover
WIDE, PHONE = "wide", "phone"  # classes of what only one of the two widths shows
TICK_CHARACTER_PX, TICK_GAP_PX = 7.1, 8
TICK_BELOW_PX = 20  # from the axis to the base of the text: the largest mark on the axis has room above it
PIECES = 24  # of a slanted line that texts avoid
LAST_TICK_FROM = 96  # percent: the text of a tick there ends at the edge of the plot


class Line(NamedTuple):
    """A straight line; `kind` names its style."""

    kind: str
    x1: float
    y1: float
    x2: float
    y2: float


class Text(NamedTuple):
    """A text at a place, moved by `dx` and `dy` px; `anchor` is the side that stays: start, middle or end."""

    kind: str
    x: float
    y: float
    dx: float
    dy: float
    anchor: str
    text: str


class Zone(NamedTuple):
    """A tinted field, from its upper left corner."""

    x: float
    y: float
    width: float
    height: float


class Cell(NamedTuple):
    """A density cell: the number of drives in it, its class of colour, and the filter that shows them.

    `max_share_pct` is None in the highest row, which also has all higher shares.
    """

    x: float
    y: float
    level: int
    drives_count: int
    min_tps: int
    max_share_pct: float | None


@dataclass(frozen=True)
class Picture:
    """Everything that a chart shows, in the order of painting. `ticks` are places on the horizontal axis."""

    zone: Zone | None = None
    cells: tuple[Cell, ...] = ()
    lines: tuple[Line, ...] = ()
    ticks: tuple[float, ...] = ()
    axis_texts: tuple[Text, ...] = ()
    marks: tuple[Mark, ...] = ()
    labels: tuple[Text, ...] = ()


def percent(place: float) -> float:
    """Return a place on an axis in percent with two decimals, rounded half up as the script rounds it.

    >>> percent(0.123456), percent(1), percent(-0.00001)
    (12.35, 100.0, 0.0)
    """
    return math.floor(place * 10_000 + 0.5) / 100


def plain(number: float) -> str:
    """Return a percentage as text, with up to nine decimals and without an exponent.

    >>> plain(5.0), plain(0.1), plain(4.999999999), plain(1e-9)
    ('5', '0.1', '4.999999999', '0.000000001')
    """
    return f"{number:.9f}".rstrip("0").rstrip(".")


def speed_ticks(scale: LogScale, widths_px: tuple[int, int]) -> tuple[list[float], list[Text]]:
    """Return the places of the ticks of a speed axis, and the texts that have room on a wide screen or on a phone.

    `widths_px` has the widths of the plot on both.
    """
    values = scale.ticks()
    places = [percent(scale.place(value)) for value in values]
    texts = [_tick_text(value, place) for value, place in zip(values, places, strict=True)]
    wide, phone = (_with_room(texts, width) for width in widths_px)
    kinds = {(True, True): "tick", (True, False): f"tick {WIDE}", (False, True): f"tick {PHONE}"}
    shown = [(text, kinds.get((number in wide, number in phone))) for number, text in enumerate(texts)]
    return places, [text._replace(kind=kind) for text, kind in shown if kind]


def _tick_text(value: float, place: float) -> Text:
    x, anchor = (100.0, "end") if place > LAST_TICK_FROM else (place, "middle")
    return Text("tick", x, 100.0, 0, TICK_BELOW_PX, anchor, f"{value:,.0f}")


def _with_room(texts: Sequence[Text], width_px: int) -> set[int]:
    """Return the numbers of texts that do not touch: decades, all but the last, or every second; then others."""
    ends = [_ends_px(text, width_px) for text in texts]
    decades = [number for number, text in enumerate(texts) if text.text.replace(",", "").strip("0") == "1"]
    first = decades if len(decades) > 1 else list(range(len(texts)))
    choices = (first, first[:-1], *(first[::step] for step in range(2, len(first) + 1)))
    shown = [*next(some for some in choices if all(ends[one][1] <= ends[other][0] for one, other in pairwise(some)))]
    if len(shown) >= len(first) - 1:
        for number, (left, right) in enumerate(ends):
            if all(right <= ends[other][0] or ends[other][1] <= left for other in shown):
                shown.append(number)
    return set(shown)


def _ends_px(text: Text, width_px: int) -> tuple[float, float]:
    """Return the left and the right end of the text of a tick, with half of the gap between two of them."""
    width = TICK_CHARACTER_PX * len(text.text) + TICK_GAP_PX
    left = text.x * width_px / 100 - (width - TICK_GAP_PX / 2 if text.anchor == "end" else width / 2)
    return left, left + width


def pieces(line: Line) -> Iterable[Line]:
    """Yield a line in pieces, so that the rectangle around each is small."""
    if line.x1 == line.x2 or line.y1 == line.y2:
        yield line
        return
    width, height = (line.x2 - line.x1) / PIECES, (line.y2 - line.y1) / PIECES
    for number in range(PIECES):
        x, y = line.x1 + width * number, line.y1 + height * number
        yield Line(line.kind, x, y, x + width, y + height)


def side_tick(place: float, text: str, kind: str = "tick") -> Text:
    """Return the text of a tick of a vertical axis, left of the plot."""
    return Text(kind, 0, place, -8, 4, "end", text)


def lines_of_text(first: Text, texts: Sequence[str], height_px: int = 14) -> Iterable[Text]:
    """Yield one text for each line, from that of the first one downwards."""
    for number, text in enumerate(texts):
        yield first._replace(text=text, dy=first.dy + height_px * number)
