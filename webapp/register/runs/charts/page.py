"""Charts of the run page: the data of the slice chart, and the pictures and captions of all charts."""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress, islice
from typing import Any

from results.access.intervals import HistogramSlice, SeriesDamagedError, each_slice
from results.access.withholding import is_withheld
from results.models import Run
from results.rules.act.limits import is_count_within, over_count
from results.rules.reduction import spans
from webapp.register.runs.charts.bands import rate_drawing, telemetry_drawings
from webapp.register.runs.charts.distribution import SHADE_EDGES_PCT, distribution, heat_map, shade_key
from webapp.register.runs.charts.over_time import (
    COLUMNS_MAX,
    has_minutes,
    over_time,
    requested_reads_per_s,
    with_interval_rates,
)
from webapp.register.runs.charts.slice_bars import slice_drawing
from webapp.register.runs.charts.slice_marks import SliceMarks, slice_marks
from webapp.register.runs.charts.telemetry import NoCharts, PageIntervals, page_intervals
from webapp.register.runs.histograms import bucket_rows
from webapp.register.runs.slices import ReadLimit, SliceTable, share_text, upper_counts
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
    _, at_most = upper_counts(worst.counts, worst.ops_count, limit)
    return {
        "share_pct": _drawn(shares[place]),
        "most_pct": _drawn(at_most * 100 / worst.ops_count),
        "span": f"slice {worst.number:,d}, {units.span(worst.start_s, worst.end_s)}",
        "is_over": is_over,
        "may_be_over": not is_over and not is_count_within(at_most, worst.ops_count, limit.limit.limit_pct),
        "text": _exact_text(overs[place], at_most, worst.ops_count, limit),
    }


def _drawn(share_pct: float) -> float:
    """Return a share with enough digits for a drawing."""
    return float(f"{share_pct:.4g}")


def _exact_text(over: int, at_most: int, ops_count: int, limit: ReadLimit) -> str:
    """Return a share as the table of slices shows it, with its unit and its counts; a range with both ends."""
    ends = dict.fromkeys((over, at_most))
    shares = " to ".join(share_text(count, ops_count, limit.limit.limit_pct) for count in ends)
    return f"{shares} % ({' to '.join(f'{count:,d}' for count in ends)} of {ops_count:,d} reads)"


def _panel(bars: Sequence[Bar | None], limit: ReadLimit) -> dict[str, Any]:
    return {
        "threshold": units.threshold(limit.limit.threshold_us),
        "readAt": units.threshold(limit.read_at_us),
        "thresholdUs": limit.limit.threshold_us,
        "limit": float(limit.limit.limit_pct),
        "limitText": units.decimal(limit.limit.limit_pct),
        "shares": [bar["share_pct"] if bar else None for bar in bars],
        "most": [bar["most_pct"] if bar else None for bar in bars],
        "spans": [bar["span"] if bar else "" for bar in bars],
        "texts": [bar["text"] if bar else "no operations" for bar in bars],
        "over": [bar is not None and bar["is_over"] for bar in bars],
        "mayBeOver": [bar is not None and bar["may_be_over"] for bar in bars],
    }


FEWEST_DRAWN = 2  # slices or minutes: a single one has no course over time
SLICES_MAX = 20_000  # that a page counts for its picture; "Explore" draws more
NO_CHARTS_SENTENCES: Mapping[NoCharts, str] = {
    NoCharts.NO_FILE: "",
    NoCharts.TOO_LARGE: (
        "The side file has more than 512 MiB. The register draws no charts of such a file, because parsing it takes "
        "more than 4 seconds of a processor. The section During the run has the values of the whole run."
    ),
    NoCharts.UNREADABLE: (
        "The register cannot read its copy of the side file: the bytes are missing or damaged. The section During the "
        "run has the values of the whole run."
    ),
    NoCharts.BUSY: (
        "The server is busy: it reads this side file, or other files, for their charts. Load the page again in a few "
        "seconds."
    ),
    NoCharts.NO_INTERVAL: "The side file has no interval with a value that can be drawn.",
}


def charts_of(run: Run, table: SliceTable | None) -> dict[str, Any]:
    """Return the context of the chart templates; a run without slices has only the telemetry of its side file."""
    found = page_intervals(run)
    intervals = found if isinstance(found, PageIntervals) else None
    slices = None if is_withheld(run) else slice_marks(table)
    pictures = [] if intervals is None else telemetry_drawings(intervals.telemetry, slices)
    reason = found if isinstance(found, NoCharts) else None if pictures else NoCharts.NO_INTERVAL
    telemetry: dict[str, Any] = {
        "telemetry_charts": pictures,
        "no_telemetry_reason": reason,
        "no_telemetry_sentence": NO_CHARTS_SENTENCES[reason] if reason else "",
        "has_telemetry_files": reason is not NoCharts.TOO_LARGE,
        "slice_marks": json.dumps(slices.document()) if slices else "",
        "slices_sentence": _slices_sentence(slices),
    }
    if table is None or not table.rows:
        return telemetry
    context = _slices(run, table) | ({} if is_withheld(run) else _over_time(run, table, intervals, slices))
    return telemetry | context | {"not_drawn": _not_drawn(table, context)}


