"""Slices of a run: the share of each over the limits, how one slice was counted, and the CSV of all slices.

Devices of one run are compared by the shares of their own reads, over the whole run and in the worst slice.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import zip_longest
from typing import Any

from results.access.intervals import HistogramSlice, counted_before, each_slice, histogram_slices
from results.models import Histogram, Profile, Run, Verdict
from results.rules.act.bucket_edges import bucket_span_us, edge_not_above, edge_not_below
from results.rules.act.limits import (
    Limit,
    act_share_pct,
    distinct_share,
    exact_share_pct,
    is_count_within,
    over_count,
    parse_limits,
)
from results.rules.plural import listed
from webapp.register.http.files import Value
from webapp.register.runs.verdict_basis import duration_in_words
from webapp.register.tables.marks import NearnessMark, nearness_mark
from webapp.templatetags import units

SHOWN_SLICES = 200  # a day of 10-minute slices has 144; the CSV and the chart have all of them
NAMED_SLICES = 5  # in a sentence; more are counted
OVERALL = "overall"  # the statistic of the whole run in a verdict's document
FIRST_EDGES = "act-1"  # ACT 1.x: its buckets begin one power of two later


def span_of(histogram: Histogram, bucket: int) -> tuple[int, int]:
    """Return the lower and upper edge of a bucket in us."""
    return bucket_span_us(bucket, histogram.unit, is_first_version=histogram.edges == FIRST_EDGES)


def bucket_text(histogram: Histogram, bucket: int) -> str:
    """Return the edges of a bucket as text."""
    lower_us, upper_us = span_of(histogram, bucket)
    upper = units.threshold(upper_us)
    return f"{units.threshold(lower_us)} to {upper}" if lower_us else f"below {upper}"


def cut_sentence(shown: int, total: int, sentence: str) -> str:
    """Return a sentence with the numbers of shown and of all rows; empty if all are shown."""
    return sentence.format(shown=units.count(shown), total=units.count(total)) if shown < total else ""


@dataclass(frozen=True)
class ReadLimit:
    """A limit, and the bucket edge of the log's histogram at which it is evaluated."""

    limit: Limit
    read_at_us: int
    first_bucket: int
    first_bucket_below: int | None = None  # at the greatest edge not above the threshold
    between_count: int | None = None  # reads of the run from the threshold to the edge, as a side file counted them

    @property
    def is_exact(self) -> bool:
        """Return whether the log has an edge at the threshold itself."""
        return self.read_at_us == self.limit.threshold_us

    @property
    def threshold(self) -> str:
        """Return the threshold as text."""
        return units.threshold(self.limit.threshold_us)


@dataclass(frozen=True)
class SliceShare:
    """The share of one slice over one threshold; no share if the slice has no operations."""

    threshold_us: int
    over_count: int
    ops_count: int
    text: str = ""
    is_over: bool = False
    nearness: NearnessMark | None = None
    exact_pct: Decimal | None = None
    at_most_count: int = 0
    at_most_text: str = ""  # the upper end of the range; empty if the log has an edge at the threshold
    may_be_over: bool = False  # within the limit at the log's edge, but perhaps not at the threshold
    buckets_at_most_text: str = ""  # the same by the buckets alone, if a side file shows that the share is within

    @property
    def range_text(self) -> str:
        """Return the share, with both ends of its range if it is one."""
        return range_text(self.text, self.at_most_text)


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
        if self.is_over:
            return "fails"
        return "may fail" if self.may_be_over else "passes"

    @property
    def is_over(self) -> bool:
        """Return whether at least one share is over its limit."""
        return any(share.is_over for share in self.shares)

    @property
    def may_be_over(self) -> bool:
        """Return whether no share is certainly over its limit, but at least one may be."""
        return not self.is_over and any(share.may_be_over for share in self.shares)

    @property
    def is_within(self) -> bool:
        """Return whether all shares are certainly within their limits."""
        return bool(self.slice.ops_count) and not self.is_over and not self.may_be_over


