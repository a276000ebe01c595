"""Data of the YCSB charts: panels of curves, with a line at a fixed throughput or latency."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Panel:
    """One chart: title, axes with units, curves, and the lines at fixed levels."""

    title: str
    note: str
    x_title: str
    y_title: str
    curves: Sequence[Json]
    levels: Sequence[Json] = ()
    is_x_log: bool = False


def curve(
    name: str, points: Sequence[tuple[Fraction, Fraction]], labels: Sequence[str] = (), *, peak: int = -1
) -> Json:
    """Return one drive's points in the order of its line; `peak` is the position of the marked point, -1 for none.

    The chart's values are rounded to doubles; those of the tables are exact.
    """
    x, y = ([float(point[axis]) for point in points] for axis in (0, 1))
    return {"name": name, "x": x, "y": y, "labels": list(labels), "peak": peak, "line": True}


def fixed_line(axis: str, at: Fraction, text: str) -> Json:
    """Return a line across a panel at a fixed level of one quantity; `axis` is x or y."""
    return {"axis": axis, "at": float(at), "text": text}


def documents(panels: Sequence[Panel]) -> list[Json]:
    """Return the panels as JSON for the script."""
    return [
        {
            "title": panel.title,
            "xTitle": panel.x_title,
            "yTitle": panel.y_title,
            "xLog": panel.is_x_log,
            "curves": panel.curves,
            "levels": panel.levels,
        }
        for panel in panels
    ]
