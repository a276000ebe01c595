"""The source of every published number of a run: log line, reader version and profile hash."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from results.evidence.lines import NOT_LOOKED_UP, numbered_lines
from results.models import YCSB, Evidence, Run, Share, Verdict, YcsbOperation, YcsbRun
from results.provenance.ycsb_rows import GO_RUN, OVERALL, Rows, rows_of
from results.rules.act.limits import shown_share


@dataclass(frozen=True)
class TracedValue:
    """One published number and where it comes from."""

    name: str
    value: str
    origin: str


HEAD_LINES = 5_000  # the configuration is above the first block; a block of many devices has thousands of lines
# Published column -> parts of the names of its configuration keys, over all versions of ACT.
CONFIG_KEYS = {
    "tps": ("read-reqs-per-sec", "write-reqs-per-sec", "reads-per-sec", "writes-per-sec", "load-multiplier"),
    "nx_load": ("read-reqs-per-sec", "num-devices", "device-names", "reads-per-sec"),
    "device_count": ("num-devices", "device-names"),
    "compress_pct": ("compress-pct",),
}


def trace(run: Run) -> Iterator[TracedValue]:
    """Yield the run's published numbers with their origins, the grounds of all of them first."""
    yield from _grounds(run)
    if run.workload == YCSB:
        yield from trace_ycsb(run)
        return
    keys = _config_lines(run)
    for column, value in _stated(run, CONFIG_KEYS):
        text = f"{value:f}" if hasattr(value, "as_tuple") else str(value)
        found = [keys[name] for name in CONFIG_KEYS[column] if name in keys]
        yield TracedValue(column, text, "; ".join(found) or "configuration of the run, no line found")
    if run.duration_s is not None:
        origin = f"last report interval that the log closed, {_run_lines(run)}"
        yield TracedValue("duration_s", str(run.duration_s), origin)
    for share in run.shares.order_by("statistic", "threshold_us"):
        name = f"share {share.statistic} over {share.threshold_us} us"
        yield TracedValue(name, f"{shown_share(share.printed, share.over_count)} %", _share_origin(run, share))
    verdict = run.verdicts.first()
    for violation in verdict.document["violations"] if verdict else []:
        name = f"violation in slice {violation['slice']} over {violation['threshold_us']} us"
        value = f"{shown_share(violation['share_pct'], violation['over_count'])} %"
        yield TracedValue(name, value, _slice_origin(run, violation["slice"], verdict))


