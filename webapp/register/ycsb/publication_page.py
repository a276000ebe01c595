"""Pages of the publications: sweeps, gains, metrics by workload, single figures, and the overview of all."""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from django.utils.safestring import SafeString

from results.models import PublishedClaim
from results.rules.ycsb import sweeps
from results.rules.ycsb.claim_terms import claim_id
from results.rules.ycsb.claims import is_of_law
from results.rules.ycsb.gains import better, gain
from results.rules.ycsb.statements import Status
from webapp.register.svg.drawing import Surface
from webapp.register.ycsb import publications
from webapp.register.ycsb.bars import Bar, BarGroup, bars_height_px, draw_bars
from webapp.register.ycsb.claims.entries import LABELS, entries_of, entry_of, headline_of, strip_of
from webapp.register.ycsb.curves import Curve, Dot, Panel
from webapp.register.ycsb.fixed_points import FixedRow, fixed_points
from webapp.register.ycsb.gains import DIRECTIONS, READ_FROM_CHART, MetricRow, digits, improvement_table, percent, rate
from webapp.register.ycsb.impossible_results import CheckedResult, impossible_results
from webapp.register.ycsb.loads import load_lines
from webapp.register.ycsb.publications import (
    Figure,
    Figures,
    metric_name,
    missing_facts,
    source_facts,
    workload_note,
)
from webapp.templatetags import units

SUMMARY_METRICS_MIN = 3  # workloads with fewer metrics are listed with the single figures


@dataclass(frozen=True)
class WorkloadSummary:
    """The metrics of one workload, as a table and as bars, with its results that cannot be true."""

    letter: str
    note: str
    threads: str
    rows: Sequence[MetricRow]
    bars: Sequence[BarGroup]
    impossible: Sequence[CheckedResult]

    @property
    def drawing(self) -> SafeString:
        """Return the content of the SVG element of the bars."""
        return draw_bars(self.bars, Surface(), are_thin=True)

    @property
    def height_px(self) -> int:
        """Return the height of the bars."""
        return bars_height_px(self.bars, are_thin=True)


@dataclass(frozen=True)
class ClaimRemark:
    """The status of a stored claim next to the table that it is about; its address is empty if it has no page."""

    sentence: str
    address: str
    is_contradicted: bool


def _summary(figures: Figures, letter: str) -> WorkloadSummary:
    drives = figures.drives[:2]
    by_drive = [_by_metric(figures.of(letter, drive)) for drive in drives]
    both = [metric for metric in by_drive[0] if len(by_drive) > 1 and metric in by_drive[1]]
    rows = [_metric_row(figures.publication, by_drive[0][metric], by_drive[1][metric]) for metric in both]
    threads = next((each.row.threads_count for each in figures.of(letter) if each.row.threads_count), None)
    impossible = impossible_results(figures.publication, letter)
    wrong = {each.check.model for each in impossible}
    bars = [
        _bars(row, [by_metric[metric] for by_metric in by_drive], wrong) for row, metric in zip(rows, both, strict=True)
    ]
    note = workload_note(figures.publication, letter)
    return WorkloadSummary(letter, note, units.counted(threads, "thread"), rows, bars, impossible)


def _bars(row: MetricRow, pair: Sequence[Figure], wrong: Container[str]) -> BarGroup:
    """Return the bars of one metric; the words of each bar have its exact digits and its unit.

    `wrong` are the drives whose result is impossible.
    """
    bars = [
        Bar(
            each.row.model,
            each.exact,
            each.shown,
            is_own=place == 0,
            span=each.span,
            detail=_range_of(each),
            is_impossible=each.row.model in wrong and is_of_law(each.row.metric),
        )
        for place, each in enumerate(pair)
    ]
    return BarGroup(f"{row.metric}: {row.gain} %" if row.gain else row.metric, bars)


def _range_of(figure: Figure) -> str:
    return f", {READ_FROM_CHART}: {digits(figure.span[0])} to {digits(figure.span[1])}" if figure.span else ""


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
        f"{Decimal(drive.row.value):,f}",
        f"{Decimal(base.row.value):,f}",
        percent(gain(drive.exact, base.exact, direction)),
        drive.remark,
    )


