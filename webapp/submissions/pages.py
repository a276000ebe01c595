"""The content of a submission's page, computed here so that its template computes nothing."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Count, OuterRef, Prefetch, QuerySet, Subquery
from django.db.models.functions import Coalesce

from results.access.intervals import histogram_slices
from results.access.withholding import visible_findings, visible_verdict, visible_ycsb
from results.models import Finding, Histogram, Reading, Run, Share, Slice, Statistic, Submission, Verdict
from results.rules.act.latency_table import LatencyRow, latency_table
from webapp.register.runs.histograms import judged_sentence
from webapp.register.runs.page import in_order, shared_by_all
from webapp.register.runs.slices import FIRST_EDGES, cut_sentence, no_slice_sentence
from webapp.register.runs.verdict import SHOWN_VIOLATIONS, other_reasons, reason_text
from webapp.templatetags import units

SHOWN_SLICES = 1_000  # the owners see more at once than the public page lists; of more the CSV has all

SHOWN_MEMBERS = 200
UNIT_US = {"us": 1, "ms": 1000}


Part = dict[str, Any]  # the contents of a part of the page, for its template


def members_of(reading: Reading | None) -> Part:
    """Return the files of an archive as the reader reported them; only the first ones of a large archive."""
    members = reading.members if reading is not None else []
    shown, sentence = members[:SHOWN_MEMBERS], "The table has the first {shown} of {total} files; the API has them all."
    return {"shown": shown, "cut_sentence": cut_sentence(len(shown), len(members), sentence)}


def run_parts(submission: Submission) -> list[Part]:
    """Return what was read out of a submission, run by run, in a fixed number of queries.

    Findings that all runs share are listed separately (shared_findings).
    """
    runs = list(_runs_in_full(submission))
    _, own = shared_findings(runs)
    return [_run_part(run, own[run.pk]) for run in runs]


def _runs_in_full(submission: Submission) -> QuerySet[Run]:
    judged = Slice.objects.of_judged()
    of_run = judged.filter(run=OuterRef("pk")).order_by().values("run").annotate(all=Count("pk")).values("all")
    return (
        Run.objects.filter(submission=submission)
        .with_withheld_flag()
        .select_related("reading__evidence")
        .annotate(slices_count=Coalesce(Subquery(of_run), 0))
        .order_by("pk")
        .prefetch_related(
            Prefetch("histograms", queryset=Histogram.objects.judged(), to_attr="reads_histograms"),
            Prefetch("slices", queryset=judged.order_by("number")[:SHOWN_SLICES], to_attr="first_slices"),
            Prefetch("verdicts", queryset=Verdict.objects.select_related("profile")),
            Prefetch("shares", queryset=Share.objects.filter(statistic=Statistic.WORST_SLICE)),
            "findings",
            "ycsb__operations",
        )
    )


def _run_part(run: Run, findings: list[Finding]) -> Part:
    newest = next(iter(run.verdicts.all()), None)
    verdict = visible_verdict(run, newest) if newest else None
    violations = verdict.document["violations"] if verdict else []
    shown = violations[:SHOWN_VIOLATIONS]
    cut = "The list has the {shown} largest of {total} shares over a limit; the CSV on the run's page has every share."
    histogram: Histogram | None = next(iter(run.reads_histograms), None)  # type: ignore[attr-defined]
    part: Part = {
        "run": run,
        "verdict": verdict,
        "violations": shown,
        "violations_cut_sentence": cut_sentence(len(shown), len(violations), cut),
        "table": _slice_table(histogram, run, violations) if histogram else None,
        "no_slice_sentence": "" if histogram is None or run.first_slices else no_slice_sentence(run),  # type: ignore[attr-defined]
        "findings": findings,
        "ycsb_reasons": list(visible_ycsb(run).reasons) if hasattr(run, "ycsb") else [],
    }
    if verdict is not None:
        part |= {
            "verdict_word": verdict.get_outcome_display(),
            "verdict_reason": reason_text(verdict),
            "further_reasons": other_reasons(verdict),
            "judged_sentence": judged_sentence(verdict.document),
            "worst": _worst_figures(run.shares.all(), verdict),
        }
    return part


def _worst_figures(shares: Iterable[Share], verdict: Verdict) -> list[Part]:
    """Return the worst shares with their limits. The verdict lists those over a limit; pages never judge."""
    limits = {entry["threshold_us"]: entry["limit_pct"] for entry in json.loads(verdict.profile.document)["limits"]}
    over = {violation["threshold_us"] for violation in verdict.document["violations"]}
    return [
        {"share": share, "limit_pct": limits[share.threshold_us], "is_over_limit": share.threshold_us in over}
        for share in shares
    ]


def _slice_table(histogram: Histogram, run: Run, violations: list[Any]) -> Part | None:
    """Return the slice table of one histogram, in the log's unit."""
    if run.slice_length_s is None:
        return None
    table = latency_table(histogram_slices(run.first_slices), run.slice_length_s)  # type: ignore[attr-defined]
    if table is None:
        return None
    is_first_version, slices_count = histogram.edges == FIRST_EDGES, run.slices_count  # type: ignore[attr-defined]
    thresholds = tuple(edge * 2 if is_first_version else edge for edge in table.thresholds)
    over = {(str(violation["slice"]), violation["read_at_us"]) for violation in violations}
    thresholds_us = [threshold * UNIT_US[histogram.unit] for threshold in thresholds]
    cut = (
        "The table has the first {shown} of {total} slices, without the average and maximum of all slices; the CSV on "
        "the run's page has every slice."
    )
    is_cut = slices_count > SHOWN_SLICES
    return {
        "histogram": histogram.name,
        "unit": histogram.unit,
        "thresholds": thresholds,
        "slices": [_line(row, thresholds_us, over) for row in table.slices],
        "is_first_version": is_first_version,
        "aggregates": [] if is_cut else [_line(row, thresholds_us, set()) for row in (table.avg, table.max)],
        "cut_sentence": cut_sentence(SHOWN_SLICES, slices_count, cut),
    }


