"""Pages of the publications: sweeps, gains, metrics by workload, single figures, and the overview of all."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from results.models import PublishedClaim
from results.rules.ycsb import sweeps
from results.rules.ycsb.gains import better, gain
from webapp.register.ycsb.curves import Panel, curve
from webapp.register.ycsb.fixed_points import FixedRow, fixed_points
from webapp.register.ycsb.gains import DIRECTIONS, MetricRow, improvement_table, percent
from webapp.register.ycsb.loads import load_lines
from webapp.register.ycsb.publications import (
    Figure,
    Figures,
    by_publication,
    metric_name,
    publication_of,
    workload_note,
)
from webapp.templatetags import units

SUMMARY_METRICS_MIN = 3  # workloads with fewer metrics are listed with the single figures


@dataclass(frozen=True)
class WorkloadSummary:
    """The metrics of one workload."""

    letter: str
    note: str
    threads: str
    rows: Sequence[MetricRow]


def summaries(figures: Figures) -> list[WorkloadSummary]:
    """Return the workloads with several metrics of both drives."""
    found = [_summary(figures, letter) for letter in figures.workloads if letter]
    return [each for each in found if len(each.rows) >= SUMMARY_METRICS_MIN]


def _summary(figures: Figures, letter: str) -> WorkloadSummary:
    drives = figures.drives[:2]
    by_drive = [_by_metric(figures.of(letter, drive)) for drive in drives]
    both = [metric for metric in by_drive[0] if len(by_drive) > 1 and metric in by_drive[1]]
    rows = [_metric_row(figures.publication, by_drive[0][metric], by_drive[1][metric]) for metric in both]
    threads = next((each.row.threads_count for each in figures.of(letter) if each.row.threads_count), None)
    return WorkloadSummary(letter, workload_note(figures.publication, letter), units.counted(threads, "thread"), rows)


def _by_metric(figures: Sequence[Figure]) -> dict[str, Figure]:
    """Return the metrics with one value for the whole run; sweeps and fixed levels have their own tables."""
    single = [each for each in figures if each.row.at_ops_per_s is None]
    metrics = [each.row.metric for each in single]
    return {each.row.metric: each for each in single if metrics.count(each.row.metric) == 1}


def _metric_row(publication: str, drive: Figure, base: Figure) -> MetricRow:
    direction = better(drive.row.metric, publication)
    by_whom = " by this publication" if direction and better(drive.row.metric) is None else ""
    return MetricRow(
        metric_name(drive.row.metric),
        drive.row.unit,
        DIRECTIONS[direction] + by_whom,
        _number(drive.row.value),
        _number(base.row.value),
        percent(gain(drive.exact, base.exact, direction)),
        drive.remark,
    )


def _number(printed: str) -> str:
    """Return printed digits with thousands separated."""
    whole, point, decimals = printed.partition(".")
    return f"{int(whole):,d}{point}{decimals}"


def publication_page(figures: Figures, claims: Sequence[PublishedClaim]) -> dict[str, Any]:
    """Return the page of a publication from its figures and claims, as its template shows it."""
    tables = [_table(figures, letter, claims) for letter in _swept(figures)]
    metrics, fixed = summaries(figures), fixed_points(figures)
    return {
        "slug": figures.publication,
        "publication": publication_of(figures.publication),
        "drives": figures.drives,
        "sentence": _sentence(tables, metrics, fixed["throughput_rows"]),
        "tables": tables,
        "summaries": metrics,
        "fixed": fixed,
        "singles": _singles(figures, {each.letter for each in metrics}),
        "panels": [_panel(figures, letter) for letter in _swept(figures)],
        "figures_count": len(figures.all),
        "claims_count": len(claims),
    }


def _swept(figures: Figures) -> list[str]:
    """Return the workloads with a throughput at several thread counts."""
    drive = figures.drives[0]
    return [letter for letter in figures.workloads if len(figures.sweep(letter, drive)) > 1]


def _table(figures: Figures, letter: str, claims: Sequence[PublishedClaim]) -> dict[str, Any]:
    drive, base = figures.drives[:2]
    return improvement_table(
        (letter, workload_note(figures.publication, letter)),
        (drive, base),
        figures.sweep(letter, drive),
        figures.sweep(letter, base),
        [
            f"It claims {each.stated_value} % ({each.claim}): {each.status}."
            for each in claims
            if each.workload == letter and each.recomputed_value
        ],
    )


def _panel(figures: Figures, letter: str) -> Panel:
    curves = []
    for drive in figures.drives[:2]:
        sweep = figures.sweep(letter, drive)
        best = sweeps.peak([sweeps.Point(*point) for point in sweep.items()])
        points = [(Fraction(threads), sweep[threads]) for threads in sorted(sweep)]
        curves.append(curve(drive, points, peak=sorted(sweep).index(best.threads) if best else -1))
    return Panel(
        f"Workload {letter}", workload_note(figures.publication, letter), "threads", "ops/s", curves, is_x_log=True
    )


def _singles(figures: Figures, summarised: set[str]) -> list[dict[str, Any]]:
    """Return the figures that no other table of the page has."""
    remaining = [
        each
        for each in figures.all
        if each.row.workload not in summarised and (each.row.at_ops_per_s is None or each.latency_us is None)
    ]
    remaining = [each for each in remaining if not (each.row.metric == "throughput" and each.row.threads_count)]
    keys = dict.fromkeys((each.row.workload, each.row.metric, each.row.threads_count) for each in remaining)
    return [_single(figures.drives, remaining, key) for key in keys]


def _single(drives: Sequence[str], remaining: Sequence[Figure], key: tuple[str, str, int | None]) -> dict[str, Any]:
    """Return one single figure, with the other drives' values if there are any."""
    workload, metric, threads = key
    same = [each for each in remaining if (each.row.workload, each.row.metric, each.row.threads_count) == key]
    by_drive = {each.row.model: f"{each.row.value} {each.row.unit}" for each in same}
    remarks = dict.fromkeys(f"{each.row.model}: {each.remark}" for each in same if each.remark)
    return {
        "workload": workload,
        "metric": metric_name(metric),
        "threads": threads,
        "cells": [by_drive.get(drive, "") for drive in drives],
        "remark": "; ".join(remarks),
    }


