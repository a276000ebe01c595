"""Page of a YCSB run: validity, operations, and throughput over time."""

from collections.abc import Iterable
from typing import Any

from results.access.withholding import cause_of_files, has_withheld_file, visible_facts, visible_ycsb
from results.models import Run, YcsbRun
from webapp.register.runs.side_file import Pair, filled, telemetry_pairs
from webapp.register.runs.slices import cut_sentence
from webapp.templatetags import units

SHOWN_INTERVALS = 500  # a day of status lines every 10 s has 8,640; the CSV has all of them
NO_LINES = "The output has no status lines: YCSB ran without -s, or its standard error was not submitted."
WITHHELD_LINES = "Withheld {cause}, with the log or a file submitted with it."
NO_PROPERTIES = "The output has no properties."
PHASES = {"load": "load phase", "run": "run phase", "": "phase not reported"}


def ycsb_view(run: Run) -> dict[str, Any]:
    """Return the page of a YCSB run."""
    facts, withheld = visible_ycsb(run), has_withheld_file(run)
    withheld_lines = WITHHELD_LINES.format(cause=cause_of_files(run).label) if withheld else ""
    intervals = [] if withheld else facts.intervals.all()[:SHOWN_INTERVALS]
    lines = [(interval, _operations(interval.operations)) for interval in intervals]
    cut = "The table has the first {shown} of {total} status lines; the CSV has them all."
    return {
        "facts": facts,
        "sentence": run_sentence(facts),
        "setup": ycsb_setup(run, facts),
        "no_properties_sentence": withheld_lines or NO_PROPERTIES,
        "operations": facts.operations.all(),
        "intervals": lines,
        "cut_sentence": "" if withheld else cut_sentence(len(lines), facts.intervals.count(), cut),
        "no_intervals_sentence": withheld_lines or NO_LINES,
        "telemetry": telemetry_pairs(visible_facts(run, "telemetry")),
    }


def run_sentence(facts: YcsbRun) -> str:
    """Return a sentence on the run: phase, workload, threads, throughput and failed operations."""
    threads = f" with {units.counted(facts.threads_count, 'thread')}" if facts.threads_count is not None else ""
    named = f"workload {facts.workload}" if facts.workload else "an unnamed workload"
    rate = f": {units.rate(facts.throughput_ops_per_s)} ops/s" if facts.throughput_ops_per_s is not None else ""
    failed = f", {units.counted(facts.failed_ops_count, 'operation')} failed" if facts.failed_ops_count else ""
    return f"{PHASES[facts.phase]} of {named}{threads}{rate}{failed}."


def ycsb_setup(run: Run, facts: YcsbRun) -> list[Pair]:
    """Return the set-up of a YCSB run as pairs of name and value."""
    return filled(
        ("Tool", f"{run.tool} {run.tool_version}".strip()),
        ("Phase", facts.phase),
        ("Workload", facts.workload),
        ("Binding", facts.binding),
        ("Threads", units.count(facts.threads_count)),
        ("Target", units.with_unit(units.rate(facts.target_ops_per_s), "ops/s")),
        ("Records", units.count(facts.record_count)),
        ("Operations requested", units.count(facts.operation_count)),
        ("Operations done", units.count(facts.done_ops_count)),
        ("Operations failed", units.count(facts.failed_ops_count)),
        ("Time limit", units.duration(facts.time_limit_s)),
        ("Run time", units.with_unit(units.decimal(facts.runtime_ms), "ms")),
        ("Throughput", units.with_unit(units.rate(facts.throughput_ops_per_s), "ops/s")),
        ("Measurement type", facts.measurement),
        ("Times", {"service": "service time", "response": "response time"}.get(facts.times, facts.times)),
        ("Firmware", run.firmware),
        ("Stopped", visible_facts(run, "stop").get("kind", "")),
        ("Command line", facts.command_line),
    )


def _operations(operations: Iterable[dict[str, Any]]) -> str:
    """Return name and mean of each operation of an interval, as far as they were printed."""
    named = [(each["name"], each.get("mean_us")) for each in operations]
    return ", ".join(f"{name} {mean} us" if mean is not None else name for name, mean in named)
