"""Lines of a stored log, numbered as the reader counts them, with the counts of a slice marked."""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from results.access.intervals import is_withheld
from results.evidence.lines import NOT_LOOKED_UP, numbered_lines
from results.models import Evidence, Run
from webapp.register.runs.slices import start_line

Numbered = tuple[int, bytes]

REPORT = re.compile(rb"\s*after \d+ sec", re.IGNORECASE)  # of all versions: After 1 sec:, after 1 sec:
BUCKETS = re.compile(rb"\s*\(\d+: *\d+\)")
TOTAL = re.compile(rb"\s*\(\d+ total\)")
LINES_MAX = 2_000  # of one report that are looked through: 128 devices print some 1,200


def counted_lines(lines: Sequence[Numbered], histogram: str) -> list[int]:
    """Return the numbers of the lines that print a histogram in the last report of `lines`, its heading first.

    Empty where the lines hold no such report whole: an index load of 1.x, or a report longer than what was read.
    """
    start = max((place for place, (_, text) in enumerate(lines) if REPORT.match(text)), default=None)
    if start is None:
        return []
    report = lines[start:]
    head = next((place for place, (_, text) in enumerate(report) if _is_head(text, histogram.encode())), None)
    if head is None:
        return []
    counts = head + 1
    while counts < len(report) and BUCKETS.match(report[counts][1]):
        counts += 1
    return [report[0][0], *(number for number, _ in report[head:counts])]


def _is_head(text: bytes, histogram: bytes) -> bool:
    """Tell whether a line heads a histogram: reads (8010 total), READS              (2002 total)."""
    return text.startswith(histogram) and TOTAL.match(text[len(histogram) :]) is not None


BEFORE_LINES, SHOWN_LINES = 20, 200
BESIDE_LINES = 2  # shown around lines of a report
SHOWN_CHARS = 400
LOOKED_AT_BYTES = 4 * SHOWN_CHARS  # of a line: as many as its shown characters can take
LARGEST_BYTES = 512 * 1024**2  # reading up to a line takes a second per some 200 MB; larger logs are for download
UNPRINTABLE = re.compile(r"[^\t\x20-\x7e\xa0-\u200a\u2010-\u2027\u2030-\u205f\u2070-\ud7ff]")
TOO_LARGE = "The log is too large to look up a line here. Download it."
NOT_HERE = "The log has no such line as it is stored, or cannot be opened here. Download it."


@dataclass(frozen=True)
class LogLine:
    """One line; `is_asked` marks what the reader of the page came for, `folded` are the lines left out before it."""

    number: int
    text: str
    is_asked: bool
    folded: int = 0

    @property
    def first_folded(self) -> int:
        """The first line that is left out before this one."""
        return self.number - self.folded


@dataclass(frozen=True)
class LogView:
    """Some lines of a log, or why there are none."""

    lines: list[LogLine]
    sentence: str
    earlier: int | None
    later: int | None
    is_missing: bool = False  # the log was looked through, and has no such line
    slice_number: int | None = None  # of the slice whose counts are marked
    marks_start: bool = False  # also the counts that the slice began with

    @property
    def marks(self) -> bool:
        """Some of the lines are marked."""
        return any(line.is_asked for line in self.lines)


@dataclass(frozen=True)
class SliceEnds:
    """Where the counts of a slice stand: the last lines of the reports that it begins and ends with."""

    number: int
    histogram: str
    start_line: int | None
    end_line: int


def slice_ends(run: Run, first: int, last: int) -> SliceEnds | None:
    """Return the slice that has exactly these lines; None where they are no slice's."""
    histogram = run.histograms.judged().first()
    own = run.slices.of_histogram(histogram.ordinal) if histogram else run.slices.none()
    found = own.filter(first_line=first, last_line=last).values_list("number", flat=True).first()
    if histogram is None or found is None:
        return None
    return SliceEnds(found, histogram.name, start_line(found, first), last)


def has_lines(run: Run) -> bool:
    """Tell whether lines of a run can be pointed at: it has a log, which is not withheld."""
    return run.reading is not None and not is_withheld(run)


def log_view(run: Run, evidence: Evidence, first: int, last: int) -> LogView:
    """Return the lines `first` to `last` with some before them and at most SHOWN_LINES in all; lines count from 1.

    Of a slice those alone that its counts stand in; of more than a page of other lines none is marked.
    """
    if (evidence.content_size_bytes or evidence.size_bytes) > LARGEST_BYTES:
        return LogView([], TOO_LARGE, None, None)
    ends = slice_ends(run, first, last)
    return (ends and _slice_view(run, evidence, ends)) or _lines_view(run, evidence, first, last)


def _lines_view(run: Run, evidence: Evidence, first: int, last: int) -> LogView:
    start = max(first - BEFORE_LINES, 1)
    end = start + SHOWN_LINES - 1
    try:
        found = list(numbered_lines(evidence, start, end, run.member))
    except NOT_LOOKED_UP:
        return LogView([], NOT_HERE, None, None)
    marks = last <= end
    lines = [LogLine(number, _printable(text), marks and first <= number <= last) for number, text in found]
    if not any(line.number >= first for line in lines):
        return LogView([], NOT_HERE, None, None, is_missing=True)
    earlier = max(start - SHOWN_LINES + BEFORE_LINES, 1) if start > 1 else None
    return LogView(lines, "", earlier, end + 1 if len(lines) == SHOWN_LINES else None)


def _slice_view(run: Run, evidence: Evidence, ends: SliceEnds) -> LogView | None:
    """Return the lines that a slice's counts stand in; None where the log does not print them as they are known."""
    wanted = [ends.end_line] if ends.start_line is None else [ends.start_line, ends.end_line]
    try:
        looked_at = list(_lines_up_to(evidence, wanted, run.member))
    except NOT_LOOKED_UP:
        return None
    marked = [counted_lines(lines, ends.histogram) for lines in looked_at]
    if len(marked) < len(wanted) or not all(marked):
        return None
    lines: list[LogLine] = []
    for read, asked in zip(looked_at, marked, strict=True):
        shown = {number + beside for number in asked for beside in range(-BESIDE_LINES, BESIDE_LINES + 1)}
        for number, text in read:
            if number in shown and (not lines or number > lines[-1].number):
                folded = number - lines[-1].number - 1 if lines else 0
                lines.append(LogLine(number, _printable(text), number in asked, folded))
    return LogView(lines, "", None, None, slice_number=ends.number, marks_start=ends.start_line is not None)


def _lines_up_to(evidence: Evidence, ends: Sequence[int], member: str) -> Iterator[list[Numbered]]:
    """Yield the last lines up to each end, in one pass of the log; `ends` rise."""
    kept: deque[Numbered] = deque(maxlen=LINES_MAX)
    for number, text in numbered_lines(evidence, max(ends[0] - LINES_MAX, 0) + 1, ends[-1], member):
        kept.append((number, text[:LOOKED_AT_BYTES]))
        if number in ends:
            yield list(kept)


def _printable(line: bytes) -> str:
    """Return a line as text that can only be text: no marks that turn or hide what follows them."""
    text = line.decode("utf-8", "replace").strip("\r\n\x00\ufeff").replace("\x00", "")
    shown = UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text[:SHOWN_CHARS])
    return shown + ("..." if len(text) > SHOWN_CHARS else "")
