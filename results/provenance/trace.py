"""Every published number of a run, back to the line of its stored log, the reader's version and the profile's hash."""

import re
from collections.abc import Iterator

from results.evidence.lines import NOT_LOOKED_UP, numbered_lines
from results.ingest.act import YCSB
from results.models import Evidence, Run, Share, Verdict
from results.provenance.traced import TracedValue
from results.provenance.ycsb_trace import trace_ycsb

HEAD_LINES = 5_000  # the configuration stands above the first block; a block of many devices has thousands of lines
# Published column -> what the names of the configuration keys have that it comes from, over all versions of ACT.
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
    held = run.slices.of_histogram(histogram.ordinal) if histogram else run.slices.none()
    piece = held.filter(number=number).first()
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
