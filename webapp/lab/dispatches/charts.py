"""Charts of a run while it is measured: the rate of reads and the shares of slow reads, by time.

They are drawn from the samples of its progress (runners/monitoring/progress.py). The verdict uses the log.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any

from django.utils.safestring import SafeString

from runners.models import Dispatch
from webapp.register.runs.charts.drawing import NOTHING, Bar, Linear, Tick, band, drawing, level, time_ticks
from webapp.templatetags import units

AIR = 1.05  # above the highest value
TICKS = 4


@dataclass(frozen=True)
class LiveChart:
    """A chart with its quantity, its unit and the level that it is compared with."""

    quantity: str
    unit: str
    picture: SafeString


@dataclass(frozen=True)
class _Piece:
    """The time between two samples, its reads, and those over each threshold."""

    start_s: int
    end_s: int
    reads_count: int
    over_counts: tuple[int, ...]


def live_charts(dispatch: Dispatch, shares: Sequence[dict[str, Any]], requested: Decimal | None) -> list[LiveChart]:
    """Return the charts of a run, none before its first sample. `shares` are those of the whole run, with limits."""
    pieces = list(_pieces(dispatch.progress))
    if not pieces:
        return []
    time = Linear(0, max(dispatch.duration_s or 0, pieces[-1].end_s))
    charts = [_rate_chart(pieces, time, requested)]
    return [*charts, *(_share_chart(pieces, time, place, share) for place, share in enumerate(shares))]


def _pieces(progress: dict[str, Any]) -> Iterator[_Piece]:
    """Yield the differences between the samples, and from the last sample to the last report."""
    samples = [tuple(sample) for sample in progress.get("samples", [])]
    if not samples:
        return
    last = (progress["label_s"], progress["reads_count"], *(share["over_count"] for share in progress["shares"]))
    start = (0,) * len(last)
    for before, after in pairwise([start, *samples, *([last] if last[0] > samples[-1][0] else [])]):
        start_s, end_s = before[0], after[0]
        reads_count, *over_counts = (later - earlier for earlier, later in zip(before[1:], after[1:], strict=True))
        yield _Piece(start_s, end_s, reads_count, tuple(over_counts))


def _rate_chart(pieces: Sequence[_Piece], time: Linear, requested: Decimal | None) -> LiveChart:
    rates = [piece.reads_count / (piece.end_s - piece.start_s) for piece in pieces]
    compared = None if requested is None else float(requested)
    bars = [(piece, rate, f"{rate:,.1f} reads/s") for piece, rate in zip(pieces, rates, strict=True)]
    unit = f"reads/s, {units.decimal(requested)} requested" if requested else "reads/s"
    return _chart("Rate of reads", unit, bars, time, Linear(0, max([*rates, compared or 0]) * AIR), compared)


def _share_chart(pieces: Sequence[_Piece], time: Linear, place: int, share: dict[str, Any]) -> LiveChart:
    limit_pct = share["limit_pct"]
    compared = None if limit_pct is None else float(limit_pct)
    known = [piece for piece in pieces if piece.reads_count]
    found = [100 * piece.over_counts[place] / piece.reads_count for piece in known]
    bars = [(piece, share_pct, f"{share_pct:.3g} %") for piece, share_pct in zip(known, found, strict=True)]
    unit = "% of reads" if limit_pct is None else f"% of reads, limit {units.decimal(limit_pct)} % in any slice"
    axis = Linear(0, max([*found, compared or 0]) * AIR)
    return _chart(f"Reads over {units.threshold(share['threshold_us'])}", unit, bars, time, axis, compared)


def _chart(
    quantity: str,
    unit: str,
    bars: Sequence[tuple[_Piece, float, str]],
    time: Linear,
    axis: Linear,
    compared: float | None,
) -> LiveChart:
    x_ticks, x_title = time_ticks(time.low, time.high)
    drawn = (
        Bar(
            time.part(piece.start_s),
            time.part(piece.end_s),
            0,
            axis.part(value),
            f"{units.span(piece.start_s, piece.end_s)}: {text}",
        )
        for piece, value, text in bars
    )
    picture = drawing(
        f"{quantity} by time, {unit}",
        band(drawn),
        x_ticks=x_ticks,
        y_ticks=[Tick(axis.part(value), f"{value:,.10g}") for value in axis.ticks(TICKS)],
        x_title=x_title,
        above=NOTHING if compared is None else level(axis.part(compared)),
    )
    return LiveChart(quantity, unit, picture)