@dataclass(frozen=True)
class SliceTable:
    """The slices of the judged histogram."""

    histogram: Histogram
    limits: list[ReadLimit]
    rows: list[SliceRow]
    total: int
    none_sentence: str

    @property
    def passing_text(self) -> str:
        """Return the number of listed slices that are certainly within every limit, without the full stop."""
        passing = sum(row.is_within for row in self.rows)
        verb = "is" if passing == 1 else "are"
        if self.total > len(self.rows):
            shown, every = units.count(len(self.rows)), units.count(self.total)
            return f"Of the first {shown} of {every} slices, {units.count(passing)} {verb} within every limit"
        return f"{passing} of {units.counted(len(self.rows), 'slice')} {verb} within every limit"

    @property
    def passing_sentence(self) -> str:
        """Return the number of slices that are within every limit, and the slices that the log leaves undecided."""
        return f"{self.passing_text}{self._undecided_text}."

    @property
    def so_far_sentence(self) -> str:
        """Return the outcomes of the listed slices: So far 9 of 10 slices of 2 minutes are within all limits."""
        passing = sum(row.is_within for row in self.rows)
        more = [
            (sum(row.may_be_over for row in self.rows), "unclear"),
            (sum(row.is_over for row in self.rows), "over a limit"),
        ]
        rest = "".join(f", {units.count(number)} {_is(number)} {word}" for number, word in more if number)
        first = self.rows[0].slice
        slices = f"{units.counted(len(self.rows), 'slice')} of {duration_in_words(first.end_s - first.start_s)}"
        return f"So far {units.count(passing)} of {slices} {_is(passing)} within all limits{rest}."

    @property
    def has_undecided(self) -> bool:
        """Return whether the log leaves a listed slice undecided."""
        return any(row.may_be_over for row in self.rows)

    @property
    def _undecided_text(self) -> str:
        rows = [row for row in self.rows if row.may_be_over]
        found = [
            (read, row, share)
            for row in rows
            for read, share in zip(self.limits, row.shares, strict=True)
            if share.may_be_over
        ]
        if not found:
            return ""
        thresholds = listed(list(dict.fromkeys(read.threshold for read, _, _ in found)))
        because = f"because the log's buckets do not begin at {thresholds}"
        if len(found) == 1:
            read, row, share = found[0]
            name = f"slice {units.count(row.slice.number)} may be over the limit for {read.threshold}"
            return f"; {name} ({share.range_text}{units.NBSP}%), {because}"
        if len(rows) > NAMED_SLICES:
            return f"; {units.count(len(rows))} slices may be over a limit, {because}"
        numbers = listed([units.count(row.slice.number) for row in rows])
        return f"; {'slice' if len(rows) == 1 else 'slices'} {numbers} may be over a limit, {because}"

    @property
    def side_file_sentence(self) -> str:
        """Return how a side file decides a limit that the log's buckets leave undecided; empty without such a slice."""
        found = (
            (read, row.slice.number, share)
            for row in self.rows
            for read, share in zip(self.limits, row.shares, strict=True)
            if share.buckets_at_most_text
        )
        read, number, share = next(found, (None, 0, None))
        if read is None or share is None or read.between_count is None:
            return ""
        most = share.at_most_text or share.text
        by_side_file, by_log = (f"{each}{units.NBSP}%" for each in (most, share.buckets_at_most_text))
        return (
            f"Slice {units.count(number)} is within the limit for {read.threshold}: at most {by_side_file} by the side "
            f"file, {by_log} by the log alone. Of the whole run, only "
            f"{units.counted(read.between_count, 'read')} took from {read.threshold} to "
            f"{units.threshold(read.read_at_us)}."
        )

    @property
    def cut_sentence(self) -> str:
        """Return the note about slices that the page leaves out."""
        sentence = "The table has the first {shown} of {total} slices; the CSV has them all."
        return cut_sentence(len(self.rows), self.total, sentence)

    @property
    def edges_sentence(self) -> str:
        """Return the note about limits that apply at a bucket edge near their threshold; empty if there are none."""
        moved = [limit for limit in self.limits if limit.read_at_us != limit.limit.threshold_us]
        if not moved:
            return ""
        edges = ", ".join(units.count(limit.read_at_us) for limit in moved)
        return f"Limits are evaluated at {edges} us, as ACT does, because the log has no count at the exact thresholds."


def no_slice_sentence(run: Run) -> str:
    """Return why a run has no slice: its log is too short, or the log between its reports cannot be used."""
    if run.slice_length_s is None or run.duration_s is None:
        return "The log has no report, so it has no slices."
    if run.duration_s < run.slice_length_s:
        lasted, length = units.duration(run.duration_s), units.duration(run.slice_length_s)
        return f"The log lasts {lasted}, shorter than one slice of {length}, so it has no worst slice."
    return f"The log has no usable slice of {units.duration(run.slice_length_s)}; the findings give the reasons."


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


def slice_table(
    run: Run, verdict: Verdict | None, *, shown: int | None = SHOWN_SLICES, own: Sequence[Limit] = ()
) -> SliceTable | None:
    """Return the slices of the judged histogram, compared with the verdict's limits or a reader's own.

    None if the log has no such histogram.
    """
    histogram = run.judged_histogram
    if histogram is None:
        return None
    limits = read_limits(histogram, verdict, own)
    slices = run.slices.of_histogram(histogram.ordinal)
    rows = [slice_row(each, limits) for each in histogram_slices(slices[:shown] if shown else slices)]
    return SliceTable(histogram, limits, rows, slices.count(), "" if rows else no_slice_sentence(run))


