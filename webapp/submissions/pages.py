"""The content of a submission's page, computed here so that its template computes nothing."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Count, OuterRef, Prefetch, QuerySet, Subquery
from django.db.models.functions import Coalesce

from results.access.intervals import histogram_slices
from results.access.redaction import visible_verdict, visible_ycsb
from results.models import Finding, Histogram, Reading, Run, Share, Slice, Statistic, Submission, Verdict
from results.rules.act.latency_table import LatencyRow, latency_table
from webapp.register.runs.histograms import judged_sentence
from webapp.register.runs.slices import FIRST_EDGES, no_slice_sentence
from webapp.register.runs.verdict import SHOWN_VIOLATIONS, other_reasons, reason_text
from webapp.submissions.sweep import shared_findings
from webapp.templatetags import units

SHOWN_SLICES = 1_000  # the owners see more at once than the public page lists; of more the CSV has all

SHOWN_MEMBERS = 200
UNIT_US = {"us": 1, "ms": 1000}


@dataclass(frozen=True)
class Cell:
    """One percentage of the slice table."""

    share_pct: Decimal
    is_over_limit: bool


@dataclass(frozen=True)
class Line:
    """One line of the slice table."""

    label: str
    cells: list[Cell]
    ops_per_s: Decimal


@dataclass(frozen=True)
class SliceTable:
    """The slice table of one histogram, in the log's unit."""

    histogram: str
    unit: str
    thresholds: tuple[int, ...]
    slices: list[Line]
    aggregates: list[Line]
    cut_sentence: str
    is_first_version: bool = False


@dataclass(frozen=True)
class WorstFigure:
    """The worst slice at one threshold of the profile, with its limit."""

    share: Share
    limit_pct: str
    is_over_limit: bool


@dataclass(frozen=True)
class RunPart:
    """The contents of the page for one run of a log."""

    run: Run
    verdict: Verdict | None
    verdict_word: str
    verdict_reason: str
    further_reasons: list[str]
    worst: list[WorstFigure]
    violations: list[dict[str, Any]]
    violations_cut_sentence: str
    table: SliceTable | None
    judged_sentence: str
    no_slice_sentence: str
    findings: list[Finding]
    ycsb_reasons: list[str]


@dataclass(frozen=True)
class Members:
    """The files of an archive as the reader reported them; only the first ones of a large archive."""

    shown: list[dict[str, Any]]
    total: int

    @property
    def cut_sentence(self) -> str:
        """Return the note about files of a large archive that the page leaves out."""
        if self.total <= len(self.shown):
            return ""
        return f"The first {units.count(len(self.shown))} of {units.count(self.total)}; the API has them all."


def members_of(reading: Reading | None) -> Members:
    """Return the files of a submission that is an archive; none of any other."""
    members = reading.members if reading is not None else []
    return Members(members[:SHOWN_MEMBERS], len(members))


def run_parts(submission: Submission) -> list[RunPart]:
    """Return what was read out of a submission, run by run, in a fixed number of queries.

    Findings that all runs share are listed separately (shared_findings).
    """
    runs = list(_runs_in_full(submission))
    own = shared_findings(runs).own_by_run
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


def _run_part(run: Run, findings: list[Finding]) -> RunPart:
    newest = next(iter(run.verdicts.all()), None)
    verdict = visible_verdict(run, newest) if newest else None
    violations = verdict.document["violations"] if verdict else []
    histogram: Histogram | None = next(iter(run.reads_histograms), None)  # type: ignore[attr-defined]
    return RunPart(
        run=run,
        verdict=verdict,
        verdict_word=verdict.get_outcome_display() if verdict else "",
        verdict_reason=reason_text(verdict) if verdict else "",
        further_reasons=other_reasons(verdict) if verdict else [],
        worst=_worst_figures(run.shares.all(), verdict, violations),
        violations=violations[:SHOWN_VIOLATIONS],
        violations_cut_sentence=_violations_cut(len(violations)),
        table=_slice_table(histogram, run, violations) if histogram else None,
        no_slice_sentence="" if histogram is None or run.first_slices else no_slice_sentence(run),  # type: ignore[attr-defined]
        judged_sentence=judged_sentence(verdict.document) if verdict else "",
        findings=findings,
        ycsb_reasons=list(visible_ycsb(run).reasons) if hasattr(run, "ycsb") else [],
    )


def _violations_cut(total: int) -> str:
    if total <= SHOWN_VIOLATIONS:
        return ""
    return f"The {SHOWN_VIOLATIONS} largest of {units.count(total)}; the CSV on the run's page has every share."


def _worst_figures(shares: Iterable[Share], verdict: Verdict | None, violations: list[Any]) -> list[WorstFigure]:
    """Return the worst shares with their limits. The verdict lists those over a limit; pages never judge."""
    if verdict is None:
        return []
    limits = {entry["threshold_us"]: entry["limit_pct"] for entry in json.loads(verdict.profile.document)["limits"]}
    over = {violation["threshold_us"] for violation in violations}
    return [WorstFigure(share, limits[share.threshold_us], share.threshold_us in over) for share in shares]


def _slices_cut(total: int) -> str:
    if total <= SHOWN_SLICES:
        return ""
    return (
        f"The first {units.count(SHOWN_SLICES)} of {units.count(total)} slices, without average and maximum, which are "
        "of all slices; the CSV on the run's page has them all."
    )


def _slice_table(histogram: Histogram, run: Run, violations: list[Any]) -> SliceTable | None:
    if run.slice_length_s is None:
        return None
    table = latency_table(histogram_slices(run.first_slices), run.slice_length_s)  # type: ignore[attr-defined]
    if table is None:
        return None
    is_first_version = histogram.edges == FIRST_EDGES
    thresholds = tuple(edge * 2 if is_first_version else edge for edge in table.thresholds)
    over = {(str(violation["slice"]), violation["read_at_us"]) for violation in violations}
    unit_us, cut_sentence = UNIT_US[histogram.unit], _slices_cut(run.slices_count)  # type: ignore[attr-defined]
    aggregates = () if cut_sentence else (table.avg, table.max)
    return SliceTable(
        histogram=histogram.name,
        unit=histogram.unit,
        thresholds=thresholds,
        slices=[_line(row, thresholds, unit_us, over) for row in table.slices],
        is_first_version=is_first_version,
        aggregates=[_line(row, thresholds, unit_us, set()) for row in aggregates],
        cut_sentence=cut_sentence,
    )


def _line(row: LatencyRow, thresholds: tuple[int, ...], unit_us: int, over: set[tuple[str, int]]) -> Line:
    cells = [
        Cell(share_pct, (row.label, threshold * unit_us) in over)
        for threshold, share_pct in zip(thresholds, row.pct_over, strict=True)
    ]
    return Line(row.label, cells, row.ops_per_s)
