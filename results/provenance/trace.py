"""The source of every published number of a run: log line, reader version and profile hash."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from results.evidence.lines import NOT_LOOKED_UP, numbered_lines
from results.ingest.act import YCSB
from results.models import Companion, Evidence, Run, Share, Verdict, YcsbOperation
from results.provenance.ycsb_rows import GO_RUN, OVERALL, Rows, rows_of


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
    for column, names in CONFIG_KEYS.items():
        if (value := getattr(run, column)) is not None:
            yield TracedValue(
                column, f"{value:f}" if hasattr(value, "as_tuple") else str(value), _from_keys(names, keys)
            )
    if run.duration_s is not None:
        lines = _lines(run.facts.get("first_line"), run.facts.get("last_line"))
        yield TracedValue("duration_s", str(run.duration_s), f"last report interval that the log closed, {lines}")
    for share in run.shares.order_by("statistic", "threshold_us"):
        yield TracedValue(
            f"share {share.statistic} over {share.threshold_us} us", f"{share.printed} %", _share_origin(run, share)
        )
    verdict = run.verdicts.first()
    for violation in verdict.document["violations"] if verdict else []:
        name = f"violation in slice {violation['slice']} over {violation['threshold_us']} us"
        yield TracedValue(name, f"{violation['share_pct']} %", _slice_origin(run, violation["slice"], verdict))


def _grounds(run: Run) -> Iterator[TracedValue]:
    if run.reading is None:
        yield TracedValue(
            "source", run.source or "not stated", f"published without a log; row as printed: {run.source_row}"
        )
        return
    log = run.reading.evidence
    yield TracedValue("evidence", f"sha256 {log.sha256}", f"{log.filename}, {log.size_bytes} bytes as received")
    yield TracedValue("reader", f"drivetest {run.reading.reader_version}", f"reading {run.reading.pk}")
    lines = _lines(run.facts.get("first_line"), run.facts.get("last_line"))
    yield TracedValue("run", run.public_id, f"run {run.ordinal} of that log, {lines}")
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
        return f"{counts}; the whole run, {_lines(run.facts.get('first_line'), run.facts.get('last_line'))}"
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


def _lines(first: int | None, last: int | None) -> str:
    return f"lines {first} to {last}" if first and last else "lines not known"


def _from_keys(names: tuple[str, ...], keys: dict[str, str]) -> str:
    found = [keys[name] for name in names if name in keys]
    return "; ".join(found) or "configuration of the run, no line found"


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


COMMAND = re.compile(rb"^\s*Command line:|\s-threads\s|\s--threads\s")
SEARCHED_ROLES = {"stderr", "command", "export"}
ORDERED_COLUMNS = ("threads_count", "target_ops_per_s", "record_count", "operation_count", "time_limit_s")
OVERALL_ROWS = {"runtime_ms": re.compile(r"RunTime.*"), "throughput_ops_per_s": re.compile(r"Throughput.*")}
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


class _File:
    """A stored file of the run: its name, the lines of its rows and of the command, or why they are unknown."""

    def __init__(self, run: Run, evidence: Evidence, name: str, *, is_log: bool) -> None:
        self.name, self.rows, self.command, self.problem = name, Rows(), None, ""
        if is_log and run.member:
            self.problem = f"{run.member} in {name}: lines in an archive are not looked up"
            return
        span = _lines_of(run) if is_log else (1, None)
        try:
            self.rows = rows_of(numbered_lines(evidence, *span))
            lines = numbered_lines(evidence, *span)
            self.command = next((number for number, line in lines if COMMAND.search(line)), None)
        except NOT_LOOKED_UP as error:
            self.problem = f"{name}: line not looked up: {error}"


def _lines_of(run: Run) -> tuple[int, int | None]:
    """Return the first and last line of a run in its log; the whole log if it has only this run."""
    if run.reading is None or run.reading.runs.count() == 1:
        return 1, None
    return run.facts.get("first_line") or 1, run.facts.get("last_line") or None


def _files(run: Run) -> Iterator[_File]:
    if run.reading is not None:
        log = run.reading.evidence
        yield _File(run, log, log.filename, is_log=True)
    companions = (
        run.submission.companions.filter(role__in=SEARCHED_ROLES) if run.submission else Companion.objects.none()
    )
    for companion in companions.select_related("evidence"):
        yield _File(run, companion.evidence, companion.filename, is_log=False)


def _ordered(run: Run, files: list[_File]) -> Iterator[TracedValue]:
    places = [f"line {file.command} of {file.name}" for file in files if file.command]
    origin = f"command line, {places[0]}" if places else _unknown(files, "the properties that the output prints")
    for column in ORDERED_COLUMNS:
        if (value := getattr(run.ycsb, column)) is not None:
            yield TracedValue(column, _text_of(value), f"{origin}, or YCSB's default if it does not state one")


def _whole(run: Run, files: list[_File]) -> Iterator[TracedValue]:
    for column, measurement in OVERALL_ROWS.items():
        if (value := getattr(run.ycsb, column)) is not None:
            yield TracedValue(column, _text_of(value), _place(files, [OVERALL, GO_RUN], measurement, float(value)))
    if run.ycsb.done_ops_count is not None:
        yield TracedValue(
            "done_ops_count", str(run.ycsb.done_ops_count), "throughput x runtime, rounded; of go-ycsb the counts"
        )
    if run.ycsb.failed_ops_count is not None:
        yield TracedValue("failed_ops_count", str(run.ycsb.failed_ops_count), "sum of the operations below that failed")


def _operation(run: Run, operation: YcsbOperation, files: list[_File]) -> Iterator[TracedValue]:
    name = " ".join(
        part for part in (operation.name, operation.outcome, operation.time and f"{operation.time} time") if part
    )
    for column, measurement in MEASUREMENTS.items():
        if (value := getattr(operation, column)) is not None:
            yield TracedValue(
                f"{name}, {column}", _text_of(value), _operation_place(operation, files, measurement, float(value))
            )
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
    count = run.ycsb.intervals.count()
    if count:
        places = [
            f"lines {file.rows.status_lines[0]} to {file.rows.status_lines[-1]} of {file.name}"
            for file in files
            if file.rows.status_lines
        ]
        yield TracedValue(
            "status lines", str(count), "; ".join(places) or _unknown(files, "the blocks before the result")
        )


def _unknown(files: list[_File], otherwise: str) -> str:
    return "; ".join(file.problem for file in files if file.problem) or otherwise


def _text_of(value: object) -> str:
    return f"{value:f}".rstrip("0").rstrip(".") if hasattr(value, "as_tuple") else str(value)
