"""Page of one load: query, throughput by threads, latency against throughput, gains, and values at a fixed level."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from django.http import QueryDict

from results.rules.ycsb import crossings
from results.rules.ycsb.crossings import Crossings
from results.rules.ycsb.gains import Better, gain
from webapp.register.http.query_params import FORMAT, Parameter, number, one_of, read_parameters, word
from webapp.register.ycsb.curves import Curve, Dot, FixedLine, Panel
from webapp.register.ycsb.gains import DIRECTIONS, MetricRow, improvement_table, percent, rate, time_us
from webapp.register.ycsb.loads import STATISTIC_WORDS, STATISTICS, LatencyKey, Load, LoadDrive, Measured, difference_of
from webapp.register.ycsb.machine import QUANTITIES, reported_by, shown
from webapp.templatetags import units

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
    at = number("at", "At", (LEAST, MOST))
    parameters = (
        word("of", operations, "Latency of", key="operation"),
        Parameter("against", {"against": "Gain against"}, lambda given: _drive(given, drives)),
        word("hold", (THROUGHPUT, LATENCY), "Fixed"),
        replace(at, read=lambda given: None if (level := at.read(given)) is None else Fraction(level)),
        word("statistic", STATISTICS, "Show"),
        FORMAT,
    )
    return LoadQuestion(**read_parameters(query, parameters))


def _drive(given: Mapping[str, str], drives: Sequence[LoadDrive]) -> str:
    """Return the current code of the named drive."""
    code = given.get("against", "")
    named = next((drive.code for drive in drives if drive.is_named(code)), code)
    return one_of({"against": named}, "against", ["", *(drive.code for drive in drives)])


def load_page(load: Load, question: LoadQuestion) -> dict[str, Any]:
    """Return the page of a load for a query, as its template shows it."""
    facts, base = load.facts, _base(load, question)
    others = [drive for drive in load.drives if base and drive is not base]
    differences = [(drive, base, difference_of(drive.first_run, base.first_run)) for drive in others if base]
    comparable = [(drive, base) for drive, base, difference in differences if not difference]
    return {
        "load": load,
        "title": f"Workload {facts.workload}" if facts.phase != "load" else f"Load phase of workload {facts.workload}",
        "points": [row for drive in load.drives for row in _rows(drive, question.operation)],
        "panels": list(_panels(load, question)),
        "tables": [
            improvement_table((facts.workload, ""), (drive.name, base.name), drive.sweep(), base.sweep())
            for drive, base in comparable
        ],
        "refusals": [
            f"{drive.name} and {base.name} cannot be compared: they differ in {difference}."
            for drive, base, difference in differences
            if difference
        ],
        "summaries": [peak_summary(drive, base, question.operation) for drive, base in comparable],
        "machine": machine_table(load),
        "level_title": _level_title(question),
        "level_rows": [_at_level(drive, question) for drive in load.drives] if question.at is not None else [],
        "sentence": _sentence(load),
    }


def _base(load: Load, question: LoadQuestion) -> LoadDrive | None:
    """Return the drive that others are compared with: the requested one, otherwise the one with the lowest peak."""
    if len(load.drives) < 2:
        return None
    requested = [drive for drive in load.drives if drive.code == question.against]
    return requested[0] if requested else min(load.drives, key=lambda drive: drive.peak.ops_per_s)


def _rows(drive: LoadDrive, operation: str) -> list[dict[str, Any]]:
    """Return the thread counts of a drive."""
    return [
        {
            "drive": drive.name,
            "threads": point.threads,
            "runs": [run.public_id for run in point.runs],
            "ops": rate(point.ops_per_s),
            "each_thread": rate(point.ops_per_s / point.threads if point.threads else None),
            "latencies": [time_us(point.latencies_us.get((operation, code))) for code in STATISTIC_WORDS],
            "is_peak": point is drive.peak,
        }
        for point in drive.points
    ]


def _panels(load: Load, question: LoadQuestion) -> Iterator[Panel]:
    """Yield the panel of the throughput, then one for each statistic of the latency that any drive reports."""
    curves = [Curve(drive.name, [_throughput_dot(drive, point) for point in drive.points]) for drive in load.drives]
    yield Panel("Throughput by threads", "ops/s", "threads", "ops/s", curves, is_x_log=True)
    for code, statistic in STATISTIC_WORDS.items():
        key = question.operation, code
        curves = [
            Curve(drive.name, [_latency_dot(drive, point, key) for point in drive.points if key in point.latencies_us])
            for drive in load.drives
        ]
        if any(curve.dots for curve in curves):
            title = f"{question.operation.capitalize()}, {statistic}"
            yield Panel(title, "us, against ops/s", "ops/s", "us", curves, _lines(question, code))


def _throughput_dot(drive: LoadDrive, point: Measured) -> Dot:
    """Return a thread count of a drive; the one of the peak has its throughput as a label."""
    words = f"{rate(point.ops_per_s)} ops/s"
    is_peak = point is drive.peak
    sentence = f"{drive.name}: {words} with {units.counted(point.threads, 'thread')}{' (peak)' if is_peak else ''}"
    return Dot(Fraction(point.threads), point.ops_per_s, sentence, peak=rate(point.ops_per_s) if is_peak else "")


def _latency_dot(drive: LoadDrive, point: Measured, key: LatencyKey) -> Dot:
    latency_us = point.latencies_us[key]
    at = f"{rate(point.ops_per_s)} ops/s, {units.counted(point.threads, 'thread')}"
    return Dot(point.ops_per_s, latency_us, f"{drive.name}: {time_us(latency_us)} us at {at}")


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


def _at_level(drive: LoadDrive, question: LoadQuestion) -> dict[str, str]:
    """Return the value of a drive at the fixed level, the thread counts around it, and further crossings."""
    sweep, level = drive.curve((question.operation, question.statistic)), question.at or Fraction(0)
    if question.hold == THROUGHPUT:
        found, unit, level_unit = crossings.latency_at(sweep, level), "us", "ops/s"
    else:
        found, unit, level_unit = crossings.throughput_at(sweep, level), "ops/s", "us"
    first = found.first
    if first is None:
        return {"drive": drive.name, "answer": "not measured there", "between": _measured_span(found, level_unit)}
    between = f"between {first.from_threads} and {first.to_threads} threads, interpolated linearly"
    return {
        "drive": drive.name,
        "answer": _with_unit(first.value, unit),
        "between": f"measured with {first.from_threads} threads" if first.is_measured else between,
        "further": ", ".join(_with_unit(each.value, unit) for each in found.further),
    }


def _measured_span(found: Crossings, unit: str) -> str:
    if found.measured_from is None or found.measured_to is None:
        return "no run has both values"
    return f"measured from {_with_unit(found.measured_from, unit)} to {_with_unit(found.measured_to, unit)}"


def _with_unit(value: Fraction, unit: str) -> str:
    return f"{rate(value) if unit == 'ops/s' else time_us(value)} {unit}"


def _sentence(load: Load) -> str:
    """Return a sentence with the highest throughput, or the reason why there is none."""
    best = max(load.drives, key=lambda drive: drive.peak.ops_per_s, default=None)
    if best is None:
        return "No valid run of this load has both a thread count and a throughput."
    return f"{best.name} peaks at {rate(best.peak.ops_per_s)} ops/s with {best.peak.threads} threads."


def machine_table(load: Load) -> dict[str, Any]:
    """Return the telemetry at each thread count, "" if not reported; no rows if no run has telemetry."""
    measured = [(drive, point) for drive in load.drives for point in drive.points if point.machine]
    quantities = reported_by(point.machine for _, point in measured)
    rows = [
        {
            "drive": drive.name,
            "threads": point.threads,
            "cells": [shown(quantity, point.machine.get(quantity.code)) for quantity in quantities],
        }
        for drive, point in measured
    ]
    return {"quantities": quantities, "rows": rows}


def peak_summary(drive: LoadDrive, base: LoadDrive, operation: str) -> dict[str, Any]:
    """Return both drives at their peaks: each metric that both report, with the gain in its better direction."""
    peaks = drive.peak, base.peak
    rows = [_metric_row("throughput", "ops/s", Better.HIGHER, [each.ops_per_s for each in peaks], rate)]
    for code, statistic in STATISTIC_WORDS.items():
        times = [each.latencies_us.get((operation, code)) for each in peaks]
        rows.append(_metric_row(f"{operation}, {statistic}", "us", Better.LOWER, times, time_us))
    for quantity in QUANTITIES:
        values = [each.machine.get(quantity.code) for each in peaks]
        rows.append(_metric_row(quantity.label, quantity.unit, quantity.better, values, partial(shown, quantity)))
    return {
        "drive": drive.name,
        "base": base.name,
        "note": f"each at its peak: {drive.peak.threads:,d} and {base.peak.threads:,d} threads",
        "rows": [row for row in rows if row],
    }


def _metric_row(
    metric: str, unit: str, better: Better | None, values: Sequence[Fraction | None], text: Callable[[Fraction], str]
) -> MetricRow | None:
    """Return one metric of two drives; None if one of them does not report it."""
    value, base = values
    if value is None or base is None:
        return None
    return MetricRow(metric, unit, DIRECTIONS[better], text(value), text(base), percent(gain(value, base, better)))