def read_limits(histogram: Histogram, verdict: Verdict | None, own: Sequence[Limit] = ()) -> list[ReadLimit]:
    """Return the limits of the verdict's profile, or a reader's own, each with its bucket edge in a histogram."""
    profile = verdict.profile if verdict else Profile.current()
    limits = own or parse_limits(profile.document)
    between = between_counts(verdict.document) if verdict else {}
    return [_read_limit(histogram, limit, between.get(limit.threshold_us)) for limit in limits]


def _read_limit(histogram: Histogram, limit: Limit, between_count: int | None) -> ReadLimit:
    is_first_version = histogram.edges == FIRST_EDGES
    edge = edge_not_below(limit.threshold_us, histogram.unit, is_first_version=is_first_version)
    below = edge_not_above(limit.threshold_us, histogram.unit, is_first_version=is_first_version)
    return ReadLimit(limit, edge.us, edge.bucket, below.bucket, between_count)


def between_counts(document: Mapping[str, Any]) -> dict[int, int]:
    """Return for each threshold the reads of the whole run between it and the log's edge, as a side file counted them.

    No slice has more of them than the run. Empty without a side file, and if its counts are not those of the log.
    """
    exact = {each["threshold_us"]: each for each in document.get("exact") or () if each["statistic"] == OVERALL}
    found = {}
    for own in document.get("shares") or ():
        counted = exact.get(own["threshold_us"])
        if own["statistic"] != OVERALL or counted is None or counted["ops_count"] != own["ops_count"]:
            continue
        if own["over_count"] <= counted["over_count"] <= own.get("over_at_most_count", own["over_count"]):
            found[own["threshold_us"]] = counted["over_count"] - own["over_count"]
    return found


def slice_row(each: HistogramSlice, limits: Sequence[ReadLimit]) -> SliceRow:
    """Return a slice with its shares."""
    return SliceRow(
        each, units.span(each.start_s, each.end_s), [share_over(each.counts, each.ops_count, limit) for limit in limits]
    )


def share_over(counts: Sequence[int], ops_count: int, limit: ReadLimit) -> SliceShare:
    """Return the share of counts over a limit's threshold."""
    threshold_us, limit_pct = limit.limit.threshold_us, limit.limit.limit_pct
    over = over_count(counts, ops_count, limit.first_bucket)
    if not ops_count:
        return SliceShare(threshold_us, over, ops_count)
    is_over = not is_count_within(over, ops_count, limit_pct)
    exact = exact_share_pct(over, ops_count)
    mark = nearness_mark(exact, limit_pct, is_over=is_over)
    text = share_text(over, ops_count, limit_pct)
    share = SliceShare(threshold_us, over, ops_count, text, is_over, mark, exact)
    by_buckets, at_most = upper_counts(counts, ops_count, limit)
    if at_most > over:
        share = replace(share, at_most_text=share_text(at_most, ops_count, limit_pct))
    share = replace(share, at_most_count=at_most)
    if is_over or is_count_within(by_buckets, ops_count, limit_pct):
        return share
    if is_count_within(at_most, ops_count, limit_pct):
        return replace(share, buckets_at_most_text=share_text(by_buckets, ops_count, limit_pct))
    return replace(share, may_be_over=True)


def share_text(over: int, ops_count: int, limit_pct: Decimal | None) -> str:
    """Return the digits of a share by its counts, as all figures of a page show them."""
    return distinct_share(str(act_share_pct(over, ops_count)), over, ops_count, limit_pct)


def range_text(least: str, most: str) -> str:
    """Return both ends of a range, or one share if they have the same digits or the second one is empty."""
    return f"{least} to {most}" if most and most != least else least


def upper_counts(counts: Sequence[int], ops_count: int, limit: ReadLimit) -> tuple[int, int]:
    """Return how many operations may be over a threshold: by the buckets alone, and with the count of a side file."""
    over = over_count(counts, ops_count, limit.first_bucket)
    if limit.first_bucket_below is None:
        return over, over
    by_buckets = over_count(counts, ops_count, limit.first_bucket_below)
    return by_buckets, by_buckets if limit.between_count is None else min(by_buckets, over + limit.between_count)


def start_line(number: int, first_line: int) -> int | None:
    """Return the last line of the report at the start of a slice, which is the line before its first; None for slice 1.

    It is not the end of the slice before: that slice is not stored if the log lacks the report at the boundary.
    """
    return first_line - 1 if number > 1 else None


