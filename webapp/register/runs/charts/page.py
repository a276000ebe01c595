"""Charts of the run page: the slice chart with its data, and the addresses and captions of all charts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, islice
from typing import Any

from django.urls import reverse

from results.access.histogram_slices import HistogramSlice, each_slice
from results.access.intervals import is_withheld
from results.models import Run
from results.rules.act.limits import is_count_within, over_count
from results.rules.reduction import spans
from webapp.register.runs.charts.over_time import COLUMNS_MAX, asked_reads_per_s, has_minutes
from webapp.register.runs.histograms import bucket_rows
from webapp.register.runs.slices import ReadLimit, SliceTable
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


FEWEST_DRAWN = 2  # slices or minutes: one is no course of anything


def charts_of(run: Run, table: SliceTable | None, query: str) -> dict[str, Any]:
    """Return what the templates of the charts show; nothing of a run without slices."""
    if table is None or not table.rows:
        return {}
    told = _slices(run, table, query) | ({} if is_withheld(run) else _over_time(run, table, query))
    return told | {"not_drawn": _not_drawn(table, told)}


def _slices(run: Run, table: SliceTable, query: str) -> dict[str, Any]:
    """Return the panels of slices: of one slice the table tells all, and a panel without any bar tells nothing."""
    if table.total < FEWEST_DRAWN:
        return {"panels": []}
    address = {"slice_chart_address": reverse("run-slice-chart", args=[run.public_id]) + query}
    # A page holds the figures of the slices that it lists; of more than these the chart asks for its own.
    if table.total > len(table.rows):
        sentence = "Each bar is the worst of some neighbouring slices."
        return {"chart": None, "panels": table.limits, "chart_sentence": sentence} | address
    chart = chart_of([row.slice for row in table.rows], table.limits)
    # Of any share at all a panel stays: a reader's own limits, set in the browser, may make a bar of it.
    drawn = [any(panel["shares"]) for panel in chart["panels"]]
    unseen = [panel["threshold"] for panel, is_seen in zip(chart["panels"], drawn, strict=True) if not is_seen]
    return {
        "chart": chart | {"panels": list(compress(chart["panels"], drawn))},
        "panels": list(compress(table.limits, drawn)),
        "unseen": unseen,
        "chart_sentence": " ".join([chart["sentence"], *_unseen_sentence(unseen)]),
    } | address


def _unseen_sentence(thresholds: Sequence[str]) -> list[str]:
    """Say which panels are left out."""
    return [f"Left out, because no slice has any read over {' or '.join(thresholds)}."] if thresholds else []


def _not_drawn(table: SliceTable, told: Mapping[str, Any]) -> str:
    """Say in one line which charts a short run has none of, and why."""
    parts = []
    if table.total < FEWEST_DRAWN:
        parts.append("slow reads by slice, because there is one slice")
    elif not told["panels"]:
        parts.append(f"slow reads by slice, because none has any read over {' or '.join(told['unseen'])}")
    if "piece" in told and "over_time_address" not in told:
        parts.append(f"latency and rate over time, because the log has one {told['piece']} of them")
    return f"Not drawn: {'; '.join(parts)}." if parts else ""


def _over_time(run: Run, table: SliceTable, query: str) -> dict[str, Any]:
    """Return what the charts over time show; of a run of one piece the table of its buckets alone."""
    count, piece = (run.series.intervals_count, "minute") if has_minutes(run) else (table.total, "slice")
    buckets = {"piece": piece, "bucket_rows": bucket_rows(table.histogram, table.rows, table.limits)}
    if count < FEWEST_DRAWN:
        return buckets
    asked = asked_reads_per_s(run)
    return buckets | {
        "over_time_address": reverse("run-over-time", args=[run.public_id]) + query,
        "over_time_csv_address": reverse("run-over-time-csv", args=[run.public_id]) + query,
        "rates_csv_address": reverse("run-rates-csv", args=[run.public_id]) + query,
        "pieces_sentence": _pieces_sentence(count, piece),
        "asked_rate": units.decimal(asked),
        "rate_sentence": "" if asked else "The log does not say how many reads it was asked to make.",
    }


def _pieces_sentence(count: int, what: str) -> str:
    length = -(-count // COLUMNS_MAX)
    if length == 1:
        return f"Each column is one {what} of {units.count(count)}."
    return f"Each column stands for {length} {what}s of {units.count(count)}, a cell for their largest share."
