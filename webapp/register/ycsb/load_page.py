"""Page of one load: query, throughput by threads, latency against throughput, gains, and values at a fixed level."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from django.http import QueryDict

from results.rules.ycsb import crossings, sweeps
from results.rules.ycsb.crossings import Crossings
from webapp.register.http.query_params import FORMS, given_of, number_of, one_of
from webapp.register.ycsb.curves import Curve, FixedLine, Panel
from webapp.register.ycsb.gains import ImprovementTable, Sides, improvement_table, rate, time_us
from webapp.register.ycsb.loads import STATISTIC_WORDS, STATISTICS, Load, LoadDrive, Measured, difference_of
from webapp.register.ycsb.machine_tables import MachineTable, PeakSummary, machine_table, peak_summary

NAMES = ("of", "against", "hold", "at", "statistic", "format")
THROUGHPUT, LATENCY = "throughput", "latency"
LEAST, MOST = "0.001", "1000000000000"


@dataclass(frozen=True)
class LoadQuestion:
    """The query of a load page; `at` is the fixed level in ops/s or us, None if there is none."""

    operation: str
    against: str
    hold: str
    at: Fraction | None
    statistic: str
    form: str


def read_load_question(query: QueryDict, operations: Collection[str], drives: Sequence[LoadDrive]) -> LoadQuestion:
    """Return the query of a load page. Raises ParameterError for an invalid parameter."""
    given = given_of(query, NAMES)
    at = number_of(given, "at", LEAST, MOST)
    return LoadQuestion(
        operation=one_of(given, "of", operations),
        against=_drive(given, drives),
        hold=one_of(given, "hold", (THROUGHPUT, LATENCY)),
        at=None if at is None else Fraction(at),
        statistic=one_of(given, "statistic", tuple(STATISTICS)),
        form=one_of(given, "format", FORMS),
    )


def _drive(given: Mapping[str, str], drives: Sequence[LoadDrive]) -> str:
    """Return the current code of the named drive."""
    code = given.get("against", "")
    named = next((drive.code for drive in drives if drive.is_named(code)), code)
    return one_of({"against": named}, "against", ["", *(drive.code for drive in drives)])


@dataclass(frozen=True)
class PointRow:
    """One thread count of one drive, as text."""

    drive: str
    threads: str
    runs: Sequence[str]
    ops: str
    each_thread: str
    latencies: Sequence[str]
    is_peak: bool


@dataclass(frozen=True)
class LevelRow:
    """The value of a drive at the fixed level, the thread counts around it, and further crossings."""

    drive: str
    answer: str
    between: str
    further: str


@dataclass(frozen=True)
class LoadPage:
    """The page of one load."""

    load: Load
    title: str
    points: Sequence[PointRow]
    panels: Sequence[Panel]
    tables: Sequence[ImprovementTable]
    refusals: Sequence[str]
    summaries: Sequence[PeakSummary]
    machine: MachineTable
    level_title: str
    level_rows: Sequence[LevelRow]
    sentence: str


def load_page(load: Load, question: LoadQuestion) -> LoadPage:
    """Return the page of a load for a query."""
    facts = load.facts
    base = _base(load, question)
    others = [drive for drive in load.drives if base and drive is not base]
    title = f"Workload {facts.workload}" if facts.phase != "load" else f"Load phase of workload {facts.workload}"
    return LoadPage(
        load,
        title,
        [row for drive in load.drives for row in _rows(drive, question.operation)],
        [_throughput_panel(load), *_latency_panels(load, question)],
        [_improvement(facts.workload, drive, base) for drive in others if base and not _difference(drive, base)],
        [_refusal(drive, base) for drive in others if base and _difference(drive, base)],
        [peak_summary(drive, base, question.operation) for drive in others if base and not _difference(drive, base)],
        machine_table(load),
        _level_title(question),
        [_at_level(drive, question) for drive in load.drives] if question.at is not None else [],
        _sentence(load),
    )


def _base(load: Load, question: LoadQuestion) -> LoadDrive | None:
    """Return the drive that others are compared with: the requested one, otherwise the one with the lowest peak."""
    if len(load.drives) < 2:
        return None
    requested = [drive for drive in load.drives if drive.code == question.against]
    return requested[0] if requested else min(load.drives, key=lambda drive: max(drive.sweep().values()))


def _improvement(workload: str, drive: LoadDrive, base: LoadDrive) -> ImprovementTable:
    sides = Sides(drive.name, base.name)
    return improvement_table((workload, ""), sides, drive.sweep(), base.sweep())


def _difference(drive: LoadDrive, base: LoadDrive) -> str:
    return difference_of(drive.first_run, base.first_run)


def _refusal(drive: LoadDrive, base: LoadDrive) -> str:
    return f"{drive.name} and {base.name} cannot be compared: they differ in {_difference(drive, base)}."


def _rows(drive: LoadDrive, operation: str) -> list[PointRow]:
    peak = sweeps.peak([sweeps.Point(*point) for point in drive.sweep().items()])
    return [
        PointRow(
            drive.name,
            f"{point.threads:,d}",
            [run.public_id for run in point.runs],
            rate(point.ops_per_s),
            rate(point.ops_per_s / point.threads if point.threads else None),
            [time_us(point.latencies_us.get((operation, code))) for code in STATISTIC_WORDS],
            is_peak=peak is not None and peak.threads == point.threads,
        )
        for point in drive.points
    ]


def _throughput_panel(load: Load) -> Panel:
    curves = [
        Curve(drive.name, [(Fraction(point.threads), point.ops_per_s) for point in drive.points])
        for drive in load.drives
    ]
    return Panel("Throughput by threads", "ops/s", "threads", "ops/s", curves, is_x_log=True)


def _latency_panels(load: Load, question: LoadQuestion) -> list[Panel]:
    panels = [_latency_panel(load, question, code) for code in STATISTIC_WORDS]
    return [panel for panel in panels if any(curve.points for curve in panel.curves)]


def _latency_panel(load: Load, question: LoadQuestion, code: str) -> Panel:
    key = (question.operation, code)
    curves = [
        Curve(
            drive.name,
            [(point.ops_per_s, point.latencies_us[key]) for point in drive.points if key in point.latencies_us],
            [_threads(point) for point in drive.points if key in point.latencies_us],
        )
        for drive in load.drives
    ]
    word = STATISTIC_WORDS[code]
    return Panel(
        f"{question.operation.capitalize()}, {word}", "us, against ops/s", "ops/s", "us", curves, _lines(question, code)
    )


def _threads(point: Measured) -> str:
    return f"{point.threads} threads"


def _lines(question: LoadQuestion, code: str) -> list[FixedLine]:
    if question.at is None:
        return []
    if question.hold == THROUGHPUT:
        return [FixedLine("x", question.at, f"{rate(question.at)} ops/s")]
    return [FixedLine("y", question.at, f"{time_us(question.at)} us")] if code == question.statistic else []


def _level_title(question: LoadQuestion) -> str:
    named = f"{question.operation}, {STATISTIC_WORDS[question.statistic]}"
    if question.at is None:
        return ""
    if question.hold == THROUGHPUT:
        return f"At {rate(question.at)} ops/s: {named}"
    return f"At {time_us(question.at)} us ({named}): throughput"


def _at_level(drive: LoadDrive, question: LoadQuestion) -> LevelRow:
    curve = drive.curve((question.operation, question.statistic))
    level = question.at or Fraction(0)
    if question.hold == THROUGHPUT:
        return _level_row(drive, crossings.latency_at(curve, level), ("us", "ops/s"))
    return _level_row(drive, crossings.throughput_at(curve, level), ("ops/s", "us"))


def _level_row(drive: LoadDrive, found: Crossings, units_of: tuple[str, str]) -> LevelRow:
    unit, level_unit = units_of
    name = drive.name
    if found.first is None:
        return LevelRow(name, "not measured there", _measured_span(found, level_unit), "")
    first = found.first
    between = f"between {first.from_threads} and {first.to_threads} threads, interpolated linearly"
    return LevelRow(
        name,
        _with_unit(first.value, unit),
        f"measured with {first.from_threads} threads" if first.is_measured else between,
        ", ".join(_with_unit(each.value, unit) for each in found.further),
    )


def _measured_span(found: Crossings, unit: str) -> str:
    if found.measured_from is None or found.measured_to is None:
        return "no run has both values"
    return f"measured from {_with_unit(found.measured_from, unit)} to {_with_unit(found.measured_to, unit)}"


def _with_unit(value: Fraction, unit: str) -> str:
    return f"{rate(value) if unit == 'ops/s' else time_us(value)} {unit}"


def _sentence(load: Load) -> str:
    """Return a sentence with the highest throughput, or the reason why there is none."""
    best = max(load.drives, key=lambda drive: max(drive.sweep().values()), default=None)
    if best is None:
        return "No valid run of this load has both a thread count and a throughput."
    peak = sweeps.peak([sweeps.Point(*point) for point in best.sweep().items()])
    if peak is None:
        return ""
    return f"{best.name} peaks at {rate(peak.ops_per_s)} ops/s with {peak.threads} threads."
