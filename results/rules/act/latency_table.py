"""The slice table as ACT prints it: percentages over each power of two, their average and maximum.

Source: aerospike/act analysis/act_latency.py 6.x, bucket_percentages_over() and bucket_aggregations(): every
percentage is rounded to 2 places first, and the average is the mean of the rounded ones. Upstream adds one number after
the other; sum() of Python 3.12 and later is more exact, and would print other digits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from operator import add

COLUMNS = 17  # 1 to 65536 units, as `act_latency.py -n 17` shows; verdicts on microsecond logs use no higher edge


@dataclass(frozen=True)
class SliceCounts:
    """One slice of one histogram: `counts[b]` operations in bucket b, `ops_count` in all."""

    number: int
    counts: Sequence[int]
    ops_count: int


@dataclass(frozen=True)
class LatencyRow:
    """A line of the table, with the digits that are printed: percentages over 2^0, 2^1, ... units, and operations/s."""

    label: str
    pct_over: tuple[Decimal, ...]
    ops_per_s: Decimal


@dataclass(frozen=True)
class LatencyTable:
    """All lines of one histogram; thresholds in the log's own unit."""

    thresholds: tuple[int, ...]
    slices: tuple[LatencyRow, ...]
    avg: LatencyRow
    max: LatencyRow


def latency_table(slices: Sequence[SliceCounts], slice_length_s: int, columns: int = COLUMNS) -> LatencyTable | None:
    """Return the table of one histogram; None without a whole slice, where upstream stops with a message."""
    if not slices:
        return None
    shares = [_pcts_over(piece, columns) for piece in slices]
    rates = [round(piece.ops_count / slice_length_s, 1) for piece in slices]
    lines = zip(slices, shares, rates, strict=True)
    by_column = list(zip(*shares, strict=True))
    return LatencyTable(
        thresholds=tuple(2**bucket for bucket in range(columns)),
        slices=tuple(_row(str(piece.number), share, rate) for piece, share, rate in lines),
        avg=_row("avg", [reduce(add, column) / len(slices) for column in by_column], reduce(add, rates) / len(slices)),
        max=_row("max", [max(column) for column in by_column], max(rates)),
    )


def _pcts_over(piece: SliceCounts, columns: int) -> list[float]:
    """Return the rounded percentages over each bucket's upper edge; upstream prints 0.00 for an empty slice."""
    if piece.ops_count == 0:
        return [0.0] * columns
    over, shares = piece.ops_count, []
    for bucket in range(columns):
        over -= piece.counts[bucket] if bucket < len(piece.counts) else 0
        shares.append(round(over * 100.0 / piece.ops_count, 2))
    return shares


def _row(label: str, shares: Sequence[float], rate: float) -> LatencyRow:
    """Print as upstream does: `%.2f` rounds the exact double, which no decimal rounding of its repr equals."""
    return LatencyRow(label, tuple(Decimal(f"{share:.2f}") for share in shares), Decimal(f"{rate:.1f}"))
