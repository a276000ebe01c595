"""What the chart of slices draws: for each limit a panel of bars, of very many slices the worst of neighbours."""

from collections.abc import Sequence
from typing import Any

from results.histogram_slices import HistogramSlice, histogram_slices
from results.models import Run
from results.rules.limits import is_count_within, over_count
from results.rules.reduction import place_of_greatest, spans
from webapp.register.slices import ReadLimit
from webapp.templatetags import units

BARS_MAX = 288


def chart_of_run(run: Run, ordinal: int, limits: Sequence[ReadLimit]) -> dict[str, Any]:
    """Return the chart of all slices of a histogram."""
    return chart_of(histogram_slices(run.slices.of_histogram(ordinal)), limits)


def chart_of(slices: Sequence[HistogramSlice], limits: Sequence[ReadLimit]) -> dict[str, Any]:
    """Return the panels: a bar for each slice, or for some neighbours the one with the largest share."""
    groups = spans(len(slices), BARS_MAX)
    return {
        "middles": [(slices[group[0]].number + slices[group[-1]].number) / 2 for group in groups],
        "sentence": _sentence(len(slices), groups),
        "panels": [_panel(slices, groups, limit) for limit in limits],
    }


def _sentence(count: int, groups: Sequence[range]) -> str:
    """Say what a bar is where it is not one slice."""
    if count == len(groups):
        return "Each bar is one slice."
    return f"Each bar is the worst of {len(groups[0])} neighbouring slices, of {units.count(count)} in all."


def _panel(slices: Sequence[HistogramSlice], groups: Sequence[range], limit: ReadLimit) -> dict[str, Any]:
    overs = [over_count(each.counts, each.ops_count, limit.first_bucket) for each in slices]
    shares = [over * 100 / each.ops_count if each.ops_count else None for over, each in zip(overs, slices, strict=True)]
    worst = [place_of_greatest(shares, group) for group in groups]
    return {
        "threshold": units.threshold(limit.limit.threshold_us),
        "thresholdUs": limit.limit.threshold_us,
        "limit": float(limit.limit.limit_pct),
        "limitText": units.decimal(limit.limit.limit_pct),
        "shares": [None if place is None else _plotted(shares[place]) for place in worst],
        "spans": [
            "" if place is None else f"slice {slices[place].number:,d}, {_span(slices[place])}" for place in worst
        ],
        "over": [place is not None and _is_over(overs[place], slices[place], limit) for place in worst],
    }


def _plotted(share: float | None) -> float | None:
    """Enough digits for a drawing, and for what is said of a bar; limits are compared on counts."""
    return None if share is None else float(f"{share:.4g}")


def _span(each: HistogramSlice) -> str:
    return units.span(each.start_s, each.end_s)


def _is_over(over: int, each: HistogramSlice, limit: ReadLimit) -> bool:
    return not is_count_within(over, each.ops_count, limit.limit.limit_pct)
