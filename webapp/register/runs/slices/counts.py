"""How one slice was counted: the log's counts at its end, less those at its start, and what lies over each limit."""

from collections.abc import Sequence
from dataclasses import dataclass

from results.access.histogram_slices import HistogramSlice, counted_before, histogram_slices
from results.models import Histogram, Run, Verdict
from webapp.register.runs.charts.over_time import edge_text, span_of
from webapp.register.runs.evidence.report_lines import start_line
from webapp.register.runs.slices.shares import ReadLimit, SliceRow, SliceShare, read_limits, slice_row
from webapp.templatetags import units


@dataclass(frozen=True)
class CountedBucket:
    """One bucket: the counts since the run began at both ends of the slice, and what came to it in between.

    Those of the ends are None where a slice before is not kept: the log has them, the register cannot add them up.
    """

    span: str
    at_start: int | None
    at_end: int | None
    counted: int
    limit: str


@dataclass(frozen=True)
class CountedShare:
    """One share as a division: over the limit's edge, of all."""

    threshold: str
    limit: str
    sentence: str
    is_over: bool


@dataclass(frozen=True)
class SliceCounts:
    """One slice, ready for its page; `start_line` is the last line of the report that it begins with."""

    row: SliceRow
    histogram: Histogram
    buckets: list[CountedBucket]
    shares: list[CountedShare]
    start_line: int | None


def counts_of(run: Run, verdict: Verdict | None, number: int) -> SliceCounts | None:
    """Return how a slice was counted; None where the run has no such slice."""
    histogram = run.histograms.judged().first()
    if histogram is None:
        return None
    own = run.slices.of_histogram(histogram.ordinal)
    found = histogram_slices(own.filter(number=number))
    if not found:
        return None
    limits, its = read_limits(histogram, verdict), found[0]
    before, slices_count = counted_before(run.pk, histogram.ordinal, number)
    is_whole = slices_count == number - 1  # of a slice that is not kept no count is known
    buckets, row = _buckets(histogram, its, before if is_whole else None, limits), slice_row(its, limits)
    return SliceCounts(row, histogram, buckets, _shares(row, limits), start_line(number, its.first_line))


def _buckets(
    histogram: Histogram, its: HistogramSlice, before: Sequence[int] | None, limits: Sequence[ReadLimit]
) -> list[CountedBucket]:
    """Return the buckets up to the last that anything came to; reports are cumulative, slices add up to them."""
    begins = {limit.first_bucket: edge_text(limit.limit.threshold_us) for limit in limits}
    at_start = [None if before is None else _at(before, bucket) for bucket in range(_most(before or (), its.counts))]
    return [
        CountedBucket(
            _span(histogram, bucket),
            earlier,
            None if earlier is None else earlier + _at(its.counts, bucket),
            _at(its.counts, bucket),
            begins.get(bucket, ""),
        )
        for bucket, earlier in enumerate(at_start)
    ]


def _most(*counted: Sequence[int]) -> int:
    return max((place + 1 for counts in counted for place, count in enumerate(counts) if count), default=0)


def _at(counts: Sequence[int], bucket: int) -> int:
    return counts[bucket] if bucket < len(counts) else 0


def _span(histogram: Histogram, bucket: int) -> str:
    lower_us, upper_us = span_of(histogram, bucket)
    return f"{edge_text(lower_us)} to {edge_text(upper_us)}" if lower_us else f"below {edge_text(upper_us)}"


def _division(share: SliceShare) -> str:
    if not share.text:
        return "no operations"
    relation = "" if share.text.startswith("<") else "= "
    return f"{share.over_count:,d} of {share.ops_count:,d} {relation}{share.text} %"


def _shares(row: SliceRow, limits: Sequence[ReadLimit]) -> list[CountedShare]:
    return [
        CountedShare(
            units.threshold(share.threshold_us),
            units.decimal(read.limit.limit_pct),
            _division(share),
            share.is_over,
        )
        for share, read in zip(row.shares, limits, strict=True)
    ]
