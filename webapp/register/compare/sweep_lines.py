"""The chart line of a YCSB run: the p99 of reads by throughput, over the sweep that the run belongs to."""

from collections.abc import Iterable
from typing import Any

from results.models import Run
from webapp.register.comparability.conditions import setup_of
from webapp.templatetags import units

COLUMN, LABEL = "p99_us", "p99"
SWEEP_TITLE = f"READ {LABEL} by throughput"

Point = tuple[float, float, Run]


def sweep_line(run: Run) -> dict[str, Any]:
    """Return the points of a run's sweep that have both figures, sorted by throughput."""
    points = sorted(_points(_sweep_of(run)), key=lambda point: (point[0], point[2].pk))
    return {
        "x": [rate for rate, _, _ in points],
        "y": [value for _, value, _ in points],
        "text": [_point_text(point) for point in points],
        "over": [False for _ in points],
    }


def _sweep_of(run: Run) -> Iterable[Run]:
    """Return the runs of a run's sweep; only the run itself if its output does not identify the sweep."""
    if not run.ycsb.sweep_key:
        return [run]
    same = Run.objects.standing().of_ycsb().filter(product=run.product_id, ycsb__sweep_key=run.ycsb.sweep_key)
    found = same.select_related("product", "reading__evidence").prefetch_related("ycsb__operations", "drives")
    own = setup_of(run)
    return [each for each in found if setup_of(each) == own]


def _points(runs: Iterable[Run]) -> Iterable[Point]:
    for run in runs:
        rate, value = run.ycsb.throughput_ops_per_s, _read_us(run)
        if rate is not None and value is not None:
            yield float(rate), value, run


def _read_us(run: Run) -> float | None:
    reads = (each for each in run.ycsb.operations.all() if each.name == "READ" and each.outcome == "ok")
    return next((getattr(each, COLUMN) for each in reads), None)


def _point_text(point: Point) -> str:
    rate, value, run = point
    threads = units.counted(run.ycsb.threads_count, "thread")
    return f"{threads}: {rate:,.0f} ops/s, {LABEL} {value:,.0f} us, run {run.public_id}"
