"""Marks of slices on the time axis of a run's charts, so that host, rate and latency are read together with slices."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from webapp.register.runs.charts.drawing import FULL, NOTHING, Linear, element, joined, percent
from webapp.register.runs.slices import SliceRow, SliceTable

EDGES_MAX = 48  # more lines would hide the bars
NEAR_END = 0.15  # the name of a slice nearer to an end is aligned with the slice, so that it stays in the picture


@dataclass(frozen=True)
class SliceMarks:
    """The seconds at which slices end, and the worst slice: its number, its start and its end."""

    edges_s: Sequence[int]
    worst: tuple[int, int, int] | None

    def document(self) -> dict[str, Any]:
        """Return the marks for the charts to explore."""
        return {"edges": list(self.edges_s), "worst": self.worst}


def slice_marks(table: SliceTable | None) -> SliceMarks | None:
    """Return the marks of a run with several slices; None if the page does not list all of them."""
    if table is None or len(table.rows) < 2 or table.total > len(table.rows):
        return None
    slices = [row.slice for row in table.rows]
    edges = sorted({second for each in slices for second in (each.start_s, each.end_s)})
    limits = [float(limit.limit.limit_pct) for limit in table.limits]
    worst = max(table.rows, key=lambda row: _nearness(row, limits))
    own = (worst.slice.number, worst.slice.start_s, worst.slice.end_s) if _nearness(worst, limits) else None
    return SliceMarks(edges if len(edges) <= EDGES_MAX else (), own)


def _nearness(row: SliceRow, limits_pct: Sequence[float]) -> float:
    """Return the largest share of a slice divided by its limit."""
    shares = [(each.over_count * 100 / each.ops_count if each.ops_count else 0.0) for each in row.shares]
    return max(
        (share / limit if limit else float("inf") if share else 0.0)
        for share, limit in zip(shares, limits_pct, strict=True)
    )


def draw_slices(marks: SliceMarks | None, time: Linear) -> SafeString:
    """Return a line at each edge of a slice, and the worst slice as a tinted field with its name above the plot."""
    if marks is None:
        return NOTHING
    within = [part for edge in marks.edges_s if 0 < (part := time.part(edge)) < 1]
    lines = [element("line", class_="slice-edge", x1=percent(x), x2=percent(x), y1=0, y2=FULL) for x in within]
    return joined([*([] if marks.worst is None else _worst(marks.worst, time)), *lines])


def _worst(worst: tuple[int, int, int], time: Linear) -> list[SafeString]:
    number, start_s, end_s = worst
    left, right = (min(1.0, max(0.0, time.part(second))) for second in (start_s, end_s))
    middle = (left + right) / 2
    place, anchor = (
        (left, "start") if middle < NEAR_END else (right, "end") if middle > 1 - NEAR_END else (middle, "middle")
    )
    field = {"x": percent(left), "width": percent(right - left), "y": 0, "height": FULL}
    name = element(
        "text", f"worst slice: {number:,d}", class_="slice-name", x=percent(place), y=0, dy=-3, text_anchor=anchor
    )
    return [element("rect", class_="worst-slice", **field), name]
