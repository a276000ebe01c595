"""The content of a submission's page, computed here so that its template computes nothing.

First its runs with their verdicts and slices, then its progress: steps, reading attempts and full history.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, OuterRef, Prefetch, QuerySet, Subquery
from django.db.models.functions import Coalesce

from results.access.intervals import histogram_slices
from results.access.withholding import visible_findings, visible_name, visible_verdict, visible_ycsb
from results.history import EMBARGO_CHANGED
from results.ingest.rows import identity_of
from results.lifecycle.submission_states import (
    DECLINED_KIND,
    NEVER_PUBLIC,
    UNFINISHED,
    StatedSubmission,
    SubmissionState,
)
from results.models import Event, Finding, Histogram, Reading, Run, Share, Slice, Statistic, Submission, Verdict
from results.models.evidence import QueuedReading
from results.rules.act.latency_table import LatencyRow, latency_table
from webapp.accounts.models import User
from webapp.accounts.permissions import register_roles
from webapp.register.runs.histograms import judged_sentence
from webapp.register.runs.page import HistoryLine, in_order, line_of, shared_by_all
from webapp.register.runs.slices import FIRST_EDGES, cut_sentence, no_slice_sentence
from webapp.register.runs.verdict import SHOWN_VIOLATIONS, reason_text, reasons_of, too_short_sentence
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
        Run.objects.not_sequestered()
        .filter(submission=submission)
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
        too_short = too_short_sentence(run, verdict)
        part |= {
            "verdict_word": verdict.get_outcome_display(),
            "verdict_reason": too_short or reason_text(verdict),
            "further_reasons": reasons_of(verdict, is_too_short=bool(too_short)),
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


@dataclass(frozen=True)
class Step:
    """One step: `place` is "done", "now" or "" for what is to come."""

    title: str
    place: str
    note: str = ""
    at: datetime | None = None


PAST_REVIEW = frozenset(
    {
        SubmissionState.EMBARGOED,
        SubmissionState.PUBLISHED,
        SubmissionState.WITHDRAWN,
        SubmissionState.SEQUESTERED,
    }
)


def steps_of(
    submission: StatedSubmission, reading: Reading | None, events: list[Event], *, is_publishable: bool
) -> list[Step]:
    """Return the steps in their order; a decision is shown with its reason."""
    state, name = SubmissionState(submission.state), visible_name(submission.log) or "hidden file"
    steps = [
        Step("Stored", "done", f"{name}, hash recorded", submission.received_at),
        _reading_step(state, reading),
        _identity_step(state, submission),
    ]
    if state != SubmissionState.FAILED:  # which ends there, as the deadlines do
        steps.append(_review_step(state, events))
    is_next = is_publishable and state not in NEVER_PUBLIC
    return [*steps, _publication_step(state, submission, events)] if is_next or state in PAST_REVIEW else steps


def _reading_step(state: SubmissionState, reading: Reading | None) -> Step:
    if reading is None or state == SubmissionState.RECEIVED:
        return Step("Waiting for the reader", "now")
    if state == SubmissionState.READING:
        return Step("Being read", "now", f"attempt {reading.attempts}", reading.started_at)
    if state == SubmissionState.FAILED:
        return Step("Could not be read", "now", "the file is stored", reading.finished_at)
    return Step("Read", "done", f"drivetest {reading.reader_version}", reading.finished_at)


def _identity_step(state: SubmissionState, submission: StatedSubmission) -> Step:
    if submission.product is not None:
        return Step("Identified", "done", str(submission.product))
    return Step(
        "Identity", "now" if state == SubmissionState.AWAITING_IDENTITY else "", _unidentified(state, submission)
    )


def _unidentified(state: SubmissionState, submission: StatedSubmission) -> str:
    """Return the reason for a missing product: the register searches for it only after the reading."""
    if state == SubmissionState.FAILED:
        return "no product: the log could not be read"
    if state in NEVER_PUBLIC:
        return "no product was assigned"
    if state in UNFINISHED:
        return "the product is identified after the log is read"
    if not any(identity_of(submission).values()):
        return "no identity was stated; a reviewer assigns a product"
    return "no product of the register has exactly the stated identity; a reviewer assigns one"


def product_sentence(submission: StatedSubmission) -> str:
    """Return the text that is shown for a submission without a product."""
    state = SubmissionState(submission.state)
    return _unidentified(state, submission) if state in NEVER_PUBLIC or state in UNFINISHED else "awaiting identity"


def _review_step(state: SubmissionState, events: list[Event]) -> Step:
    if state == SubmissionState.DECLINED:
        declined = next(event for event in reversed(events) if event.kind == DECLINED_KIND)
        return Step("Declined", "now", declined.reason, declined.at)
    if state == SubmissionState.RETRACTED:
        retracted = next(event for event in reversed(events) if event.kind == "run-retracted")
        return Step("Withdrawn by its sender", "now", retracted.reason, retracted.at)
    if state in PAST_REVIEW:
        return Step("Reviewed", "done")
    return Step("Review", "now" if state == SubmissionState.IN_REVIEW else "")


def _publication_step(state: SubmissionState, submission: StatedSubmission, events: list[Event]) -> Step:
    until = submission.embargo_until
    if state == SubmissionState.EMBARGOED:
        return Step("Waits for the end of its embargo", "now", "it becomes public then, at a permanent address", until)
    if state == SubmissionState.WITHDRAWN:
        withdrawn = next(event for event in reversed(events) if event.kind == "run-withdrawn")
        return Step("Withdrawn", "now", withdrawn.reason, withdrawn.at)
    if state == SubmissionState.SEQUESTERED:
        return Step("Withheld for legal reasons", "now", "the page of the run states the ground")
    if state == SubmissionState.PUBLISHED:
        published = next((event for event in events if event.kind == "run-published"), None)
        return Step("Published", "done", "at a permanent address", published.at if published else None)
    if submission.is_published:
        return Step("Published at a permanent address", "", "other runs of this submission are public already")
    return Step("Published at a permanent address", "", "not before" if until else "", until)


def attempts_sentences(reading: QueuedReading | None) -> list[str]:
    """Return sentences about unfinished attempts; empty without any."""
    if reading is None or not reading.error or "limits" not in reading.error:
        return []
    attempts = reading.counted_attempts
    met = Counter((each["limit"], each["allowed"]) for each in reading.error["limits"])
    each_met = [
        f"{_attempts(times, attempts)} reached the limit of {limit}, {allowed}"
        for (limit, allowed), times in met.items()
    ]
    tried = "once" if attempts == 1 else f"{attempts} times"
    sentences = [f"The register tried {tried} to read the log; {'; '.join(each_met) or 'no attempt reached a limit'}."]
    if reading.state == QueuedReading.State.PENDING and reading.next_attempt_at is not None:
        sentences.append(f"The next attempt to read the log is at {units.moment(reading.next_attempt_at)}.")
    return sentences


def _attempts(times: int, attempts: int) -> str:
    if times >= attempts:
        return "the attempt" if times == 1 else "each attempt"
    return f"{times} of them"


NO_EMBARGO = "none"


def entries_of(events: Iterable[Event]) -> list[dict[str, object]]:
    """Return events, fetched with their actors, as their owners read them, with the moments of every embargo."""
    return [
        {"line": _history_line(event), "run_id": event.subject_id if event.subject_type == "run" else ""}
        for event in events
    ]


def _history_line(event: Event) -> HistoryLine:
    line = line_of(event)
    if isinstance(event.actor, User) and not register_roles(event.actor):
        line |= {"by": "its organisation"}
    if event.kind != EMBARGO_CHANGED:
        return line
    moments = (event.details[name] for name in ("before", "after"))
    before, after = (units.moment(datetime.fromisoformat(each)) if each else NO_EMBARGO for each in moments)
    return line | {"details": f"{before} -> {after}"}
