"""The slices of one histogram, as pages and tables take them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.db import connection

from results.models import Slice
from results.models.querysets import SliceQuerySet
from results.rules.act.latency_table import SliceCounts

AT_ONCE = 1_000  # slices that are held while very many are read
COUNTED_BEFORE = """
SELECT coalesce(sum(bucket.counted), 0)::bigint, count(bucket.counted)
FROM results_slice slice, unnest(slice.counts[%(row)s:%(row)s]) WITH ORDINALITY AS bucket (counted, place)
WHERE slice.run_id = %(run)s AND slice.number < %(number)s
GROUP BY bucket.place ORDER BY bucket.place
"""


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


def each_slice(slices: SliceQuerySet) -> Iterator[HistogramSlice]:
    """Yield the same one by one: a day in slices of a second has 86,400, which are not held at once."""
    return map(_of_histogram, slices.iterator(chunk_size=AT_ONCE))


def counted_before(run_pk: int, ordinal: int, number: int) -> tuple[list[int], int]:
    """Return by bucket what came to a histogram in the slices before one, and how many of these have its counts.

    They are added up where they are stored.
    """
    with connection.cursor() as cursor:
        cursor.execute(COUNTED_BEFORE, {"run": run_pk, "row": ordinal + 1, "number": number})
        found = cursor.fetchall()
    return [counted for counted, _ in found], found[0][1] if found else 0


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
