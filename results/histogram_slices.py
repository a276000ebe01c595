"""The slices of one histogram, as pages and tables take them."""

from collections.abc import Iterable
from dataclasses import dataclass

from results.models import Slice
from results.querysets import SliceQuerySet
from results.rules.latency_table import SliceCounts


@dataclass(frozen=True)
class HistogramSlice(SliceCounts):
    """One slice of one histogram, and where in the run and in its log it is."""

    start_s: int
    end_s: int
    first_line: int
    last_line: int


def histogram_slices(slices: SliceQuerySet | Iterable[Slice]) -> list[HistogramSlice]:
    """Return slices that were asked for one histogram (SliceQuerySet.of_histogram), with its counts."""
    return [_of_histogram(each) for each in slices]


def _of_histogram(each: Slice) -> HistogramSlice:
    (counts,) = each.own_counts  # type: ignore[attr-defined]
    return HistogramSlice(
        number=each.number,
        counts=counts,
        ops_count=sum(counts),
        start_s=each.start_s,
        end_s=each.end_s,
        first_line=each.first_line,
        last_line=each.last_line,
    )
