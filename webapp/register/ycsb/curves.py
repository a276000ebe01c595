"""What the charts of YCSB draw: panels of curves, with lines where something is held. Plain numbers for a script."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any


@dataclass(frozen=True)
class Curve:
    """One drive's points in the order that its line follows; `peak` is the place of the one to mark, -1 for none."""

    name: str
    points: Sequence[tuple[Fraction, Fraction]]
    labels: Sequence[str] = ()
    peak: int = -1
    is_line: bool = True


@dataclass(frozen=True)
class HeldLine:
    """A line across a panel where a reader holds one quantity: `axis` x or y."""

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
    held: Sequence[HeldLine] = field(default=())
    is_x_log: bool = False

    def document(self) -> dict[str, Any]:
        """Return the panel as JSON has it; the picture is rounded to doubles, the table beside it is not."""
        return {
            "title": self.title,
            "xTitle": self.x_title,
            "yTitle": self.y_title,
            "xLog": self.is_x_log,
            "curves": [_curve(curve) for curve in self.curves],
            "held": [{"axis": line.axis, "at": float(line.at), "text": line.text} for line in self.held],
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
    """Return what the script reads."""
    return [panel.document() for panel in panels]