def _stated(row: Run | YcsbRun | YcsbOperation, columns: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Return the columns of a row that have a value, each with its value."""
    return ((column, value) for column in columns if (value := getattr(row, column)) is not None)


def _grounds(run: Run) -> Iterator[TracedValue]:
    if run.reading is None:
        origin = f"published without a log; row as printed: {run.source_row}"
        yield TracedValue("source", run.source or "not stated", origin)
        return
    log = run.reading.evidence
    yield TracedValue("evidence", f"sha256 {log.sha256}", f"{log.filename}, {log.size_bytes} bytes as received")
    yield TracedValue("reader", f"drivetest {run.reading.reader_version}", f"reading {run.reading.pk}")
    yield TracedValue("run", run.public_id, f"run {run.ordinal} of that log, {_run_lines(run)}")
    verdict = run.verdicts.select_related("profile").first()
    if verdict is not None:
        judged = f"{verdict.profile}, profile sha256 {verdict.profile.sha256}, drivetest {verdict.reader_version}"
        yield TracedValue("verdict", verdict.outcome, judged)


def _share_origin(run: Run, share: Share) -> str:
    if share.over_count is None:
        return "as published; no counts are known"
    edge = "" if share.read_at_us is None else f", read at {share.read_at_us} us"
    counts = f"{share.over_count} of {share.ops_count} operations{edge}"
    if share.slice_number is None:
        return f"{counts}; the whole run, {_run_lines(run)}"
    return f"{counts}; {_slice_origin(run, share.slice_number, run.verdicts.first())}"


def _slice_origin(run: Run, number: int, verdict: Verdict | None) -> str:
    """Name the blocks that a slice is the difference of, by the lines of the log."""
    name = verdict.document["histogram"] if verdict else "reads"
    histogram = run.histograms.filter(name=name).first()
    slices = run.slices.of_histogram(histogram.ordinal) if histogram else run.slices.none()
    piece = slices.filter(number=number).first()
    if piece is None:
        return f"slice {number} of {name}, which is not stored"
    return f"slice {number} of {name} ({piece.start_s}-{piece.end_s} s), {_lines(piece.first_line, piece.last_line)}"


def _run_lines(run: Run) -> str:
    return _lines(run.facts.get("first_line"), run.facts.get("last_line"))


def _lines(first: int | None, last: int | None) -> str:
    return f"lines {first} to {last}" if first and last else "lines not known"


def _config_lines(run: Run) -> dict[str, str]:
    """Return for each key of the run's configuration the line of the log that states it, as text."""
    config = {str(key): str(value) for key, value in run.facts.get("config", [])}
    if not config or run.reading is None:
        return {}
    stated = {key: f"{key}: {value}" for key, value in config.items()}
    try:
        return stated | _search(run.reading.evidence, run.facts.get("first_line") or 1, list(config))
    except NOT_LOOKED_UP as error:
        return {key: f"{text} (line not looked up: {error})" for key, text in stated.items()}


def _search(log: Evidence, first_line: int, keys: list[str]) -> dict[str, str]:
    wanted = re.compile(rb"^\s*(" + b"|".join(re.escape(key.encode()) for key in keys) + rb")\s*[:=\s]\s*(.*)$")
    found: dict[str, str] = {}
    for number, line in numbered_lines(log, first_line, first_line - 1 + HEAD_LINES):
        match = wanted.match(line)
        if match:
            key, value = (part.decode(errors="replace").strip() for part in match.groups())
            found.setdefault(key, f"line {number}: {key}: {value}")
    return found


SEARCHED_ROLES = {"stderr", "command", "export"}
ORDERED_COLUMNS = ("threads_count", "target_ops_per_s", "record_count", "operation_count", "time_limit_s")
OVERALL_ROWS = {"runtime_ms": re.compile(r"RunTime.*"), "throughput_ops_per_s": re.compile(r"Throughput.*")}
COMPUTED_COUNTS = {
    "done_ops_count": "throughput x runtime, rounded; of go-ycsb the counts",
    "failed_ops_count": "sum of the operations below that failed",
}
MEASUREMENTS = {
    "ops_count": re.compile(r"(Total )?Operations"),
    "mean_us": re.compile(r"Average.*"),
    "min_us": re.compile(r"Min.*"),
    "max_us": re.compile(r"Max.*"),
}


def trace_ycsb(run: Run) -> Iterator[TracedValue]:
    """Yield the figures of a YCSB run with their origins: files, requested load, whole run, each operation."""
    files = list(_files(run))
    for companion in run.submission.companions.select_related("evidence") if run.submission else ():
        role = companion.role or "of no known role"
        yield TracedValue("companion", f"sha256 {companion.evidence.sha256}", f"{companion.filename}, read as {role}")
    yield TracedValue("validity", run.ycsb.validity, "; ".join(run.ycsb.reasons) or "no finding decides against it")
    yield from _ordered(run, files)
    yield from _whole(run, files)
    for operation in run.ycsb.operations.all():
        yield from _operation(run, operation, files)
    yield from _status_lines(run, files)


@dataclass
class _File:
    """A stored file of the run: its name, the lines of its rows and of the command, or why they are unknown."""

    name: str
    rows: Rows = field(default_factory=Rows)
    problem: str = ""


def _file(evidence: Evidence, name: str, span: tuple[int, int | None] = (1, None)) -> _File:
    try:
        return _File(name, rows_of(numbered_lines(evidence, *span)))
    except NOT_LOOKED_UP as error:
        return _File(name, problem=f"{name}: line not looked up: {error}")


def _files(run: Run) -> Iterator[_File]:
    if run.reading is not None:
        log = run.reading.evidence
        is_alone = run.reading.runs.count() == 1
        span = (1, None) if is_alone else (run.facts.get("first_line") or 1, run.facts.get("last_line") or None)
        problem = f"{run.member} in {log.filename}: lines in an archive are not looked up"
        yield _File(log.filename, problem=problem) if run.member else _file(log, log.filename, span)
    if run.submission is not None:
        searched = run.submission.companions.filter(role__in=SEARCHED_ROLES)
        for companion in searched.select_related("evidence"):
            yield _file(companion.evidence, companion.filename)


def _ordered(run: Run, files: list[_File]) -> Iterator[TracedValue]:
    places = [f"line {file.rows.command_line} of {file.name}" for file in files if file.rows.command_line]
    origin = f"command line, {places[0]}" if places else _unknown(files, "the properties that the output prints")
    for column, value in _stated(run.ycsb, ORDERED_COLUMNS):
        yield TracedValue(column, _text_of(value), f"{origin}, or YCSB's default if it does not state one")


def _whole(run: Run, files: list[_File]) -> Iterator[TracedValue]:
    for column, value in _stated(run.ycsb, OVERALL_ROWS):
        place = _place(files, [OVERALL, GO_RUN], OVERALL_ROWS[column], float(value))
        yield TracedValue(column, _text_of(value), place)
    for column, value in _stated(run.ycsb, COMPUTED_COUNTS):
        yield TracedValue(column, str(value), COMPUTED_COUNTS[column])


def _operation(run: Run, operation: YcsbOperation, files: list[_File]) -> Iterator[TracedValue]:
    name = " ".join(filter(None, (operation.name, operation.outcome, operation.time and f"{operation.time} time")))
    for column, value in _stated(operation, MEASUREMENTS):
        place = _operation_place(operation, files, MEASUREMENTS[column], float(value))
        yield TracedValue(f"{name}, {column}", _text_of(value), place)
    for percentile, value in operation.percentiles:
        place = _operation_place(operation, files, _percentile_row(percentile), float(value))
        yield TracedValue(f"{name}, percentile {percentile}", f"{value} us", place)


def _percentile_row(percentile: str) -> re.Pattern[str]:
    """Return the pattern of a percentile's row name. 0.2 and 0.3 print the 90th as 95th (docs/reference/formats.md)."""
    misnamed = "|95" if percentile == "90" else ""
    return re.compile(rf"p{re.escape(percentile)}|({re.escape(percentile)}{misnamed})(st|nd|rd|th)?PercentileLatency.*")


def _operation_place(operation: YcsbOperation, files: list[_File], measurement: re.Pattern[str], value: float) -> str:
    if operation.taken_from != "rows":
        return f"not printed: computed from its {operation.taken_from} values, all added first"
    return _place(files, _metrics(operation), measurement, value)


def _metrics(operation: YcsbOperation) -> list[str]:
    """Return the names under which an operation may be printed."""
    suffixes = {"ok": ["", "_OK"], "failed": ["-FAILED", "_ERROR"]}.get(operation.outcome, [f"-{operation.outcome}"])
    prefixes = ["Intended-", ""] if operation.time == "response" else [""]
    return [f"{prefix}{operation.name}{suffix}" for prefix in prefixes for suffix in suffixes]


def _place(files: list[_File], metrics: list[str], measurement: re.Pattern[str], value: float) -> str:
    for file in files:
        line = file.rows.line_of(metrics, measurement, value)
        if line is not None:
            return f"line {line} of {file.name}"
    return _unknown(files, "no row of its own found")


def _status_lines(run: Run, files: list[_File]) -> Iterator[TracedValue]:
    if count := run.ycsb.intervals.count():
        spans = [(file.rows.status_lines, file.name) for file in files if file.rows.status_lines]
        places = "; ".join(f"lines {lines[0]} to {lines[-1]} of {name}" for lines, name in spans)
        yield TracedValue("status lines", str(count), places or _unknown(files, "the blocks before the result"))


def _unknown(files: list[_File], otherwise: str) -> str:
    return "; ".join(file.problem for file in files if file.problem) or otherwise


def _text_of(value: object) -> str:
    return f"{value:f}".rstrip("0").rstrip(".") if hasattr(value, "as_tuple") else str(value)
