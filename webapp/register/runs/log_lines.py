"""Lines of a stored log, numbered as the reader counts them, with the counts of a slice marked."""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from results.access.withholding import is_withheld
from results.evidence.lines import NOT_LOOKED_UP, numbered_lines
from results.models import Evidence, Run
from webapp.register.runs.slices import start_line

Numbered = tuple[int, bytes]

REPORT = re.compile(rb"\s*after \d+ sec", re.IGNORECASE)  # of all versions: After 1 sec:, after 1 sec:
BUCKETS = re.compile(rb"\s*\(\d+: *\d+\)")
TOTAL = re.compile(rb"\s*\(\d+ total\)")
LINES_MAX = 2_000  # lines of one report that are searched: 128 devices print about 1,200


def counted_lines(lines: Sequence[Numbered], histogram: str) -> list[int]:
    """Return the numbers of the lines of a histogram in the last report of `lines`, the heading of the report first.

    Empty if `lines` does not include the whole report: for an index load of ACT 1.x, or a report that is too long.
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
    """Return whether a line is the heading of a histogram: reads (8010 total), READS              (2002 total)."""
    return text.startswith(histogram) and TOTAL.match(text[len(histogram) :]) is not None


BEFORE_LINES, SHOWN_LINES = 20, 200
CONTEXT_LINES = 2  # shown before and after the lines of a report
SHOWN_CHARS = 400
READ_BYTES = 4 * SHOWN_CHARS  # of a line: the shown characters take no more
LARGEST_BYTES = 512 * 1024**2  # reading up to a line takes about 1 s for 200 MB; larger logs can be downloaded
UNPRINTABLE = re.compile(r"[^\t\x20-\x7e\xa0-\u200a\u2010-\u2027\u2030-\u205f\u2070-\ud7ff]")
TOO_LARGE = "The log is too large to show a line here. Download it instead."
NOT_HERE = "The stored log has no such line, or it cannot be opened. Download it instead."


@dataclass(frozen=True)
class LogLine:
    """One line; `is_marked` if it is one of the requested lines; `folded` lines before it are left out."""

    number: int
    text: str
    is_marked: bool
    folded: int = 0

    @property
    def first_folded(self) -> int:
        """Return the number of the first line left out before this one."""
        return self.number - self.folded


def has_lines(run: Run) -> bool:
    """Return whether links to log lines work: the run has a log, and it is not withheld."""
    return run.reading is not None and not is_withheld(run)


def log_view(run: Run, evidence: Evidence, first: int, last: int) -> dict[str, Any]:
    """Return the lines `first` to `last` with context, at most SHOWN_LINES in all, or a sentence why there are none.

    Line numbers start at 1. For a slice, only the lines with its counts are returned. If the lines do not fit on a
    page, none is marked.
    """
    if (evidence.content_size_bytes or evidence.size_bytes) > LARGEST_BYTES:
        return {"sentence": TOO_LARGE}
    return _slice_view(run, evidence, first, last) or _lines_view(run, evidence, first, last)


def _lines_view(run: Run, evidence: Evidence, first: int, last: int) -> dict[str, Any]:
    start = max(first - BEFORE_LINES, 1)
    end = start + SHOWN_LINES - 1
    try:
        found = list(numbered_lines(evidence, start, end, run.member))
    except NOT_LOOKED_UP:
        return {"sentence": NOT_HERE}
    marks = last <= end
    lines = [LogLine(number, _printable(text), marks and first <= number <= last) for number, text in found]
    if not any(line.number >= first for line in lines):
        return {"sentence": NOT_HERE, "is_missing": True}
    earlier = max(start - SHOWN_LINES + BEFORE_LINES, 1) if start > 1 else None
    later = end + 1 if len(lines) == SHOWN_LINES else None
    return {"lines": lines, "earlier": earlier, "later": later, "marks": marks}


def _slice_view(run: Run, evidence: Evidence, first: int, last: int) -> dict[str, Any] | None:
    """Return the lines with the counts of the slice that has exactly these lines.

    None if there is no such slice, or if the log does not print its counts in a known form.
    """
    histogram = run.judged_histogram
    own = run.slices.of_histogram(histogram.ordinal) if histogram else run.slices.none()
    number = own.filter(first_line=first, last_line=last).values_list("number", flat=True).first()
    if histogram is None or number is None:
        return None
    start = start_line(number, first)
    wanted = [last] if start is None else [start, last]
    try:
        parts = list(_lines_up_to(evidence, wanted, run.member))
    except NOT_LOOKED_UP:
        return None
    marked = [counted_lines(lines, histogram.name) for lines in parts]
    if len(marked) < len(wanted) or not all(marked):
        return None
    lines = _around_marks(zip(parts, marked, strict=True))
    return {"lines": lines, "slice_number": number, "marks_start": start is not None}


def _around_marks(parts: Iterable[tuple[list[Numbered], list[int]]]) -> list[LogLine]:
    """Return the marked lines of each part of a log with the lines around them."""
    lines: list[LogLine] = []
    for read, marked in parts:
        shown = {number + offset for number in marked for offset in range(-CONTEXT_LINES, CONTEXT_LINES + 1)}
        for number, text in read:
            if number in shown and (not lines or number > lines[-1].number):
                folded = number - lines[-1].number - 1 if lines else 0
                lines.append(LogLine(number, _printable(text), number in marked, folded))
    return lines


def _lines_up_to(evidence: Evidence, ends: Sequence[int], member: str) -> Iterator[list[Numbered]]:
    """Yield the last lines up to each end in one pass over the log; `ends` must be ascending."""
    recent: deque[Numbered] = deque(maxlen=LINES_MAX)
    for number, text in numbered_lines(evidence, max(ends[0] - LINES_MAX, 0) + 1, ends[-1], member):
        recent.append((number, text[:READ_BYTES]))
        if number in ends:
            yield list(recent)


def _printable(line: bytes) -> str:
    """Return a line as printable text, without characters that hide or reverse the text after them."""
    text = line.decode("utf-8", "replace").strip("\r\n\x00\ufeff").replace("\x00", "")
    shown = UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text[:SHOWN_CHARS])
    return shown + ("..." if len(text) > SHOWN_CHARS else "")
