"""Which lines of a log hold the counts that a slice is made of: one histogram in the last report before a line."""

import re
from collections.abc import Sequence

Numbered = tuple[int, bytes]

REPORT = re.compile(rb"\s*after \d+ sec", re.IGNORECASE)  # of all versions: After 1 sec:, after 1 sec:
BUCKETS = re.compile(rb"\s*\(\d+: *\d+\)")
TOTAL = re.compile(rb"\s*\(\d+ total\)")
LINES_MAX = 2_000  # of one report that are looked through: 128 devices print some 1,200


def start_line(number: int, first_line: int) -> int | None:
    """Return the last line of the report that a slice begins with: the one before its first; None of slice 1.

    Not the end of the slice before: where the log lacks the report at a boundary, that slice is not kept.
    """
    return first_line - 1 if number > 1 else None


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
