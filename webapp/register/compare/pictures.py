"""The curves of a comparison as pictures without a script: places in percent, so that text keeps its size.

static/js/charts/compare.js draws the same charts with Plotly, when the reader asks for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from webapp.register.svg.scales import LinearScale
from webapp.register.svg.strips import short_number

DOTS_MAX = 40  # of a line: more would be a band; static/js/charts/compare.js has the same number
ABOVE_LIMIT, ABOVE_MOST = 1.2, 1.05  # the scale ends above the limit and above the highest point
TICK_CLEARANCE = 0.11  # of the height, between the name of the limit and the next tick
UNITS = 1000  # of the coordinates of a line, which are stretched to the size of the picture


@dataclass(frozen=True)
class Dot:
    """One point of a line."""

    x: str
    y: str
    is_over: bool


@dataclass(frozen=True)
class PictureLine:
    """One line: the number of its style, its letter and where it ends, its points as coordinates, and its dots."""

    style: int
    letter: str
    points: str
    dots: list[Dot]
    end_x: str
    end_y: str


@dataclass(frozen=True)
class Tick:
    """One value of an axis with its place."""

    place: str
    text: str


@dataclass(frozen=True)
class Picture:
    """One chart: its lines, the ticks of its axes, and the place of its limit, empty without one."""

    title: str
    unit: str
    x_title: str
    lines: list[PictureLine]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    limit: str
    limit_text: str

    @property
    def sentence(self) -> str:
        """Return what the picture shows; the table of points has the figures."""
        letters = ", ".join(line.letter for line in self.lines)
        limit = f" Limit {self.limit_text} %." if self.limit_text else ""
        return f"{self.title}, {self.unit}, by {self.x_title}: lines {letters}.{limit}"


def picture_of(chart: dict[str, Any]) -> Picture:
    """Return the picture of a chart of curves.py."""
    lines = [line for line in chart["lines"] if line["x"]]
    limit, most_x = chart.get("limit"), max(max(line["x"]) for line in lines)
    most_y = max(max(line["y"]) for line in lines)
    x_scale = LinearScale(0, most_x or 1.0, 4)
    y_scale = LinearScale(0, max(ABOVE_LIMIT * (limit or 0), ABOVE_MOST * most_y) or 1.0, 4)

    def is_at_limit(value: float) -> bool:
        """Return whether a tick is so close to the limit that their texts touch."""
        return limit is not None and abs(y_scale.place(value) - y_scale.place(limit)) < TICK_CLEARANCE

    return Picture(
        chart["title"],
        chart["unit"],
        chart["xTitle"],
        [_line(number, line, x_scale, y_scale) for number, line in enumerate(chart["lines"]) if line["x"]],
        [Tick(_across(x_scale, value), short_number(value)) for value in x_scale.ticks()],
        [Tick(_down(y_scale, value), short_number(value)) for value in y_scale.ticks() if not is_at_limit(value)],
        "" if limit is None else _down(y_scale, limit),
        chart.get("limitText", ""),
    )


def _line(style: int, line: dict[str, Any], x_scale: LinearScale, y_scale: LinearScale) -> PictureLine:
    points = list(zip(line["x"], line["y"], line["over"], strict=True))
    coordinates = [(x_scale.place(x) * UNITS, (1 - y_scale.place(y)) * UNITS) for x, y, _ in points]
    shown: Sequence[tuple[float, float, bool]] = points if len(points) <= DOTS_MAX else []
    return PictureLine(
        style,
        line["name"],
        " ".join(f"{x:.1f},{y:.1f}" for x, y in coordinates),
        [Dot(_across(x_scale, x), _down(y_scale, y), is_over) for x, y, is_over in shown],
        _across(x_scale, points[-1][0]),
        _down(y_scale, points[-1][1]),
    )


def _across(scale: LinearScale, value: float) -> str:
    return f"{scale.place(value) * 100:.2f}%"


def _down(scale: LinearScale, value: float) -> str:
    return f"{(1 - scale.place(value)) * 100:.2f}%"
