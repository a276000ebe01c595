"""What a run's page says of its charts before they are drawn: addresses, captions, and the table behind each."""

from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any

from django.urls import reverse

from results.access.intervals import is_withheld
from results.models import Run
from webapp.register.runs.charts.intervals import has_minutes
from webapp.register.runs.charts.over_time import COLUMNS_MAX, asked_reads_per_s
from webapp.register.runs.charts.slices import chart_of
from webapp.register.runs.histograms.buckets import bucket_rows
from webapp.register.runs.slices.shares import SliceTable
from webapp.templatetags import units

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
