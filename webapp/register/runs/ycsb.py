"""Page of a YCSB run: validity, operations, and throughput over time."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from results.access.redaction import has_withheld_file, visible_facts, visible_ycsb
from results.models import Run, YcsbInterval, YcsbOperation, YcsbRun
from webapp.register.runs.side_file import Pair, telemetry_pairs
from webapp.templatetags import units

SHOWN_INTERVALS = 500  # a day of status lines every 10 s has 8,640; the CSV has all of them
NO_LINES = "The output has no status lines: YCSB ran without -s, or its standard error was not submitted."
WITHHELD_LINES = "Withheld for legal reasons, with the log or a file submitted with it."
NO_PROPERTIES = "The output has no properties."
PHASES = {"load": "load phase", "run": "run phase", "": "phase not reported"}
TIME_LABELS = {"service": "service", "response": "response"}
PERCENTILES = ("p50_us", "p95_us", "p99_us", "p999_us", "p9999_us")


@dataclass(frozen=True)
class OperationRow:
    """One kind of operation with one outcome, times in us as text; "" for values that the output does not have."""

    name: str
    outcome: str
    is_failure: bool
    time: str
    ops: str
    mean: str
    least: str
    percentiles: list[str]
    most: str


@dataclass(frozen=True)
class IntervalRow:
    """One status line: the operations done so far, and the rate since the line before."""

    elapsed: str
    done: str
    rate: str
    operations: str


@dataclass(frozen=True)
class YcsbView:
    """The parts of the page that only YCSB runs have."""

    facts: YcsbRun
    word: str
    sentence: str
    reasons: list[str]
    setup: list[Pair]
    properties: list[Pair]
    no_properties_sentence: str
    operations: list[OperationRow]
    intervals: list[IntervalRow]
    intervals_count: int
    no_intervals_sentence: str
    telemetry: list[Pair]

    @property
    def cut_sentence(self) -> str:
        """Return the note about status lines that the page leaves out."""
        if self.intervals_count <= len(self.intervals):
            return ""
        shown, every = units.count(len(self.intervals)), units.count(self.intervals_count)
        return f"The first {shown} of {every}; the CSV has them all."


def ycsb_view(run: Run) -> YcsbView:
    """Return the page of a YCSB run."""
    facts, withheld = visible_ycsb(run), has_withheld_file(run)
    return YcsbView(
        facts=facts,
        word=facts.validity.capitalize(),
        sentence=_sentence(facts),
        reasons=list(facts.reasons),
        setup=_setup(run, facts),
        properties=facts.properties,
        no_properties_sentence=WITHHELD_LINES if withheld else NO_PROPERTIES,
        operations=[operation_row(each) for each in facts.operations.all()],
        intervals=[] if withheld else [interval_row(each) for each in facts.intervals.all()[:SHOWN_INTERVALS]],
        intervals_count=0 if withheld else facts.intervals.count(),
        no_intervals_sentence=WITHHELD_LINES if withheld else NO_LINES,
        telemetry=telemetry_pairs(visible_facts(run, "telemetry")),
    )


@dataclass(frozen=True)
class SweepPoint:
    """A YCSB run in the list of a drive's runs."""

    run: Run
    workload: str
    threads: str
    rate: str
    validity: str


def points_of(runs: Iterable[Run]) -> list[SweepPoint]:
    """Return YCSB runs for the list on a product page, grouped by sweep and in thread order."""
    ordered = sorted(runs, key=lambda run: (run.ycsb.workload, run.ycsb.sweep_key, run.ycsb.threads_count or 0, run.pk))
    return [
        SweepPoint(
            run,
            f"{run.ycsb.workload} {run.ycsb.phase}".strip(),
            units.count(run.ycsb.threads_count),
            ops_rate(run.ycsb.throughput_ops_per_s),
            run.ycsb.validity,
        )
        for run in ordered
    ]


def _sentence(facts: YcsbRun) -> str:
    """Return a sentence on the run: phase, workload, threads, throughput and failed operations."""
    threads = f" with {units.counted(facts.threads_count, 'thread')}" if facts.threads_count is not None else ""
    named = f"workload {facts.workload}" if facts.workload else "an unnamed workload"
    rate = f": {ops_rate(facts.throughput_ops_per_s)} ops/s" if facts.throughput_ops_per_s is not None else ""
    failed = f", {units.counted(facts.failed_ops_count, 'operation')} failed" if facts.failed_ops_count else ""
    return f"{PHASES[facts.phase]} of {named}{threads}{rate}{failed}."


def _setup(run: Run, facts: YcsbRun) -> list[Pair]:
    pairs = [
        ("Tool", f"{run.tool} {run.tool_version}".strip()),
        ("Phase", facts.phase),
        ("Workload", facts.workload),
        ("Binding", facts.binding),
        ("Threads", units.count(facts.threads_count)),
        ("Target", _unit(ops_rate(facts.target_ops_per_s), "ops/s")),
        ("Records", units.count(facts.record_count)),
        ("Operations requested", units.count(facts.operation_count)),
        ("Operations done", units.count(facts.done_ops_count)),
        ("Operations failed", units.count(facts.failed_ops_count)),
        ("Time limit", units.duration(facts.time_limit_s)),
        ("Run time", _unit(units.decimal(facts.runtime_ms), "ms")),
        ("Throughput", _unit(ops_rate(facts.throughput_ops_per_s), "ops/s")),
        ("Measurement type", facts.measurement),
        ("Times", {"service": "service time", "response": "response time"}.get(facts.times, facts.times)),
        ("Firmware", run.firmware),
        ("Stopped", visible_facts(run, "stop").get("kind", "")),
        ("Command line", facts.command_line),
    ]
    return [pair for pair in pairs if pair[1]]


def _unit(number: str, unit: str) -> str:
    return f"{number}{units.NBSP}{unit}" if number else ""


def ops_rate(per_s: Decimal | None) -> str:
    """Return a rate of operations with one decimal, as status lines have it."""
    return units.rate(per_s)


def operation_row(each: YcsbOperation) -> OperationRow:
    """Return an operation as the table shows it."""
    return OperationRow(
        name=each.name,
        outcome=each.outcome,
        is_failure=each.outcome != "ok",
        time=TIME_LABELS.get(each.time, each.time),
        ops=units.count(each.ops_count),
        mean=_us(each.mean_us),
        least=_us(each.min_us),
        percentiles=[_us(getattr(each, column)) for column in PERCENTILES],
        most=_us(each.max_us),
    )


def _us(value: float | None) -> str:
    """Return a time in us: whole ones plainly, a mean with two places."""
    if value is None:
        return ""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def interval_row(each: YcsbInterval) -> IntervalRow:
    """Return a status line as the table shows it."""
    return IntervalRow(
        elapsed=f"{each.elapsed_s:,d}",
        done=units.count(each.done_ops_count),
        rate=units.rate(each.ops_per_s),
        operations=_operations(each.operations),
    )


def _operations(operations: Iterable[dict[str, Any]]) -> str:
    """Return name and mean of each operation of an interval, as far as they were printed."""
    named = [(each["name"], each.get("mean_us")) for each in operations]
    return ", ".join(f"{name} {mean} us" if mean is not None else name for name, mean in named)
