"""The distribution and rate of reads over a run's time, from its stored minutes, or from its slices if it has none.

A chart has at most COLUMNS_MAX columns, so a column may cover many minutes. Each cell is then the largest share of any
of them, and the rate is given as minimum and maximum: one bad minute of a week stays visible
(results/rules/reduction.py).
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from results.access.intervals import histogram_slices, intervals, minutes_of
from results.models import Histogram, Run
from results.rules.reduction import place_of_greatest, place_of_least, spans
from webapp.register.runs.charts.telemetry import PageIntervals
from webapp.register.runs.slices import ReadLimit, span_of
from webapp.templatetags import units

LATEST_S = 10**9  # drivetest accepts no later second


@dataclass(frozen=True)
class Counted:
    """A piece of a run's time and the counts of one histogram in it, by bucket; None if they are not known."""

    start_s: int
    end_s: int
    counts: list[int] | None

    @property
    def ops_count(self) -> int:
        """Return the number of operations in the piece."""
        return sum(self.counts or [])


def has_minutes(run: Run) -> bool:
    """Return whether the register stores minutes of the run; a run shorter than a minute has none."""
    return hasattr(run, "series") and run.series.intervals_count > 0


def pieces_of(run: Run, histogram: Histogram) -> list[Counted]:
    """Return the counts of a histogram by minute; by slice for a run without minutes.

    Raises WithheldError and SeriesDamagedError.
    """
    if not has_minutes(run):
        slices = histogram_slices(run.slices.of_histogram(histogram.ordinal))
        return [Counted(each.start_s, each.end_s, list(each.counts)) for each in slices]
    own = range(histogram.ordinal, histogram.ordinal + 1)
    minutes = intervals(minutes_of(run), 0, LATEST_S, own)
    return [Counted(each.start_s, each.end_s, each.counts[0]) for each in minutes]


SCHEMA = "drivecert.over-time/1"
COLUMNS_MAX = 288  # of a day, 5 minutes each
SHARE_DIGITS = 3
RATE_DIGITS = 9  # rates of millions stay exact to a hundredth, so that charts and tables agree
RATE_DIGITS_MAX = 15  # no device has a higher rate, and JSON readers have no larger exact numbers
# Names of the requested read rate in log headers. It includes the reads that update-pct adds.
REQUESTED_RATE_NAMES = ("internal-read-reqs-per-sec", "internal read requests per sec")


@dataclass(frozen=True)
class Column:
    """Adjacent pieces of a run: the largest share of each bucket in percent, and rates in reads per second."""

    start_s: int
    end_s: int
    shares: list[float | None]
    least_per_s: float | None
    greatest_per_s: float | None


@dataclass(frozen=True)
class OverTime:
    """All columns of a run; `buckets` reach from the first to the last bucket with operations."""

    pieces: list[Counted]
    buckets: range
    columns: list[Column]


def over_time(run: Run, histogram: Histogram) -> OverTime:
    """Return a run reduced to columns. Raises WithheldError and SeriesDamagedError."""
    pieces = pieces_of(run, histogram)
    used = {bucket for piece in pieces for bucket, count in enumerate(piece.counts or []) if count}
    buckets = range(min(used), max(used) + 1) if used else range(0)
    return OverTime(pieces, buckets, list(_columns(pieces, buckets)))


def with_interval_rates(data: OverTime, intervals: PageIntervals) -> OverTime:
    """Return the columns with the least and the greatest rate of the side file's intervals in them.

    A minute hides a second without reads; an interval is usually a second.
    """
    return replace(data, columns=[_with_rates(column, intervals) for column in data.columns])


def _with_rates(column: Column, intervals: PageIntervals) -> Column:
    """Return a column with the extremes of the intervals that end within it; ends are ascending."""
    ends = intervals.rate_ends
    within = intervals.rates[bisect_right(ends, column.start_s) : bisect_right(ends, column.end_s)]
    if column.least_per_s is None or column.greatest_per_s is None or not within:
        return column
    known = [column.least_per_s, column.greatest_per_s, *within]
    return replace(column, least_per_s=min(known), greatest_per_s=max(known))


