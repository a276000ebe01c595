"""The slices of a run: what share of each lay over the thresholds, judged on counts as the reader judged them."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from results.access.histogram_slices import HistogramSlice, histogram_slices
from results.models import Histogram, Run, Verdict
from results.rules.act.edges import edge_not_below
from results.rules.act.limits import Limit, act_share_pct, exact_share_pct, is_count_within, over_count, parse_limits
from webapp.register.limits.profile import current_profile
from webapp.register.tables.marks import NearnessMark, nearness_mark
from webapp.templatetags import units

SHOWN_SLICES = 200  # of a page: a day of slices of ten minutes has 144. The CSV and the chart have them all
FIRST_EDGES = "act-1"  # of ACT 1.x, whose buckets begin one power of two later


@dataclass(frozen=True)
class ReadLimit:
    """A limit, and where the log's histogram has an edge to read it at."""

    limit: Limit
    read_at_us: int
    first_bucket: int


@dataclass(frozen=True)
class SliceShare:
    """The share of one slice over one threshold; no share where the slice holds no operations."""

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
        """What the slice does, in a word."""
        if not self.slice.ops_count:
            return "no operations"
        return "fails" if self.is_over else "passes"

    @property
    def is_over(self) -> bool:
        """At least one share is over its limit."""
        return any(share.is_over for share in self.shares)


@dataclass(frozen=True)
class SliceTable:
    """The slices of the histogram that the verdict was taken from."""

    histogram: Histogram
    limits: list[ReadLimit]
    rows: list[SliceRow]
    total: int
    none_sentence: str

    @property
    def passing_sentence(self) -> str:
        """How many of the slices shown keep within every limit."""
        passing = sum(row.outcome == "passes" for row in self.rows)
        verb = "keeps" if passing == 1 else "keep"
        if self.total > len(self.rows):
            shown, every = units.count(len(self.rows)), units.count(self.total)
            return f"Of the first {shown} of {every} slices {units.count(passing)} {verb} within every limit."
        return f"{passing} of {units.counted(len(self.rows), 'slice')} {verb} within every limit."

    @property
    def cut_sentence(self) -> str:
        """What a page of very many slices leaves out."""
        if self.total <= len(self.rows):
            return ""
        return f"The first {units.count(len(self.rows))} of {units.count(self.total)} slices; the CSV has them all."

    @property
    def edges_sentence(self) -> str:
        """Where the limits were read, where that is not at the threshold itself."""
        moved = [limit for limit in self.limits if limit.read_at_us != limit.limit.threshold_us]
        if not moved:
            return "Limits are read at their thresholds."
        edges = ", ".join(units.count(limit.read_at_us) for limit in moved)
        return f"Limits are read at {edges} us, as ACT does: the log's histogram has no edge at the thresholds."


def no_slice_sentence(run: Run) -> str:
    """Say why a run has no slice: its log is shorter than one, or what is between its reports cannot be used."""
    if run.slice_length_s is None or run.duration_s is None:
        return "The log holds no report, so that there is no slice."
    if run.duration_s < run.slice_length_s:
        held, asked = units.duration(run.duration_s), units.duration(run.slice_length_s)
        return f"The log holds {held}; a slice is {asked}. No slice is whole, so that none can be the worst."
    return f"No slice of {units.duration(run.slice_length_s)} can be read out of the log; its findings say why."


def slice_table(
    run: Run, verdict: Verdict | None, *, shown: int | None = SHOWN_SLICES, own: Sequence[Limit] = ()
) -> SliceTable | None:
    """Return the slices that the verdict was taken from, held against its limits or a reader's own.

    None where the log has no such histogram.
    """
    histogram = run.histograms.judged().first()
    if histogram is None:
        return None
    limits = read_limits(histogram, verdict, own)
    slices = run.slices.of_histogram(histogram.ordinal)
    rows = [slice_row(each, limits) for each in histogram_slices(slices[:shown] if shown else slices)]
    return SliceTable(histogram, limits, rows, slices.count(), "" if rows else no_slice_sentence(run))


def read_limits(histogram: Histogram, verdict: Verdict | None, own: Sequence[Limit] = ()) -> list[ReadLimit]:
    """Return the limits of the verdict's profile, or a reader's own, each with the edge that a histogram has for it."""
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
    told = limit.limit.threshold_us, each.ops_count, exact
    return SliceShare(over, share_pct, units.share(str(share_pct), over), is_over, mark, *told)
