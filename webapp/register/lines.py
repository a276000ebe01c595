"""A stored log at one of its lines: what stands there, numbered as the reader counted it."""

import re
from dataclasses import dataclass

from results.log_lines import NOT_LOOKED_UP, numbered_lines
from results.models import Evidence, Run
from results.seconds import is_withheld

BEFORE_LINES, SHOWN_LINES = 20, 200
SHOWN_CHARS = 400
LARGEST_BYTES = 512 * 1024**2  # reading up to a line takes a second per some 200 MB; larger logs are for download
UNPRINTABLE = re.compile(r"[^\t\x20-\x7e\xa0-\u200a\u2010-\u2027\u2030-\u205f\u2070-\ud7ff]")
TOO_LARGE = "The log is too large to look up a line here. Download it."
NOT_HERE = "The log has no such line as it is stored, or cannot be opened here. Download it."


@dataclass(frozen=True)
class LogLine:
    """One line; `is_asked` marks what the reader of the page came for."""

    number: int
    text: str
    is_asked: bool


@dataclass(frozen=True)
class LogView:
    """Some lines of a log, or why there are none."""

    lines: list[LogLine]
    sentence: str
    earlier: int | None
    later: int | None
    is_missing: bool = False  # the log was looked through, and has no such line


def has_lines(run: Run) -> bool:
    """Tell whether lines of a run can be pointed at: it has a log, which is not withheld."""
    return run.reading is not None and not is_withheld(run)


def log_view(run: Run, evidence: Evidence, first: int, last: int) -> LogView:
    """Return the lines `first` to `last` with some before them and at most SHOWN_LINES in all; lines count from 1."""
    if (evidence.content_size_bytes or evidence.size_bytes) > LARGEST_BYTES:
        return LogView([], TOO_LARGE, None, None)
    start = max(first - BEFORE_LINES, 1)
    end = start + SHOWN_LINES - 1
    try:
        found = list(numbered_lines(evidence, start, end, run.member))
    except NOT_LOOKED_UP:
        return LogView([], NOT_HERE, None, None)
    lines = [LogLine(number, _printable(text), first <= number <= last) for number, text in found]
    if not any(line.is_asked for line in lines):
        return LogView([], NOT_HERE, None, None, is_missing=True)
    earlier = max(start - SHOWN_LINES + BEFORE_LINES, 1) if start > 1 else None
    return LogView(lines, "", earlier, end + 1 if len(lines) == SHOWN_LINES else None)


def _printable(line: bytes) -> str:
    """Return a line as text that can only be text: no marks that turn or hide what follows them."""
    text = line.decode("utf-8", "replace").strip("\r\n\x00\ufeff").replace("\x00", "")
    shown = UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text[:SHOWN_CHARS])
    return shown + ("..." if len(text) > SHOWN_CHARS else "")