def _columns(pieces: Sequence[Counted], buckets: range) -> Iterator[Column]:
    ops_counts = [None if piece.counts is None else piece.ops_count for piece in pieces]
    rates = [
        None if ops is None else ops / (piece.end_s - piece.start_s)
        for piece, ops in zip(pieces, ops_counts, strict=True)
    ]
    shares = [_shares(piece, ops, buckets) for piece, ops in zip(pieces, ops_counts, strict=True)]
    for span in spans(len(pieces), COLUMNS_MAX):
        least, greatest = place_of_least(rates, span), place_of_greatest(rates, span)
        yield Column(
            start_s=pieces[span[0]].start_s,
            end_s=pieces[span[-1]].end_s,
            shares=[_largest(shares[span.start : span.stop], place) for place in range(len(buckets))],
            least_per_s=None if least is None else rates[least],
            greatest_per_s=None if greatest is None else rates[greatest],
        )


def _shares(piece: Counted, ops_count: int | None, buckets: range) -> list[float] | None:
    """Return the share of each bucket; None if the counts are not known or there were no operations."""
    if piece.counts is None or not ops_count:
        return None
    counts = piece.counts + [0] * (buckets.stop - len(piece.counts))
    return [counts[bucket] * 100 / ops_count for bucket in buckets]


def _largest(shares: Sequence[list[float] | None], place: int) -> float | None:
    return max((share[place] for share in shares if share is not None), default=None)


def requested_reads_per_s(run: Run) -> Decimal | None:
    """Return the requested read rate of the judged histogram; None if the log does not report it."""
    if run.workload != "act-storage":
        return None  # an index load's histogram also has cache reads, whose rate each version prints differently
    derived = {str(name): str(value) for name, value in run.facts.get("derived", [])}
    printed = next((derived[name] for name in REQUESTED_RATE_NAMES if name in derived), "")
    return Decimal(printed) if printed.isdecimal() and len(printed) <= RATE_DIGITS_MAX else run.reads_per_s


def as_document(run: Run, histogram: Histogram, data: OverTime, limits: Sequence[ReadLimit]) -> dict[str, Any]:
    """Return the data of the charts as JSON."""
    requested = requested_reads_per_s(run)
    return {
        "schema": SCHEMA,
        "run": run.public_id,
        "histogram": histogram.name,
        "pieces": "minutes" if has_minutes(run) else "slices",
        "pieces_count": len(data.pieces),
        "columns": [[column.start_s, column.end_s] for column in data.columns],
        "buckets": [_bucket(histogram, bucket) for bucket in data.buckets],
        "shares": [[_rounded(column.shares[place]) for column in data.columns] for place in range(len(data.buckets))],
        "least_per_s": [_rounded(column.least_per_s, RATE_DIGITS) for column in data.columns],
        "greatest_per_s": [_rounded(column.greatest_per_s, RATE_DIGITS) for column in data.columns],
        "asked_per_s": None if requested is None else float(requested),
        "edges": [
            {
                "bucket": limit.first_bucket,
                "text": units.threshold(limit.read_at_us),
                "limit": units.decimal(limit.limit.limit_pct),
            }
            for limit in limits
        ],
    }


def _bucket(histogram: Histogram, bucket: int) -> dict[str, Any]:
    lower_us, upper_us = span_of(histogram, bucket)
    return {"bucket": bucket, "from": units.threshold(lower_us), "to": units.threshold(upper_us)}


def _rounded(number: float | None, digits: int = SHARE_DIGITS) -> float | None:
    return None if number is None else float(f"{number:.{digits}g}")


def csv_lines(histogram: Histogram, data: OverTime) -> tuple[list[str], list[list[Any]]]:
    """Return the header and lines of the columns as a table."""
    names = [f"largest_pct_from_{span_of(histogram, bucket)[0]}us" for bucket in data.buckets]
    header = ["start_s", "end_s", "least_reads_per_s", "greatest_reads_per_s", *names]
    values = (
        [each.start_s, each.end_s, _rounded(each.least_per_s, RATE_DIGITS), _rounded(each.greatest_per_s, RATE_DIGITS)]
        + [_rounded(share) for share in each.shares]
        for each in data.columns
    )
    return header, [[str(value) if isinstance(value, float) else value for value in line] for line in values]


def rate_lines(pieces: Iterable[Counted]) -> tuple[list[str], list[list[Any]]]:
    """Return the header and lines of every piece of a run: its reads, and its reads per second."""
    return ["start_s", "end_s", "reads", "reads_per_s"], [_rate_line(piece) for piece in pieces]


def _rate_line(piece: Counted) -> list[Any]:
    if piece.counts is None:
        return [piece.start_s, piece.end_s, None, None]
    rate = _rounded(piece.ops_count / (piece.end_s - piece.start_s), RATE_DIGITS)
    return [piece.start_s, piece.end_s, piece.ops_count, str(rate)]
