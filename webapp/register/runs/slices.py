"""Slices of a run: the share of each over the limits, how one slice was counted, and the CSV of all slices."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from results.access.intervals import HistogramSlice, counted_before, each_slice, histogram_slices
from results.models import Histogram, Run, Verdict
from results.rules.act.edges import bucket_span_us, edge_not_below
from results.rules.act.limits import Limit, act_share_pct, exact_share_pct, is_count_within, over_count, parse_limits
from webapp.register.http.files import Value
from webapp.register.limits.profile import current_profile
from webapp.register.tables.marks import NearnessMark, nearness_mark
from webapp.templatetags import units

SHOWN_SLICES = 200  # a day of 10-minute slices has 144; the CSV and the chart have all of them
FIRST_EDGES = "act-1"  # ACT 1.x: its buckets begin one power of two later


def span_of(histogram: Histogram, bucket: int) -> tuple[int, int]:
    """Return the lower and upper edge of a bucket in us."""
    return bucket_span_us(bucket, histogram.unit, is_first_version=histogram.edges == FIRST_EDGES)


def edge_text(edge_us: int) -> str:
    """Return a bucket edge as text, in ms if it is a whole number of them: 512 us, 1,024 us, 8 ms.

    >>> edge_text(1024).replace(units.NBSP, " "), edge_text(8000).replace(units.NBSP, " ")
    ('1,024 us', '8 ms')
    """
    return units.threshold(edge_us)


@dataclass(frozen=True)
class ReadLimit:
    """A limit, and the bucket edge of the log's histogram at which it is evaluated."""

    limit: Limit
    read_at_us: int
    first_bucket: int


@dataclass(frozen=True)
class SliceShare:
    """The share of one slice over one threshold; no share if the slice has no operations."""

    over_count: int
    share_pct: Decimal | None
    text: str
    is_over: bool
    nearness: NearnessMark | None
    threshold_us: int = 0
    ops_count: int = 0
    exact_pct: Decimal | None = None


@dataclass(frozen=True)
class SliceRow:
    """One slice, with its shares in the order of the limits."""

    slice: HistogramSlice
    span: str
    shares: list[SliceShare]

    @property
    def outcome(self) -> str:
        """Return the outcome of the slice in a word."""
        if not self.slice.ops_count:
            return "no operations"
        return "fails" if self.is_over else "passes"

    @property
    def is_over(self) -> bool:
        """Return whether at least one share is over its limit."""
        return any(share.is_over for share in self.shares)


@dataclass(frozen=True)
class SliceTable:
    """The slices of the judged histogram."""

    histogram: Histogram
    limits: list[ReadLimit]
    rows: list[SliceRow]
    total: int
    none_sentence: str

    @property
    def passing_sentence(self) -> str:
        """Return the number of listed slices that are within every limit."""
        passing = sum(row.outcome == "passes" for row in self.rows)
        verb = "is" if passing == 1 else "are"
        if self.total > len(self.rows):
            shown, every = units.count(len(self.rows)), units.count(self.total)
            return f"Of the first {shown} of {every} slices, {units.count(passing)} {verb} within every limit."
        return f"{passing} of {units.counted(len(self.rows), 'slice')} {verb} within every limit."

    @property
    def cut_sentence(self) -> str:
        """Return the note about slices that the page leaves out."""
        if self.total <= len(self.rows):
            return ""
        return f"The first {units.count(len(self.rows))} of {units.count(self.total)} slices; the CSV has them all."

    @property
    def edges_sentence(self) -> str:
        """Return the note about limits that apply at a bucket edge near their threshold; empty if there are none."""
        moved = [limit for limit in self.limits if limit.read_at_us != limit.limit.threshold_us]
        if not moved:
            return ""
        edges = ", ".join(units.count(limit.read_at_us) for limit in moved)
        return f"Limits are evaluated at {edges} us, as ACT does: the log has no count at the exact thresholds."


def no_slice_sentence(run: Run) -> str:
    """Return why a run has no slice: its log is too short, or the log between its reports cannot be used."""
    if run.slice_length_s is None or run.duration_s is None:
        return "The log has no report, so it has no slices."
    if run.duration_s < run.slice_length_s:
        lasted, length = units.duration(run.duration_s), units.duration(run.slice_length_s)
        return f"The log lasts {lasted}, shorter than one slice of {length}. So there is no worst slice."
    return f"The log has no usable slice of {units.duration(run.slice_length_s)}; its findings give the reasons."


def slice_table(
    run: Run, verdict: Verdict | None, *, shown: int | None = SHOWN_SLICES, own: Sequence[Limit] = ()
) -> SliceTable | None:
    """Return the slices of the judged histogram, compared with the verdict's limits or a reader's own.

    None if the log has no such histogram.
    """
    histogram = run.histograms.judged().first()
    if histogram is None:
        return None
    limits = read_limits(histogram, verdict, own)
    slices = run.slices.of_histogram(histogram.ordinal)
    rows = [slice_row(each, limits) for each in histogram_slices(slices[:shown] if shown else slices)]
    return SliceTable(histogram, limits, rows, slices.count(), "" if rows else no_slice_sentence(run))


