"""Published single points at a fixed throughput or a fixed latency, with the comparison of two drives."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Any

from results.rules.ycsb.gains import Better, gain, increase, times_less
from results.rules.ycsb.statements import Formula, Taken, ends_of, read_off_span
from webapp.register.ycsb.curves import Curve, Dot, FixedLine, Panel
from webapp.register.ycsb.gains import CHART_ACCURACY, READ_FROM_CHART, digits, percent, span, times
from webapp.register.ycsb.publications import Figure, Figures, metric_name

US_PER_MS = 1000
Pair = tuple[Figure, Figure]
Number = Callable[[Figure], Fraction]


@dataclass(frozen=True)
class FixedRow:
    """Two drives at one fixed level: the level, the value of each drive, and the comparison."""

    workload: str
    level: str
    metric: str
    drive: str
    base: str
    comparison: str
    remark: str


def fixed_points(figures: Figures) -> dict[str, Any]:
    """Return the points of two drives at the same throughput, or at the same latency, with their charts."""
    stated = [each for each in figures.all if each.latency_us is not None and each.row.at_ops_per_s is not None]
    at_throughput = list(_pairs(figures, stated, _rate))
    at_latency = list(_pairs(figures, stated, _us))
    return {
        "throughput_rows": [_throughput_row(pair) for pair in at_throughput],
        "latency_rows": [_latency_row(pair) for pair in at_latency],
        "panels": _panels(stated, at_throughput, at_latency),
    }


def _pairs(figures: Figures, stated: Sequence[Figure], level: Number) -> Iterator[Pair]:
    """Yield pairs of figures at one level: the drive of the publishing vendor with each of the others."""

    def key(figure: Figure) -> tuple[str, str, Fraction]:
        return *_key(figure), level(figure)

    for _, group in groupby(sorted(stated, key=key), key=key):
        by_drive = {each.row.model: each for each in group}
        if len(by_drive) > 1:
            first, *others = (by_drive[drive] for drive in figures.drives if drive in by_drive)
            yield from ((first, other) for other in others)


def _throughput_row(pair: Pair) -> FixedRow:
    drive, base = pair
    less = times_less(_us(drive), _us(base))
    lower = percent(gain(_us(drive), _us(base), Better.LOWER)).lstrip("+")
    remark = _remark(pair, _span(times_less, _us, pair), "x")
    return _row(pair, _ops(drive), (drive.printed, base.printed), f"{times(less)} lower ({lower} % less)", remark)


def _latency_row(pair: Pair) -> FixedRow:
    drive, base = pair
    gained = f"{percent(increase(_rate(drive), _rate(base)))} %"
    remark = _remark(pair, [end * 100 for end in _span(increase, _rate, pair)], "%")
    return _row(pair, drive.printed, (_ops(drive), _ops(base)), gained, remark)


def _row(pair: Pair, level: str, values: tuple[str, str], comparison: str, remark: str) -> FixedRow:
    row = pair[0].row
    return FixedRow(row.workload, level, metric_name(row.metric), *values, comparison, remark)


def _ops(figure: Figure) -> str:
    return f"{figure.row.at_ops_per_s:,d} ops/s"


def _us(figure: Figure) -> Fraction:
    return figure.latency_us or Fraction(0)


def _rate(figure: Figure) -> Fraction:
    return Fraction(figure.row.at_ops_per_s or 0)


def _span(formula: Formula, number: Number, pair: Pair) -> list[Fraction]:
    """Return the lowest and highest possible result for values read from charts; empty if it is exact."""
    ends = ends_of(formula, *(Taken(number(each), each.is_read_off) for each in pair))
    known = [end for end in ends if end is not None]
    return known if len(known) == len(ends) else []


def _remark(pair: Pair, ends: Sequence[Fraction], unit: str) -> str:
    """Return the exactness of a comparison: that of its figures, and the possible span for values read from charts."""
    remarks = dict.fromkeys(each.remark for each in pair if each.remark)
    return ", ".join([*remarks, *([f"{CHART_ACCURACY} {span(ends, unit)}"] if ends else [])])


def _panels(stated: Sequence[Figure], at_throughput: Sequence[Pair], at_latency: Sequence[Pair]) -> list[Panel]:
    lines = [(first, FixedLine("x", _rate(first), _ops(first))) for first, _ in at_throughput]
    lines += [(first, FixedLine("y", _us(first) / US_PER_MS, first.shown)) for first, _ in at_latency]
    keys = dict.fromkeys(_key(first) for first, _ in lines)
    fixed = [figure for pair in at_latency for figure in pair]  # their throughputs were read from the chart
    return [_panel(key, stated, [line for first, line in lines if _key(first) == key], fixed) for key in keys]


def _key(figure: Figure) -> tuple[str, str]:
    return figure.row.workload, figure.row.metric


def _panel(
    key: tuple[str, str], stated: Sequence[Figure], lines: Sequence[FixedLine], fixed: Sequence[Figure]
) -> Panel:
    by_drive: dict[str, list[Dot]] = {}
    for each in stated:
        if _key(each) == key:
            by_drive.setdefault(each.row.model, []).append(_dot(each, is_latency_fixed=each in fixed))
    curves = [Curve(drive, dots, is_joined=False) for drive, dots in by_drive.items()]
    workload, metric = key
    return Panel(f"Workload {workload}", f"{metric_name(metric)}, ms", "ops/s", "ms", curves, lines)


def _dot(figure: Figure, *, is_latency_fixed: bool) -> Dot:
    """Return the point of a figure. What was read from a chart has the range that it may be in, at the fixed level."""
    ops_per_s, us = _rate(figure), _us(figure)
    words = f"{figure.row.model}: {figure.shown} at {_ops(figure)}"
    if not figure.is_read_off:
        return Dot(ops_per_s, us / US_PER_MS, words)
    low, high = read_off_span(ops_per_s if is_latency_fixed else figure.exact)
    unit = "ops/s" if is_latency_fixed else figure.row.unit
    words += f", {READ_FROM_CHART}: {digits(low)} to {digits(high)} {unit}"
    if is_latency_fixed:
        return Dot(ops_per_s, us / US_PER_MS, words, x_span=(low, high))
    ends = [end / US_PER_MS for end in read_off_span(us)]
    return Dot(ops_per_s, us / US_PER_MS, words, y_span=(ends[0], ends[1]))
