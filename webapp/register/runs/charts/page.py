"""Charts of the run page: the slice chart with its data, and the addresses and captions of all charts."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import compress, islice
from typing import Any

from results.access.intervals import HistogramSlice
from results.access.withholding import is_withheld
from results.models import Run
from results.rules.act.limits import is_count_within, over_count
from results.rules.reduction import spans
from webapp.register.runs.charts.over_time import COLUMNS_MAX, has_minutes, requested_reads_per_s
from webapp.register.runs.histograms import bucket_rows
from webapp.register.runs.slices import ReadLimit, SliceTable
from webapp.templatetags import units

BARS_MAX = 288


Bar = dict[str, Any]  # the worst of a few adjacent slices under one limit, as drawn


def slice_chart(slices: Iterable[HistogramSlice], count: int, limits: Sequence[ReadLimit]) -> dict[str, Any]:
    """Return the panels: a bar for each of `count` slices, or for a few adjacent slices the one with the largest share.

    Only the slices of one bar are in memory at a time.
    """
    length, remaining = len(next(iter(spans(count, BARS_MAX)), "1")), iter(slices)
    groups = [
        ((same[0].number + same[-1].number) / 2, [_worst(same, limit) for limit in limits])
        for same in iter(lambda: list(islice(remaining, length)), [])
    ]
    return {
        "middles": [middle for middle, _ in groups],
        "sentence": _sentence(count, length),
        "panels": [_panel([bars[place] for _, bars in groups], limit) for place, limit in enumerate(limits)],
    }


def _sentence(count: int, length: int) -> str:
    """Return the caption that says what a bar shows."""
    if length == 1:
        return "Each bar is one slice."
    return f"Each bar is the worst of {length} adjacent slices; the run has {units.count(count)} slices."


def _worst(slices: Sequence[HistogramSlice], limit: ReadLimit) -> Bar | None:
    """Return the slice with the largest share; the first one if several are equal."""
    counted = [each for each in slices if each.ops_count]
    if not counted:
        return None
    overs = [over_count(each.counts, each.ops_count, limit.first_bucket) for each in counted]
    shares = [over * 100 / each.ops_count for over, each in zip(overs, counted, strict=True)]
    place = max(range(len(counted)), key=shares.__getitem__)
    worst = counted[place]
    is_over = not is_count_within(overs[place], worst.ops_count, limit.limit.limit_pct)
    drawn = float(f"{shares[place]:.4g}")  # enough digits for a drawing and its tooltip
    span = f"slice {worst.number:,d}, {units.span(worst.start_s, worst.end_s)}"
    return {"share_pct": drawn, "span": span, "is_over": is_over}


def _panel(bars: Sequence[Bar | None], limit: ReadLimit) -> dict[str, Any]:
    return {
        "threshold": units.threshold(limit.limit.threshold_us),
        "thresholdUs": limit.limit.threshold_us,
        "limit": float(limit.limit.limit_pct),
        "limitText": units.decimal(limit.limit.limit_pct),
        "shares": [bar["share_pct"] if bar else None for bar in bars],
        "spans": [bar["span"] if bar else "" for bar in bars],
        "over": [bar is not None and bar["is_over"] for bar in bars],
    }


FEWEST_DRAWN = 2  # slices or minutes: a single one has no course over time


def charts_of(run: Run, table: SliceTable | None) -> dict[str, Any]:
    """Return the context of the chart templates; empty for a run without slices."""
    if table is None or not table.rows:
        return {}
    context = _slices(table) | ({} if is_withheld(run) else _over_time(run, table))
    return context | {"not_drawn": _not_drawn(table, context)}


def _slices(table: SliceTable) -> dict[str, Any]:
    """Return the panels of slices. A single slice needs no chart, and a panel without any bar is left out."""
    if table.total < FEWEST_DRAWN:
        return {"panels": []}
    # The page has the data of the slices that it lists. If there are more, the script fetches the chart's data.
    if table.total > len(table.rows):
        sentence = "Each bar is the worst of a few adjacent slices."
        return {"chart": None, "panels": table.limits, "chart_sentence": sentence}
    chart = slice_chart([row.slice for row in table.rows], len(table.rows), table.limits)
    # A panel with any share stays: limits that a reader sets in the browser may turn the share into a bar.
    drawn = [any(panel["shares"]) for panel in chart["panels"]]
    unseen = [panel["threshold"] for panel, is_seen in zip(chart["panels"], drawn, strict=True) if not is_seen]
    unseen_note = f" Not shown: {' and '.join(unseen)}, because no slice has a slower read." if unseen else ""
    return {
        "chart": chart | {"panels": list(compress(chart["panels"], drawn))},
        "panels": list(compress(table.limits, drawn)),
        "unseen": unseen,
        "chart_sentence": chart["sentence"] + unseen_note,
    }


def _not_drawn(table: SliceTable, context: Mapping[str, Any]) -> str:
    """Return one line that names the missing charts of a short run, with the reasons."""
    parts = []
    if table.total < FEWEST_DRAWN:
        parts.append("slow reads by slice (there is only one slice)")
    elif not context["panels"]:
        parts.append(f"slow reads by slice (no slice has a read over {' or '.join(context['unseen'])})")
    if "piece" in context and "pieces_sentence" not in context:
        parts.append(f"latency and rate over time (the log has only one {context['piece']})")
    return f"Charts not shown: {'; '.join(parts)}." if parts else ""


def _over_time(run: Run, table: SliceTable) -> dict[str, Any]:
    """Return the context of the charts over time; for a run of one piece only the table of buckets."""
    count, piece = (run.series.intervals_count, "minute") if has_minutes(run) else (table.total, "slice")
    buckets = {"piece": piece, "bucket_rows": bucket_rows(table.histogram, table.rows, table.limits)}
    if count < FEWEST_DRAWN:
        return buckets
    requested = requested_reads_per_s(run)
    return buckets | {
        "pieces_sentence": _pieces_sentence(count, piece),
        "requested_rate": units.decimal(requested),
        "rate_sentence": "" if requested else "The log does not report the requested read rate.",
    }


def _pieces_sentence(count: int, what: str) -> str:
    length = -(-count // COLUMNS_MAX)
    if length == 1:
        return f"Each column is one {what}; the run has {units.count(count)} {what}s."
    return (
        f"Each column covers {length} of {units.count(count)} {what}s; a cell shows the largest share of any of them."
    )