def _slices(run: Run, table: SliceTable) -> dict[str, Any]:
    """Return the panels of slices. A single slice needs no chart, and a panel without any bar is left out."""
    if table.total < FEWEST_DRAWN:
        return {"panels": []}
    if table.total > SLICES_MAX:
        sentence = (
            "The run has too many slices for a picture here. Explore draws the worst of each few adjacent slices."
        )
        return {"chart": None, "panels": [(limit, "") for limit in table.limits], "chart_sentence": sentence}
    is_listed = table.total == len(table.rows)
    own = run.slices.of_histogram(table.histogram.ordinal)
    slices = [row.slice for row in table.rows] if is_listed else each_slice(own)
    chart = slice_chart(slices, table.total, table.limits)
    # A panel with any share stays: limits that a reader sets in the browser may turn the share into a bar.
    # The data of more slices than the page lists is not in the page: the script fetches it with all its panels.
    # So does a panel in which a slice may be over its limit.
    drawn = [not is_listed or any(panel["shares"]) or any(panel["mayBeOver"]) for panel in chart["panels"]]
    unseen = [limit for limit, is_seen in zip(table.limits, drawn, strict=True) if not is_seen]
    names = " and ".join(limit.threshold for limit in unseen)
    unseen_note = f" Not shown: {names}, because no slice has {_no_read(unseen)}." if unseen else ""
    seen = list(compress(chart["panels"], drawn))
    pictures = [slice_drawing(chart["middles"], panel) for panel in seen]
    return {
        "chart": chart | {"panels": seen} if is_listed else None,
        "panels": list(zip(compress(table.limits, drawn), pictures, strict=True)),
        "unseen": unseen,
        "chart_sentence": chart["sentence"] + unseen_note,
        "range_sentence": range_sentence(seen),
    }


def _no_read(unseen: Sequence[ReadLimit]) -> str:
    """Return which reads no slice has: those from the lowest of the bucket edges at which the log is read."""
    lowest = min(unseen, key=lambda limit: limit.read_at_us)
    reads = f"a read of {units.threshold(lowest.read_at_us)} or longer"
    return reads if lowest.is_exact else f"{reads}, the bucket edge at which the log is read"


def range_sentence(panels: Iterable[Mapping[str, Any]]) -> str:
    """Return what the open part of a bar means; empty if the log has an edge at each threshold that is drawn."""
    ranged = [panel["threshold"] for panel in panels if panel["most"] != panel["shares"]]
    if not ranged:
        return ""
    return (
        "The open part of a bar reaches to the largest share that the log allows, because its buckets do not begin at "
        f"{' and '.join(ranged)}."
    )


def _not_drawn(table: SliceTable, context: Mapping[str, Any]) -> str:
    """Return one line that names the missing charts of a short run, with the reasons."""
    parts = []
    if table.total < FEWEST_DRAWN:
        parts.append("slow reads by slice (there is only one slice)")
    elif not context["panels"]:
        parts.append(f"slow reads by slice (no slice has {_no_read(context['unseen'])})")
    if "piece" in context and "pieces_sentence" not in context:
        parts.append(f"latency and rate over time (the log has only one {context['piece']})")
    return f"Charts not shown: {'; '.join(parts)}." if parts else ""


def _slices_sentence(marks: SliceMarks | None) -> str:
    """Return what the marks of slices in the charts over time mean."""
    if marks is None:
        return ""
    lines = "Thin vertical lines are the ends of slices." if marks.edges_s else ""
    worst = "The framed slice has the largest share of slow reads compared with its limit." if marks.worst else ""
    return f" {lines} {worst}".rstrip()


def _over_time(
    run: Run, table: SliceTable, intervals: PageIntervals | None, slices: SliceMarks | None
) -> dict[str, Any]:
    """Return the context of the charts over time; for a run of one piece only the distribution of its reads."""
    count, piece = (run.series.intervals_count, "minute") if has_minutes(run) else (table.total, "slice")
    rows = bucket_rows(table.histogram, table.rows, table.limits)
    buckets = {
        "piece": piece,
        "bucket_rows": rows,
        "distribution": distribution(table.histogram, rows, table.limits) if rows else "",
    }
    if count < FEWEST_DRAWN:
        return buckets
    requested = requested_reads_per_s(run)
    return (
        buckets
        | {
            "pieces_sentence": _pieces_sentence(count, piece),
            "requested_rate": units.decimal(requested),
            "rate_sentence": _rate_sentence(piece, has_intervals=intervals is not None, is_requested=bool(requested)),
        }
        | _pictures(run, table, intervals, slices)
    )


def _pictures(
    run: Run, table: SliceTable, intervals: PageIntervals | None, slices: SliceMarks | None
) -> dict[str, Any]:
    """Return the heat map and the achieved rate, or why they cannot be drawn."""
    try:
        data = over_time(run, table.histogram)
    except SeriesDamagedError as error:
        return {"damaged_sentence": f"The per-minute counts of this run cannot be read: {error}."}
    rates = data if intervals is None else with_interval_rates(data, intervals)
    return {
        "heat_map": heat_map(table.histogram, data, table.limits, slices),
        "shade_key": shade_key(),
        "shade_edges": " ".join(f"{edge:g}" for edge in SHADE_EDGES_PCT),
        "rate": rate_drawing(rates.columns, requested_reads_per_s(run), slices),
    }


def _rate_sentence(piece: str, *, has_intervals: bool, is_requested: bool) -> str:
    unknown = "" if is_requested else "The log does not report the requested read rate. "
    if has_intervals:
        return f"{unknown}Each bar reaches from the lowest to the highest rate of the report intervals in it."
    return (
        f"{unknown}Each bar reaches from the lowest to the highest rate of the {piece}s in it. A shorter stall shows "
        "only in the findings."
    )


def _pieces_sentence(count: int, what: str) -> str:
    length = -(-count // COLUMNS_MAX)
    if length == 1:
        return f"Each column is one {what}; the run has {units.count(count)} {what}s."
    return (
        f"Each column covers {length} of {units.count(count)} {what}s; a cell shows the largest share of any of them."
    )
