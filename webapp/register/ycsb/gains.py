"""Gains of one drive over another: numbers as text, and tables by thread count and by metric."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from results.rules.act.loads import printed_decimal
from results.rules.ycsb import sweeps
from results.rules.ycsb.gains import Better
from results.rules.ycsb.statements import printed
from results.rules.ycsb.sweeps import Point
from webapp.templatetags import units

WHOLE_FROM_US = 1000  # a time of 1,000 us or more needs no decimals


def percent(ratio: Fraction | None) -> str:
    """Return a gain in percent with its sign and one decimal: +43.9, -0.4, 0.0."""
    if ratio is None:
        return ""
    text = printed(ratio * 100, 1)
    text = "0.0" if text in {"0", "-0.0"} else text
    return f"+{text}" if ratio > 0 and text != "0.0" else text


def rate(ops_per_s: Fraction | None) -> str:
    """Return operations per second as a whole number with thousands separated."""
    return "" if ops_per_s is None else f"{round(ops_per_s):,d}"


def time_us(value: Fraction | None) -> str:
    """Return a time in us: one decimal below 1,000 us, none above."""
    if value is None:
        return ""
    return f"{round(value):,d}" if value >= WHOLE_FROM_US else printed_decimal(value, 1)


def digits(value: Fraction) -> str:
    """Return a value with its digits, at most six of them after the point, and thousands separated: 1,087,472, 0.65."""
    return units.decimal(round(Decimal(value.numerator) / Decimal(value.denominator), 6))


READ_FROM_CHART = "read from a chart"
CHART_ACCURACY = "accurate to one digit: possible range"


def span(ends: Sequence[Fraction], unit: str) -> str:
    """Return the possible range of a value that was read from a chart: 10.3 to 18.8 x."""
    low, high = printed_decimal(min(ends), 1), printed_decimal(max(ends), 1)
    return f"{low} to {high} {unit}".rstrip()


def times(ratio: Fraction | None) -> str:
    """Return a ratio with one decimal: 13.8x."""
    return "" if ratio is None else f"{printed_decimal(ratio, 1)}x"


DIRECTIONS = {Better.HIGHER: "higher is better", Better.LOWER: "lower is better", None: "neither direction is better"}
Sweep = Mapping[int, Fraction]


@dataclass(frozen=True)
class MetricRow:
    """One metric of two drives as printed, with the gain."""

    metric: str
    unit: str
    direction: str
    drive: str
    base: str
    gain: str
    remark: str = ""


def improvement_table(
    titles: tuple[str, str], sides: tuple[str, str], sweep: Sweep, base: Sweep, remarks: Sequence[object] = ()
) -> dict[str, Any]:
    """Return the table of one workload; `titles` are its letter and its operations, `sides` the names of the drives."""
    points, base_points = ([Point(*point) for point in side.items()] for side in (sweep, base))
    peak, base_peak = sweeps.peak(points), sweeps.peak(base_points)
    gains = sweeps.improvements(sweep, base)
    return {
        "title": titles[0],
        "note": titles[1],
        "drive": sides[0],
        "base": sides[1],
        "rows": [
            {
                "threads": threads,
                "base": rate(base.get(threads)),
                "value": rate(sweep.get(threads)),
                "gain": percent(gains.get(threads)),
                "is_base_peak": base_peak is not None and threads == base_peak.threads,
                "is_peak": peak is not None and threads == peak.threads,
            }
            for threads in sorted(sweep.keys() | base.keys())
        ],
        "base_peak": rate(base_peak.ops_per_s if base_peak else None),
        "peak": rate(peak.ops_per_s if peak else None),
        "peak_gain": percent(sweeps.peak_improvement(points, base_points)),
        "mean_gain": percent(sweeps.mean_improvement(sweep, base)),
        "remarks": remarks,
    }