def read_limits(histogram: Histogram, verdict: Verdict | None, own: Sequence[Limit] = ()) -> list[ReadLimit]:
    """Return the limits of the verdict's profile, or a reader's own, each with its bucket edge in a histogram."""
    profile = verdict.profile if verdict else current_profile()
    limits = own or parse_limits(profile.document)
    is_first_version = histogram.edges == FIRST_EDGES
    edges = [edge_not_below(limit.threshold_us, histogram.unit, is_first_version=is_first_version) for limit in limits]
    return [ReadLimit(limit, edge.us, edge.bucket) for limit, edge in zip(limits, edges, strict=True)]


def slice_row(each: HistogramSlice, limits: Sequence[ReadLimit]) -> SliceRow:
    """Return a slice with its shares."""
    return SliceRow(each, units.span(each.start_s, each.end_s), [_share(each, limit) for limit in limits])


def _share(each: HistogramSlice, limit: ReadLimit) -> SliceShare:
    over = over_count(each.counts, each.ops_count, limit.first_bucket)
    share_pct = act_share_pct(over, each.ops_count)
    if share_pct is None:
        return SliceShare(over, None, "", is_over=False, nearness=None)
    is_over = not is_count_within(over, each.ops_count, limit.limit.limit_pct)
    exact = exact_share_pct(over, each.ops_count)
    mark = nearness_mark(exact, limit.limit.limit_pct, is_over=is_over)
    text = units.share(str(share_pct), over)
    return SliceShare(over, share_pct, text, is_over, mark, limit.limit.threshold_us, each.ops_count, exact)


@dataclass(frozen=True)
class CountedBucket:
    """One bucket: its cumulative counts at both ends of the slice, and the difference.

    The cumulative counts are None if an earlier slice is not stored, because the register cannot add them up then.
    """

    span: str
    at_start: int | None
    at_end: int | None
    counted: int
    limit: str


@dataclass(frozen=True)
class CountedShare:
    """One share as a division: the operations over the limit's edge by all operations."""

    threshold: str
    limit: str
    sentence: str
    is_over: bool


@dataclass(frozen=True)
class SliceCounts:
    """One slice for its page; `start_line` is the last line of the report at its start."""

    row: SliceRow
    histogram: Histogram
    buckets: list[CountedBucket]
    shares: list[CountedShare]
    start_line: int | None


def start_line(number: int, first_line: int) -> int | None:
    """Return the last line of the report at the start of a slice, which is the line before its first; None for slice 1.

    It is not the end of the slice before: that slice is not stored if the log lacks the report at the boundary.
    """
    return first_line - 1 if number > 1 else None


def counts_of(run: Run, verdict: Verdict | None, number: int) -> SliceCounts | None:
    """Return how a slice was counted; None if the run has no such slice."""
    histogram = run.histograms.judged().first()
    if histogram is None:
        return None
    own = run.slices.of_histogram(histogram.ordinal)
    found = histogram_slices(own.filter(number=number))
    if not found:
        return None
    limits, its = read_limits(histogram, verdict), found[0]
    before, slices_count = counted_before(run.pk, histogram.ordinal, number)
    is_whole = slices_count == number - 1  # a slice that is not stored has no known counts
    buckets, row = _buckets(histogram, its, before if is_whole else None, limits), slice_row(its, limits)
    return SliceCounts(row, histogram, buckets, _shares(row, limits), start_line(number, its.first_line))


def _buckets(
    histogram: Histogram, its: HistogramSlice, before: Sequence[int] | None, limits: Sequence[ReadLimit]
) -> list[CountedBucket]:
    """Return the buckets up to the last with operations. Reports are cumulative: they are the sums of slices."""
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


PLACE = ["histogram", "slice", "start_s", "end_s", "first_line", "last_line", "ops_count"]


def slice_lines(run: Run, verdict: Verdict | None) -> tuple[list[str], Iterator[list[Value]]] | None:
    """Return the header and an iterator of lines; None for a run without the judged histogram."""
    histogram = run.histograms.judged().first()
    if histogram is None:
        return None
    limits = read_limits(histogram, verdict)
    header = PLACE + [f"{kind}_at_{limit.read_at_us}us" for limit in limits for kind in ("over_count", "over_pct")]
    slices = each_slice(run.slices.of_histogram(histogram.ordinal))
    return header, (_line(histogram.name, each, limits) for each in slices)


def _line(name: str, each: HistogramSlice, limits: Sequence[ReadLimit]) -> list[Value]:
    line: list[Value] = [name, each.number, each.start_s, each.end_s, each.first_line, each.last_line, each.ops_count]
    for limit in limits:
        over = over_count(each.counts, each.ops_count, limit.first_bucket)
        share_pct = act_share_pct(over, each.ops_count)
        line += [over, None if share_pct is None else str(share_pct)]
    return line
