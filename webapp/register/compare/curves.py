"""The charts of runs that compare: shares by load and by time, and sweeps of YCSB; lines are named by letter."""

from collections.abc import Iterable, Sequence
from string import ascii_uppercase
from typing import Any

from results.access.intervals import histogram_slices
from results.models import YCSB, Run
from results.rules.act.limits import Limit, is_count_within, over_count
from results.rules.reduction import place_of_greatest, spans
from webapp.register.comparability.comparable import RunConditions, are_comparable
from webapp.register.comparability.conditions import setup_of
from webapp.register.compare.figures import share_value
from webapp.register.runs.slices import ReadLimit, read_limits
from webapp.templatetags import units

POINTS_MAX = 144
SLICES_MAX = 10_000  # of one run; the run's own page draws more

Chart = dict[str, Any]
# For each slice its middle in hours, and for each limit its share (None without operations) and whether it is over.
Timed = list[tuple[float, list[tuple[float | None, bool]]]]


def charts_of(runs: Sequence[RunConditions], others: Sequence[RunConditions], limits: Sequence[Limit]) -> list[Chart]:
    """Return the charts of runs that all compare; a chart without a line of two points is left out."""
    if runs[0].run.workload == YCSB:
        lines = [sweep_line(each.run) for each in runs]
        sweeps = _chart("READ p99 by throughput", "us", None, "ops/s", lines)
        return [sweeps] if any(line["x"] for line in lines) else []
    by_load = [_by_load(runs, others, limit) for limit in limits]
    by_time = _by_time([each.run for each in runs], limits)
    return [chart for chart in (*by_load, *by_time) if chart]


def _by_load(runs: Sequence[RunConditions], others: Sequence[RunConditions], limit: Limit) -> Chart | None:
    """Return the chart by speed: for each drive all runs that compare with the one shown."""
    lines = [_load_line(each, others, limit) for each in runs]
    if max(len(line["x"]) for line in lines) < 2:
        return None
    title = f"Over {units.threshold(limit.threshold_us)} by load"
    return _chart(title, "%", limit, "tps", lines)


def _load_line(shown: RunConditions, others: Sequence[RunConditions], limit: Limit) -> Chart:
    own = [each for each in others if each.run.product_id == shown.run.product_id and each.run.pk != shown.run.pk]
    same = [shown, *(each for each in own if are_comparable(each, shown))]
    known = [(each.run, value) for each in same if each.run.tps and (value := share_value(each.run, limit)).nearness]
    ordered = sorted(known, key=lambda point: (point[0].tps, point[0].pk))
    return {
        "x": [float(run.tps or 0) for run, _ in ordered],
        "y": [float(value.share_pct or 0) for _, value in ordered],
        "text": [f"{units.decimal(run.tps)} tps: {value.text} %, run {run.public_id}" for run, value in ordered],
        "over": [value.is_over for _, value in ordered],
    }


def _by_time(runs: Sequence[Run], limits: Sequence[Limit]) -> list[Chart]:
    """Return the charts by time if all runs have slices; each point is the worst of some neighbouring slices."""
    timed = [_slices_of(run, limits) for run in runs]
    if not all(timed):
        return []
    charts = []
    for place, limit in enumerate(limits):
        lines = [_time_line(run, slices, place) for run, slices in zip(runs, timed, strict=True)]
        if any(line["x"] for line in lines):  # slices without reads have no share
            title = f"Over {units.threshold(limit.threshold_us)} by time"
            charts.append(_chart(title, "%", limit, "hours since the start", lines))
    return charts


def _slices_of(run: Run, limits: Sequence[Limit]) -> Timed:
    """Return for each slice its middle in hours and its shares over the limits, from the compared histogram."""
    ordinals = run.facts.get("compared_ordinal"), run.facts.get("judged_ordinal"), 0
    ordinal = next(ordinal for ordinal in ordinals if ordinal is not None)
    histogram = next((each for each in run.histograms.all() if each.ordinal == ordinal), None)
    if histogram is None or run.slices.count() > SLICES_MAX:
        return []
    read = read_limits(histogram, next(iter(run.verdicts.all()), None), limits)
    return [
        ((each.start_s + each.end_s) / 7200, [_timed(each.counts, each.ops_count, limit) for limit in read])
        for each in histogram_slices(run.slices.of_histogram(histogram.ordinal))
    ]


def _timed(counts: Sequence[int], ops_count: int, limit: ReadLimit) -> tuple[float | None, bool]:
    over = over_count(counts, ops_count, limit.first_bucket)
    share = over * 100 / ops_count if ops_count else None
    return share, not is_count_within(over, ops_count, limit.limit.limit_pct)


def _time_line(run: Run, slices: Timed, place: int) -> Chart:
    shares = [each[1][place][0] for each in slices]
    worst = [at for span in spans(len(slices), POINTS_MAX) if (at := place_of_greatest(shares, span)) is not None]
    return {
        "x": [round(slices[at][0], 4) for at in worst],
        "y": [float(f"{shares[at]:.4g}") for at in worst],
        "text": [f"hour {slices[at][0]:.2f}: {shares[at]:.3g} %, run {run.public_id}" for at in worst],
        "over": [slices[at][1][place][1] for at in worst],
    }


def _chart(title: str, unit: str, limit: Limit | None, x_title: str, lines: list[Chart]) -> Chart:
    named = [{"name": letter} | line for letter, line in zip(ascii_uppercase, lines, strict=False)]
    chart = {"title": title, "unit": unit, "xTitle": x_title, "lines": named}
    if limit is None:
        return chart
    limit_text = units.decimal(limit.limit_pct)
    return chart | {"limit": float(limit.limit_pct), "limitText": limit_text, "thresholdUs": limit.threshold_us}


def sweep_line(run: Run) -> dict[str, Any]:
    """Return the points of a run's sweep that have both figures, sorted by throughput."""
    points = []
    for each in _sweep_of(run):
        reads = (one for one in each.ycsb.operations.all() if one.name == "READ" and one.outcome == "ok")
        rate, p99_us = each.ycsb.throughput_ops_per_s, next((one.p99_us for one in reads), None)
        if rate is not None and p99_us is not None:
            points.append((float(rate), p99_us, each))
    points.sort(key=lambda point: (point[0], point[2].pk))
    return {
        "x": [rate for rate, _, _ in points],
        "y": [p99_us for _, p99_us, _ in points],
        "text": [
            f"{units.counted(each.ycsb.threads_count, 'thread')}: {rate:,.0f} ops/s, p99 {p99_us:,.0f} us, "
            f"run {each.public_id}"
            for rate, p99_us, each in points
        ],
        "over": [False] * len(points),
    }


def _sweep_of(run: Run) -> Iterable[Run]:
    """Return the runs of a run's sweep; only the run itself if its output does not identify the sweep."""
    if not run.ycsb.sweep_key:
        return [run]
    same = Run.objects.listed().of_ycsb().filter(product=run.product_id, ycsb__sweep_key=run.ycsb.sweep_key)
    found = same.select_related("product", "reading__evidence").prefetch_related("ycsb__operations", "drives")
    own = setup_of(run)
    return [each for each in found if setup_of(each) == own]