def _line(row: LatencyRow, thresholds_us: list[int], over: set[tuple[str, int]]) -> Part:
    shares = zip(thresholds_us, row.pct_over, strict=True)
    cells = [{"share_pct": share_pct, "is_over_limit": (row.label, at_us) in over} for at_us, share_pct in shares]
    return {"label": row.label, "cells": cells, "ops_per_s": row.ops_per_s}


DONE = "ok"  # the outcome of a successful operation


def sweep_rows(runs: Iterable[Run]) -> list[Part]:
    """Return the runs of YCSB in the order of phase, workload and threads; none where there is one run only."""
    ycsb = [run for run in runs if hasattr(run, "ycsb")]
    ordered = sorted(ycsb, key=lambda run: (run.ycsb.phase, run.ycsb.workload, run.ycsb.threads_count or 0, run.pk))
    return [_sweep_row(run) for run in ordered] if len(ordered) > 1 else []


def _sweep_row(run: Run) -> Part:
    """Return what one run did, and the time of its commonest operation, in us as text."""
    row: Part = {"run": run, "facts": run.ycsb, "throughput": units.rate(run.ycsb.throughput_ops_per_s)}
    done = [each for each in run.ycsb.operations.all() if each.outcome == DONE and each.ops_count]
    if done:
        commonest = max(done, key=lambda each: each.ops_count or 0)
        p99 = units.microseconds(commonest.p99_us)
        row |= {"operation": commonest.name, "mean": units.microseconds(commonest.mean_us), "p99": p99}
    return row


def shared_findings(runs: Sequence[Run]) -> tuple[list[Finding], dict[int, list[Finding]]]:
    """Return the findings that all runs of a submission share, listed once, and the other findings of each run."""
    findings_by_run = {run.pk: in_order(visible_findings(run)) for run in runs}
    keys = shared_by_all(list(findings_by_run.values()))
    first: list[Finding] = next(iter(findings_by_run.values()), [])
    shared = [finding for finding in first if (finding.rule_id, finding.sentence) in keys]
    own = {
        pk: [finding for finding in findings if (finding.rule_id, finding.sentence) not in keys]
        for pk, findings in findings_by_run.items()
    }
    return shared, own
