"""Bars of the shares of each slice under each limit, as geometry of an SVG that the server draws.

A panel for each limit is scaled so that all limit lines are at the same height: height means nearness to the limit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from results.access.intervals import HistogramSlice
from webapp.register.runs.charts.page import range_sentence, slice_chart
from webapp.register.runs.slices import ReadLimit
from webapp.templatetags import units

# In units of the view box. A panel is 270 to 400 px wide, so that a unit is about a pixel.
WIDTH, HEIGHT = 320, 150
TOP, BOTTOM = 18, 132  # of the plot; above it is the label of the worst bar
LEFT, RIGHT = 80, 316  # of the plot; left of it is the name of the limit, where it covers no bar
LEFT_OF_PLOT = 6  # from the plot to the name of the limit
TOP_OF_LIMIT = 1.2  # the top of a panel, as a multiple of the limit
CUT_BELOW_TOP = 6  # where a bar that is higher than the panel is broken
GAP = 0.2  # of the place of a bar
LABEL_HALF = 30  # a label nearer to an end of the plot is aligned with it


@dataclass(frozen=True)
class Bar:
    """One bar; `is_cut` if its share is above the top of the panel. Above it is the open part, up to the upper end."""

    x: float
    y: float
    width: float
    height: float
    is_over: bool
    is_cut: bool
    text: str
    may_y: float
    may_height: float


@dataclass(frozen=True)
class Label:
    """The share of the highest bar, above it."""

    x: float
    anchor: str
    text: str


@dataclass(frozen=True)
class Panel:
    """The bars under one limit. `summary` says in a sentence what they show."""

    id: str
    threshold: str
    limit: str
    limit_y: float
    bars: list[Bar]
    label: Label | None
    summary: str


def panels_of(name: str, slices: Sequence[HistogramSlice], limits: Sequence[ReadLimit]) -> dict[str, Any]:
    """Return the panels of a run with the caption of their bars; no panels without slices."""
    if not slices:
        return {"panels": []}
    chart = slice_chart(slices, len(slices), limits)
    panels = [_panel(f"{name}-{place}", each) for place, each in enumerate(chart["panels"])]
    frame = {"width": WIDTH, "height": HEIGHT, "left": LEFT, "right": RIGHT, "top": TOP}
    frame |= {"bottom": BOTTOM, "cut": TOP + CUT_BELOW_TOP, "name_end": LEFT - LEFT_OF_PLOT}
    ends = {"first": units.duration(slices[0].start_s), "last": units.duration(slices[-1].end_s)}
    sentences = {"sentence": chart["sentence"], "range_sentence": range_sentence(chart["panels"])}
    return {"panels": panels, "frame": frame} | sentences | ends


def _panel(panel_id: str, panel: dict[str, Any]) -> Panel:
    limit_pct: float = panel["limit"]
    scale = (BOTTOM - TOP) / (TOP_OF_LIMIT * limit_pct) if limit_pct else 0.0
    place = (RIGHT - LEFT) / len(panel["shares"])
    bars = [
        _bar(number, place, scale, (share_pct, most_pct), f"{span}: {text}", is_over=is_over)
        for number, (share_pct, most_pct, span, text, is_over) in enumerate(
            zip(panel["shares"], panel["most"], panel["spans"], panel["texts"], panel["over"], strict=True)
        )
        if share_pct is not None
    ]
    known = [(share_pct, number) for number, share_pct in enumerate(panel["shares"]) if share_pct is not None]
    worst_pct, worst = max(known, key=lambda each: (each[0], -each[1]), default=(0.0, 0))
    return Panel(
        id=panel_id,
        threshold=panel["threshold"],
        limit=panel["limitText"],
        limit_y=round(BOTTOM - scale * limit_pct, 1),
        bars=bars,
        label=_label((worst + 0.5) * place + LEFT, _printed(panel, worst)) if worst_pct else None,
        summary=_summary(panel, worst_pct, worst),
    )


def _bar(number: int, place: float, scale: float, ends_pct: tuple[float, float], text: str, *, is_over: bool) -> Bar:
    height, most = (end * scale if scale else (BOTTOM - TOP) * (end > 0) for end in ends_pct)
    is_cut = height > BOTTOM - TOP
    height, most = min(height, BOTTOM - TOP), min(most, BOTTOM - TOP)
    return Bar(
        x=round(LEFT + number * place + place * GAP / 2, 2),
        y=round(BOTTOM - height, 2),
        width=round(place * (1 - GAP), 2),
        height=round(height, 2),
        is_over=is_over,
        is_cut=is_cut,
        text=text,
        may_y=round(BOTTOM - most, 2),
        may_height=round(most - height, 2),
    )


def _label(x: float, text: str) -> Label:
    anchor = "start" if x < LEFT + LABEL_HALF else "end" if x > RIGHT - LABEL_HALF else "middle"
    edge = {"start": LEFT, "end": RIGHT}.get(anchor, x)
    return Label(round(edge, 1), anchor, text)


def _printed(panel: dict[str, Any], number: int) -> str:
    """Return the share of a bar as the slice table has it, without the counts that follow it."""
    text: str = panel["texts"][number]
    return text.partition(" (")[0]


def _summary(panel: dict[str, Any], worst_pct: float, worst: int) -> str:
    over = sum(panel["over"])
    limit = f"The limit is {panel['limitText']} %."
    if not worst_pct:
        return f"No slice has a read of {panel['readAt']} or longer. {limit}"
    bars = "No bar is" if not over else "1 bar is" if over == 1 else f"{over} bars are"
    worst_of = f"The largest share over {panel['threshold']} is {_printed(panel, worst)}, {panel['spans'][worst]}."
    may = sum(panel["mayBeOver"])
    undecided = f" The log does not decide it for {units.counted(may, 'bar')}." if may else ""
    return f"{worst_of} {limit} {bars} over it.{undecided}"
