"""The distribution of a run's reads as a table: what stands behind the heat map, bucket by bucket."""

from collections.abc import Sequence
from dataclasses import dataclass

from results.models import Histogram
from results.rules.act.limits import act_share_pct
from webapp.register.runs.charts.over_time import edge_text, span_of
from webapp.register.runs.slices.shares import ReadLimit, SliceRow
from webapp.templatetags import units


@dataclass(frozen=True)
class BucketRow:
    """One bucket: what came to it in the whole run, and its largest share in a slice; "" is what is not known."""

    span: str
    ops_count: int
    share: str
    largest: str
    slice_number: int | None
    limit: str


def bucket_rows(histogram: Histogram, rows: Sequence[SliceRow], limits: Sequence[ReadLimit]) -> list[BucketRow]:
    """Return the buckets from the first to the last that anything came to; nothing of a run without operations."""
    used = [bucket for bucket, count in enumerate(histogram.counts) if count]
    if not used:
        return []
    begins = {limit.first_bucket: edge_text(limit.limit.threshold_us) for limit in limits}
    return [_row(histogram, rows, bucket, begins.get(bucket, "")) for bucket in range(used[0], used[-1] + 1)]


def _row(histogram: Histogram, rows: Sequence[SliceRow], bucket: int, limit: str) -> BucketRow:
    lower_us, upper_us = span_of(histogram, bucket)
    count = histogram.counts[bucket]
    largest = max((_share(row, bucket) for row in rows if row.slice.ops_count), default=None)
    return BucketRow(
        span=f"{edge_text(lower_us)} to {edge_text(upper_us)}" if lower_us else f"below {edge_text(upper_us)}",
        ops_count=count,
        share=units.share(str(act_share_pct(count, histogram.ops_count)), count),
        largest="" if largest is None else units.share(f"{largest[0]:.2f}", int(largest[0] > 0)),
        slice_number=None if largest is None or not largest[0] else -largest[1],
        limit=limit,
    )


def _share(row: SliceRow, bucket: int) -> tuple[float, int]:
    """Return the share of a bucket in a slice, then the slice so that of equal shares the first counts."""
    counts = row.slice.counts
    count = counts[bucket] if bucket < len(counts) else 0
    return count * 100 / row.slice.ops_count, -row.slice.number
