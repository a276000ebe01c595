"""Data of the YCSB charts: panels of curves, with a line at a fixed throughput or latency."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any


@dataclass(frozen=True)
class Curve:
    """One drive's points in the order of its line; `peak` is the position of the marked point, -1 for none."""

    name: str
    points: Sequence[tuple[Fraction, Fraction]]
    labels: Sequence[str] = ()
    peak: int = -1
    is_line: bool = True


@dataclass(frozen=True)
class FixedLine:
    """A line across a panel at a fixed level of one quantity; `axis` is x or y."""

    axis: str
    at: Fraction
    text: str


@dataclass(frozen=True)
class Panel:
    """One chart: title, axes with units, curves."""

    title: str
    note: str
    x_title: str
    y_title: str
    curves: Sequence[Curve]
    fixed: Sequence[FixedLine] = field(default=())
    is_x_log: bool = False

    def document(self) -> dict[str, Any]:
        """Return the panel as JSON. The chart's values are rounded to doubles; those of the table are exact."""
        return {
            "title": self.title,
            "xTitle": self.x_title,
            "yTitle": self.y_title,
            "xLog": self.is_x_log,
            "curves": [_curve(curve) for curve in self.curves],
            "levels": [{"axis": line.axis, "at": float(line.at), "text": line.text} for line in self.fixed],
        }


def _curve(curve: Curve) -> dict[str, Any]:
    return {
        "name": curve.name,
        "x": [float(x) for x, _ in curve.points],
        "y": [float(y) for _, y in curve.points],
        "labels": list(curve.labels),
        "peak": curve.peak,
        "line": curve.is_line,
    }


def documents(panels: Sequence[Panel]) -> list[dict[str, Any]]:
    """Return the panels as JSON for the script."""
    return [panel.document() for panel in panels]