def _sentence(tables: Sequence[dict[str, Any]], metrics: Sequence[WorkloadSummary], fixed: Sequence[FixedRow]) -> str:
    """Return one sentence with the main result of the figures."""
    if tables:
        first, gained = tables[0], tables[0]["peak_gain"]
        higher = f"{gained.lstrip('+-')} % {'lower' if gained.startswith('-') else 'higher'}"
        others = ", ".join(f"on {each['title']} {each['peak_gain']} %" for each in tables[1:])
        return (
            f"On workload {first['title']}, the peak of the {first['drive']} is {higher} than that of the "
            f"{first['base']}{f'; {others}' if others else ''}."
        )
    if metrics:
        gains = ", ".join(
            f"{each.letter} {row.gain} %" for each in metrics for row in each.rows if row.metric == "Throughput"
        )
        return f"Throughput on workload {gains}, recomputed from the printed figures."
    if fixed:
        row = fixed[-1]
        exact = f"; {row.remark}" if row.remark else ""
        return f"On workload {row.workload}, at {row.level}: {row.metric.lower()} {row.comparison}{exact}."
    return ""


def overview() -> dict[str, Any]:
    """Return the content of /ycsb/, in three queries for any number of figures, claims and runs."""
    claims = list(PublishedClaim.objects.order_by("pk"))
    pages = [
        publication_page(figures, [claim for claim in claims if claim.publication == figures.publication])
        for figures in by_publication()
    ]
    figures_count = sum(page["figures_count"] for page in pages)
    return {"publications": pages, "loads": load_lines(), "figures_count": figures_count}
