"""Line numbers of the rows of a YCSB or go-ycsb output, by metric and measurement or by metric alone.

Source: docs/reference/formats.md, "A YCSB RUN". drivetest alone reads figures; here only their lines are looked up.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

TEXT_ROW = re.compile(rb"^\s*\[([^\]]+)\], (.+), ([^,]+?)\s*$")
JSON_FIELD = re.compile(rb'"(metric|measurement|value)"\s*:\s*"?([^",}]+)')
GO_ROWS = (
    re.compile(rb"^\s*([A-Z_]+)\s+- Takes\(s\)"),
    re.compile(rb"^\s*\|\s*([A-Z_]+)\s*\|"),
    re.compile(rb'"Operation":"([A-Z_]+)"'),
)
GO_END = re.compile(rb"^\s*Run finished, takes (\S+)")
COMMAND = re.compile(rb"^\s*Command line:|\s-threads\s|\s--threads\s")
STATUS_LINE = re.compile(rb"(^|\s)\d+ sec: \d+ operations")
RECORDER = re.compile(r"^(Hdr|Bucket|Raw)(?=[A-Z])")
JSON_FIELDS = 3
OVERALL, GO_RUN = "OVERALL", "Run finished"


Stated = tuple[int, str]  # a line number and its value as text


@dataclass
class Rows:
    """Lines by what they state; of a metric that is printed again and again (go-ycsb) the last line."""

    by_measurement: dict[str, dict[str, list[Stated]]] = field(default_factory=dict)
    by_metric: dict[str, int] = field(default_factory=dict)
    status_lines: list[int] = field(default_factory=list)
    command_line: int | None = None

    def add(self, metric: str, measurement: str, stated: Stated) -> None:
        """Add a row: a file of several runs has one for each."""
        self.by_measurement.setdefault(metric, {}).setdefault(measurement, []).append(stated)

    def line_of(self, metrics: Iterable[str], measurements: re.Pattern[str], value: float) -> int | None:
        """Return the line that states this value, else the only line of such a row, else the line of the metric.

        None if no line matches, or if several rows match.
        """
        named = list(metrics)
        found = [
            stated
            for metric in named
            for measurement, rows in self.by_measurement.get(metric, {}).items()
            if measurements.fullmatch(measurement)
            for stated in rows
        ]
        same = [line for line, text in found if _number(text) == value]
        if same or len(found) == 1:
            return same[0] if same else found[0][0]
        return next((self.by_metric[metric] for metric in named if metric in self.by_metric), None)


def rows_of(lines: Iterable[tuple[int, bytes]]) -> Rows:
    """Return the line numbers of the rows among numbered lines."""
    rows = Rows()
    stated: dict[bytes, str] = {}
    for number, line in lines:
        if rows.command_line is None and COMMAND.search(line):
            rows.command_line = number
        if STATUS_LINE.search(line):
            rows.status_lines.append(number)
        elif row := TEXT_ROW.match(line):
            metric, measurement, value = map(_text, row.groups())
            rows.add(_metric(metric), measurement, (number, value))
        else:
            _add_json(rows, number, line, stated)
            rows.by_metric.update((_text(metric), number) for form in GO_ROWS for metric in form.findall(line))
            if GO_END.match(line):
                rows.by_metric[GO_RUN] = number
    return rows


def _add_json(rows: Rows, number: int, line: bytes, stated: dict[bytes, str]) -> None:
    """Add the rows that end on this line; one may have begun on lines before."""
    for name, value in JSON_FIELD.findall(line):
        stated[name] = _text(value)
        if name == b"value" and len(stated) == JSON_FIELDS:
            rows.add(_metric(stated[b"metric"]), stated[b"measurement"], (number, stated[b"value"]))
            stated.clear()


def _metric(name: str) -> str:
    """Return the metric without its recorder (one of two): the operation's name does not contain it either."""
    return RECORDER.sub("", name)


def _text(part: bytes) -> str:
    return part.decode(errors="replace").strip()


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:  # an infinite rate, or a word: equal to no figure
        return None
