"""What the chart of slices draws: for each limit a panel of bars, of very many slices the worst of neighbours."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from results.access.histogram_slices import HistogramSlice, each_slice
from results.models import Run
from results.rules.act.limits import is_count_within, over_count
from results.rules.reduction import spans
from webapp.register.runs.slices.shares import ReadLimit
from webapp.templatetags import units

BARS_MAX = 288


@dataclass(frozen=True)
class Bar:
    """The worst of some neighbouring slices under one limit, as it is drawn."""

    share_pct: float
    span: str
    is_over: bool


@dataclass(frozen=True)
class Neighbours:
    """Slices that stand for one bar in each panel; no bar where none of them holds an operation."""

    middle: float
    bars: list[Bar | None]


def chart_of_run(run: Run, ordinal: int, limits: Sequence[ReadLimit]) -> dict[str, Any]:
    """Return the chart of all slices of a histogram; of very many it holds those of one bar at a time."""
    slices = run.slices.of_histogram(ordinal)
    return _chart(each_slice(slices), slices.count(), limits)


def chart_of(slices: Sequence[HistogramSlice], limits: Sequence[ReadLimit]) -> dict[str, Any]:
    """Return the panels: a bar for each slice, or for some neighbours the one with the largest share."""
    return _chart(slices, len(slices), limits)


def _chart(slices: Iterable[HistogramSlice], count: int, limits: Sequence[ReadLimit]) -> dict[str, Any]:
    length, left = len(next(iter(spans(count, BARS_MAX)), "1")), iter(slices)
    groups = [_neighbours(same, limits) for same in iter(lambda: list(islice(left, length)), [])]
    return {
        "middles": [group.middle for group in groups],
        "sentence": _sentence(count, length),
        "panels": [_panel([group.bars[place] for group in groups], limit) for place, limit in enumerate(limits)],
    }


def _sentence(count: int, length: int) -> str:
    """Say what a bar is where it is not one slice."""
    if length == 1:
        return "Each bar is one slice."
    return f"Each bar is the worst of {length} neighbouring slices, of {units.count(count)} in all."


def _neighbours(slices: Sequence[HistogramSlice], limits: Sequence[ReadLimit]) -> Neighbours:
    return Neighbours((slices[0].number + slices[-1].number) / 2, [_worst(slices, limit) for limit in limits])


def _worst(slices: Sequence[HistogramSlice], limit: ReadLimit) -> Bar | None:
    """Return the slice with the largest share, the first of equal ones."""
    told = [each for each in slices if each.ops_count]
    if not told:
        return None
    overs = [over_count(each.counts, each.ops_count, limit.first_bucket) for each in told]
    shares = [over * 100 / each.ops_count for over, each in zip(overs, told, strict=True)]
    place = max(range(len(told)), key=shares.__getitem__)
    worst = told[place]
    is_over = not is_count_within(overs[place], worst.ops_count, limit.limit.limit_pct)
    return Bar(_plotted(shares[place]), f"slice {worst.number:,d}, {units.span(worst.start_s, worst.end_s)}", is_over)


def _panel(bars: Sequence[Bar | None], limit: ReadLimit) -> dict[str, Any]:
    return {
        "threshold": units.threshold(limit.limit.threshold_us),
        "thresholdUs": limit.limit.threshold_us,
        "limit": float(limit.limit.limit_pct),
        "limitText": units.decimal(limit.limit.limit_pct),
        "shares": [bar.share_pct if bar else None for bar in bars],
        "spans": [bar.span if bar else "" for bar in bars],
        "over": [bar is not None and bar.is_over for bar in bars],
    }


def _plotted(share: float) -> float:
    """Enough digits for a drawing, and for what is said of a bar; limits are compared on counts."""
    return float(f"{share:.4g}")