def publication_page(figures: Figures, claims: Sequence[PublishedClaim]) -> dict[str, Any]:
    """Return the page of a publication from its figures and claims, as its template shows it."""
    tables = [_table(figures, letter, claims) for letter in _swept(figures)]
    summaries = (_summary(figures, letter) for letter in figures.workloads if letter)
    checked = entries_of(figures.publication)
    metrics, fixed = [each for each in summaries if len(each.rows) >= SUMMARY_METRICS_MIN], fixed_points(figures)
    return {
        "slug": figures.publication,
        "publication": publications.publication_of(figures.publication),
        "drives": figures.drives,
        "sentence": _sentence(figures.drives, tables, metrics, fixed["throughput_rows"]),
        "tables": tables,
        "summaries": metrics,
        "fixed": fixed,
        "singles": _singles(figures, {each.letter for each in metrics}),
        "panels": [_panel(figures, letter) for letter in _swept(figures)],
        "figures_count": len(figures.all),
        "claims_count": len(claims),
        "source_facts": source_facts(figures.publication),
        "missing_facts": missing_facts(figures.publication),
        "headline": headline_of(checked) if checked else None,
        "strip": strip_of(checked),
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
        [_remark(each) for each in claims if each.workload == letter and each.recomputed_value],
    )


def _remark(claim: PublishedClaim) -> ClaimRemark:
    """Return the status of the exact value. A claim that this release does not check has the stored status only."""
    entry = entry_of(claim.publication, claim_id(claim.claim, claim.workload))
    status = entry.status if entry else claim.status
    return ClaimRemark(
        f"Status of the published claim “{claim.stated_value} % {claim.claim}”: {LABELS.get(status, status)}.",
        entry.address if entry else "",
        status == Status.CONTRADICTS,
    )


def _panel(figures: Figures, letter: str) -> Panel:
    note = workload_note(figures.publication, letter)
    curves = [_curve(figures, letter, drive) for drive in figures.drives[:2]]
    return Panel(f"Workload {letter}", note, "threads", "ops/s", curves, is_x_log=True)


def _curve(figures: Figures, letter: str, drive: str) -> Curve:
    """Return the sweep of a drive; the words of each point have its exact throughput with the unit."""
    sweep = figures.sweep(letter, drive)
    best = sweeps.peak([sweeps.Point(*point) for point in sweep.items()])
    dots = []
    for threads in sorted(sweep):
        is_peak = best is not None and threads == best.threads
        words = f"{drive}: {rate(sweep[threads])} ops/s with {threads} threads{' (peak)' if is_peak else ''}"
        dots.append(Dot(Fraction(threads), sweep[threads], words, peak=rate(sweep[threads]) if is_peak else ""))
    return Curve(drive, dots)


def _singles(figures: Figures, summarised: set[str]) -> list[dict[str, Any]]:
    """Return the figures that no other table of the page has, each with the values of all drives that have it."""
    groups: dict[tuple[str, str, int | None], dict[str, Figure]] = {}
    for each in figures.all:
        row = each.row
        is_fixed = row.at_ops_per_s is not None and each.latency_us is not None
        is_swept = row.metric == "throughput" and row.threads_count
        if row.workload not in summarised and not is_fixed and not is_swept:
            groups.setdefault((row.workload, row.metric, row.threads_count), {})[row.model] = each
    return [
        {
            "workload": workload,
            "metric": metric_name(metric),
            "threads": threads,
            "cells": [by_drive[drive].printed if drive in by_drive else "" for drive in figures.drives],
            "remark": "; ".join(f"{drive}: {each.remark}" for drive, each in by_drive.items() if each.remark),
        }
        for (workload, metric, threads), by_drive in groups.items()
    ]


def _sentence(
    drives: Sequence[str],
    tables: Sequence[dict[str, Any]],
    metrics: Sequence[WorkloadSummary],
    fixed: Sequence[FixedRow],
) -> str:
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
            f"workload {each.letter} {row.gain} %"
            for each in metrics
            for row in each.rows
            if row.metric == "Throughput"
        )
        return (
            f"Throughput of the {drives[0]} compared with the {drives[1]}, computed from the printed figures: {gains}."
        )
    if fixed:
        row = fixed[-1]
        exact = f"; {row.remark}" if row.remark else ""
        compared = f"{drives[0]} compared with {drives[1]} on workload {row.workload} at {row.level}"
        return f"{compared}: {row.metric.lower()} {row.comparison}{exact}."
    return ""


def overview() -> dict[str, Any]:
    """Return the content of /ycsb/, in three queries for any number of figures, claims and runs."""
    claims = list(PublishedClaim.objects.order_by("pk"))
    pages = [
        publication_page(figures, [claim for claim in claims if claim.publication == figures.publication])
        for figures in publications.by_publication()
    ]
    figures_count = sum(page["figures_count"] for page in pages)
    return {"publications": pages, "loads": load_lines(), "figures_count": figures_count}
