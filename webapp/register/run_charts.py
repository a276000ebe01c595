"""What a run's page says of its charts before they are drawn: addresses, captions, and the table behind each."""

from typing import Any

from django.urls import reverse

from results.models import Run
from results.seconds import is_withheld
from webapp.register.buckets import bucket_rows
from webapp.register.over_time import COLUMNS_MAX, asked_reads_per_s
from webapp.register.run_intervals import has_minutes
from webapp.register.slice_chart import chart_of
from webapp.register.slices import SliceTable
from webapp.templatetags import units


def charts_of(run: Run, table: SliceTable | None, query: str) -> dict[str, Any]:
    """Return what the templates of the charts show; nothing of a run without slices."""
    if table is None or not table.rows:
        return {}
    # A page holds the figures of the slices that it lists; of more than these the chart asks for its own.
    whole = table.total == len(table.rows)
    chart = chart_of([row.slice for row in table.rows], table.limits) if whole else None
    return {
        "chart": chart,
        "chart_sentence": chart["sentence"] if chart else "Each bar is the worst of some neighbouring slices.",
        "slice_chart_address": reverse("run-slice-chart", args=[run.public_id]) + query,
    } | ({} if is_withheld(run) else _over_time(run, table, query))


def _over_time(run: Run, table: SliceTable, query: str) -> dict[str, Any]:
    asked = asked_reads_per_s(run)
    return {
        "over_time_address": reverse("run-over-time", args=[run.public_id]) + query,
        "over_time_csv_address": reverse("run-over-time-csv", args=[run.public_id]) + query,
        "rates_csv_address": reverse("run-rates-csv", args=[run.public_id]) + query,
        "piece": "minute" if has_minutes(run) else "slice",
        "bucket_rows": bucket_rows(table.histogram, table.rows, table.limits),
        "pieces_sentence": _pieces_sentence(run, table),
        "asked_rate": units.decimal(asked),
        "rate_sentence": "" if asked else "The log does not say how many reads it was asked to make.",
    }


def _pieces_sentence(run: Run, table: SliceTable) -> str:
    count, what = (run.series.intervals_count, "minute") if has_minutes(run) else (table.total, "slice")
    length = -(-count // COLUMNS_MAX)
    if length == 1:
        return f"Each column is one {what} of {units.count(count)}."
    return f"Each column stands for {length} {what}s of {units.count(count)}, a cell for their largest share."
