"""Pictures of quantities over a run's time: the achieved rate, and the telemetry of the host.

Each point is a bar from the minimum to the maximum of its interval, so that one bad second of a day stays visible.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal

from django.utils.safestring import SafeString

from webapp.register.runs.charts.drawing import (
    NOTHING,
    Bar,
    Linear,
    Tick,
    band,
    drawing,
    joined,
    level,
    time_ticks,
)
from webapp.register.runs.charts.over_time import Column
from webapp.register.runs.charts.slice_marks import SliceMarks, draw_slices
from webapp.register.runs.charts.telemetry import Quantity, Telemetry
from webapp.templatetags import units

RATE_PCT = (98.0, 101.0)  # of the requested rate: the last percent shows whether it was sustained
AIR = 0.05  # above and below the bars, of their extent
TICKS = 5


def rate_drawing(columns: Sequence[Column], requested: Decimal | None, slices: SliceMarks | None = None) -> SafeString:
    """Return the picture of the achieved rate: in percent of the requested rate, if the log reports it."""
    known = [(each.least_per_s, each.greatest_per_s) for each in columns]
    ends = [end for pair in known for end in pair if end is not None]
    part = 100 / float(requested) if requested else 1.0
    axis = _percent_axis(ends, part) if requested else Linear(0, max(ends, default=0) * (1 + AIR) or 1)
    start_s, end_s = columns[0].start_s, columns[-1].end_s
    x_ticks, x_title = time_ticks(start_s, end_s)
    time = Linear(start_s, end_s)
    return drawing(
        "Achieved rate of reads, % of the requested rate" if requested else "Achieved rate of reads per second",
        joined([draw_slices(slices, time), band(_rate_bars(columns, time, axis, requested))]),
        x_ticks=x_ticks,
        y_ticks=[Tick(axis.part(value), f"{value:,.10g}{' %' if requested else ''}") for value in axis.ticks(TICKS)],
        x_title=x_title,
        above=level(axis.part(100)) if requested else NOTHING,
        kind="rate",
    )


def _percent_axis(ends: Sequence[float], part: float) -> Linear:
    low, high = min([RATE_PCT[0], *(end * part for end in ends)]), max([RATE_PCT[1], *(end * part for end in ends)])
    air = (high - low) * AIR
    return Linear(low - air if low < RATE_PCT[0] else low, high + air if high > RATE_PCT[1] else high)


def _rate_bars(columns: Sequence[Column], time: Linear, axis: Linear, requested: Decimal | None) -> Iterator[Bar]:
    part = 100 / float(requested) if requested else 1.0
    for each in columns:
        if each.least_per_s is not None and each.greatest_per_s is not None:
            text = f"{units.span(each.start_s, each.end_s)}: {_range(each.least_per_s, each.greatest_per_s)} reads/s"
            if requested:
                text += f", {_range(each.least_per_s * part, each.greatest_per_s * part)} % of the requested rate"
            ends = (axis.part(each.least_per_s * part), axis.part(each.greatest_per_s * part))
            yield Bar(time.part(each.start_s), time.part(each.end_s), *ends, text)


def _range(low: float, high: float) -> str:
    """Return a range with the digits of the table: one decimal at most."""
    texts = [f"{value:,.1f}".removesuffix(".0") for value in (low, high)]
    return texts[0] if texts[0] == texts[1] else " to ".join(texts)


def telemetry_drawings(telemetry: Telemetry, slices: SliceMarks | None = None) -> list[tuple[Quantity, SafeString]]:
    """Return a picture for each quantity of the telemetry; none without an interval."""
    if not telemetry.columns:
        return []
    return [(quantity, _quantity_drawing(telemetry, slices, quantity, *ends)) for quantity, *ends in telemetry.drawn]


def _quantity_drawing(
    telemetry: Telemetry,
    slices: SliceMarks | None,
    quantity: Quantity,
    least: Sequence[float | None],
    greatest: Sequence[float | None],
) -> SafeString:
    end_s = telemetry.columns[-1][1]
    time, axis = (
        Linear(0, end_s),
        Linear(0, max((high for high in greatest if high is not None), default=0) * (1 + AIR)),
    )
    x_ticks, x_title = time_ticks(0, end_s)
    bars = (
        Bar(
            time.part(start),
            time.part(end),
            axis.part(low),
            axis.part(high),
            _sentence(quantity, start, end, low, high),
        )
        for (start, end), low, high in zip(telemetry.columns, least, greatest, strict=True)
        if low is not None and high is not None
    )
    return drawing(
        f"{quantity.label}, {quantity.unit}",
        joined([draw_slices(slices, time), band(bars)]),
        x_ticks=x_ticks,
        y_ticks=[Tick(axis.part(value), f"{value:,.10g}") for value in axis.ticks(TICKS)],
        x_title=x_title,
        kind="telemetry",
    )


def _sentence(quantity: Quantity, start_s: float, end_s: float, low: float, high: float) -> str:
    return f"{_range(start_s, end_s)} s: {_range(low, high)} {quantity.unit}"