def counts_of(run: Run, verdict: Verdict | None, number: int) -> dict[str, Any] | None:
    """Return how a slice was counted, for its page; None if the run has no such slice."""
    histogram = run.judged_histogram
    if histogram is None:
        return None
    own = run.slices.of_histogram(histogram.ordinal)
    found = histogram_slices(own.filter(number=number))
    if not found:
        return None
    limits, its = read_limits(histogram, verdict), found[0]
    before, slices_count = counted_before(run.pk, histogram.ordinal, number)
    is_whole = slices_count == number - 1  # a slice that is not stored has no known counts
    row = slice_row(its, limits)
    return {
        "row": row,
        "histogram": histogram,
        "buckets": _buckets(histogram, its, before if is_whole else None, limits),
        "shares": [(share, read.limit, _division(share)) for share, read in zip(row.shares, limits, strict=True)],
        "start_line": start_line(number, its.first_line),
    }


def _buckets(
    histogram: Histogram, its: HistogramSlice, before: Sequence[int] | None, limits: Sequence[ReadLimit]
) -> list[dict[str, Any]]:
    """Return the buckets up to the last with operations: cumulative counts at both ends, as in the log's reports.

    The cumulative counts are None if an earlier slice is not stored, because the register cannot add them up then.
    """
    begins = {limit.first_bucket: units.threshold(limit.limit.threshold_us) for limit in limits}
    counts = list(zip_longest(before or (), its.counts, fillvalue=0))
    while counts and not any(counts[-1]):
        counts.pop()
    return [
        {
            "span": bucket_text(histogram, bucket),
            "at_start": None if before is None else earlier,
            "at_end": None if before is None else earlier + counted,
            "counted": counted,
            "limit": begins.get(bucket, ""),
        }
        for bucket, (earlier, counted) in enumerate(counts)
    ]


def _division(share: SliceShare) -> str:
    if not share.ops_count:
        return "no operations"
    relation = "" if share.text.startswith("<") else "= "
    return f"{share.over_count:,d} of {share.ops_count:,d} {relation}{share.text} %"


PLACE = ["histogram", "slice", "start_s", "end_s", "first_line", "last_line", "ops_count"]


def slice_lines(run: Run, verdict: Verdict | None) -> tuple[list[str], Iterator[list[Value]]] | None:
    """Return the header and an iterator of lines; None for a run without the judged histogram."""
    histogram = run.judged_histogram
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


ROLE = "reads-of-device"
SHOWN_DEVICES = 128  # a configuration cannot name more
ROWS_MAX = 20_000  # slices times histograms that a page evaluates; the CSV of the histograms has all
WORST_OMITTED = "The log has too many slices to show each device's worst one here; the CSV of the histograms has them."


def devices_view(run: Run, verdict: Verdict | None, own: Sequence[Limit] = ()) -> dict[str, Any] | None:
    """Return the devices of a run for comparison; None if it has fewer than two."""
    histograms = list(run.histograms.filter(role=ROLE)[:SHOWN_DEVICES])
    if len(histograms) < 2:
        return None
    has_worst = run.slices.count() * max(each.ordinal + 1 for each in histograms) <= ROWS_MAX
    slices = list(run.slices.values_list("counts", flat=True)) if has_worst else []
    limits = read_limits(histograms[0], verdict, own)
    sizes = {str(each["name"]): units.size(each["size_bytes"]) for each in run.facts.get("devices", [])}
    rows = [_row(each, slices, limits, sizes.get(each.device, "")) for each in histograms]
    return {"limits": limits, "rows": rows, "has_worst": has_worst, "sentence": "" if has_worst else WORST_OMITTED}


def _row(histogram: Histogram, slices: Sequence[Any], limits: Sequence[ReadLimit], size: str) -> dict[str, Any]:
    """Return one device: its shares over the whole run, and in its worst slice for each threshold."""
    own = [counts[histogram.ordinal] for counts in slices if histogram.ordinal < len(counts)]
    parts = [(counts, sum(counts)) for counts in own if counts and counts[0] is not None]
    return {
        "name": histogram.device or histogram.name,
        "size": size,
        "ops": histogram.ops_count,
        "whole": [_largest_share([(histogram.counts, histogram.ops_count)], limit) for limit in limits],
        "worst": [_largest_share(parts, limit) for limit in limits],
    }


def _largest_share(parts: Sequence[tuple[Sequence[int], int]], limit: ReadLimit) -> SliceShare | None:
    """Return the largest share of parts, given their counts and operations; None if none of them has operations."""
    counted = [part for part in parts if part[1]]
    if not counted:
        return None
    counts, ops_count = max(
        counted, key=lambda part: Decimal(over_count(part[0], part[1], limit.first_bucket)) / part[1]
    )
    return share_over(counts, ops_count, limit)
