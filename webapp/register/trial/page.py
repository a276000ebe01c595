"""The result of a trial: what pages of stored runs show, made from rows that are never stored."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from results.access.intervals import HistogramSlice
from results.ingest.rows import findings_of, read_rows, unsaved_run
from results.ingest.ycsb import operation_rows, ycsb_row
from results.models import Histogram, Profile, Run, Share, Verdict
from results.reader.process import Document
from results.rules.act.limits import parse_limits
from webapp.register.runs.histograms import bucket_rows, judged_sentence
from webapp.register.runs.page import in_order, setup_pairs
from webapp.register.runs.slices import (
    SHOWN_SLICES,
    SliceTable,
    cut_sentence,
    no_slice_sentence,
    read_limits,
    slice_row,
)
from webapp.register.runs.verdict import figure_of, reason_text, verdict_view
from webapp.register.runs.verdict_basis import fitting_basis_sentence, slices_in_words
from webapp.register.runs.ycsb import run_sentence, ycsb_setup
from webapp.register.tables.columns import SHARE_THRESHOLDS_US
from webapp.register.trial.certificate import needs_of
from webapp.register.trial.chart import panels_of
from webapp.register.trial.slice_lengths import shorter_slice_length_s
from webapp.register.trial.stored_runs import stored_runs

SHOWN_RUNS = 20  # an archive may hold 64 logs, and a file any number of runs
SHOWN_MEMBERS = 100

Part = dict[str, Any]


@dataclass(frozen=True)
class TrialRun:
    """A run of a log that is not stored, with its rows; a run of YCSB has no verdict."""

    name: str
    run: Run
    verdict: Verdict | None = None


def trial_page(document: Document, judged: Document | None = None) -> Part:
    """Return the context of the page. Raises InvalidOperation if a number of the log fits into no column.

    `judged` is another reading of the log, which gives the verdicts: that in the slices of the profile, while those of
    `document` show how a short test changed over time.
    """
    profile = Profile.current()
    act_runs, ycsb_runs = document["runs"], document.get("ycsb_runs", [])
    names = [f"run {number}" for number in range(1, len(act_runs) + len(ycsb_runs) + 1)]
    named = list(zip(names, [*act_runs, *ycsb_runs], strict=True))
    judged_runs = dict(zip(names, judged["runs"], strict=False)) if judged else {}
    rows, parts = [], []
    for name, read in named[:SHOWN_RUNS]:
        if "slices" in read:
            trial, part = _act_part(name, read, judged_runs.get(name, read), document["reader"]["version"], profile)
            if judged and part.get("verdict"):
                part["verdict"]["basis"] = fitting_basis_sentence(profile, has_other_runs=len(named) > 1)
        else:
            trial, part = _ycsb_part(name, read)
        rows.append(trial)
        parts.append(part)
    members = document["input"].get("members", [])
    return {
        "profile": profile,
        "runs": parts,
        "stored_runs": stored_runs(judged or document, profile),
        "runs_count": len(named),
        "runs_cut_sentence": cut_sentence(len(parts), len(named), "The page has the first {shown} of {total} runs."),
        "file_findings": document["findings"],
        "members": members[:SHOWN_MEMBERS],
        "members_cut_sentence": cut_sentence(
            min(len(members), SHOWN_MEMBERS), len(members), "The table has the first {shown} of {total} files."
        ),
        "needs": needs_of([(each.name, each.run, each.verdict) for each in rows], profile),
        "needs_cut_sentence": cut_sentence(
            len(parts), len(named), "This section considers the first {shown} of {total} runs."
        ),
        "reader_version": document["reader"]["version"],
    } | _suggested(parts)


def _suggested(parts: list[Part]) -> Part:
    """Return a tenth of the shortest run without a slice, for the field of the form; nothing without such a run."""
    lengths = [part["shorter_slice_s"] for part in parts if part.get("shorter_slice_s")]
    return {"slice_length_s": min(lengths)} if lengths else {}


def _act_part(
    name: str, read: Document, judged: Document, reader_version: str, profile: Profile
) -> tuple[TrialRun, Part]:
    """Return a run with its verdict; `judged` is the reading of the run that gives the verdict."""
    run = unsaved_run(read)
    rows = read_rows(run, read, reader_version, profile)
    verdict, judged_run = rows.verdict, run
    if judged is not read:
        judged_run = unsaved_run(judged)
        verdict = read_rows(judged_run, judged, reader_version, profile).verdict
    histogram = _judged(rows.histograms)
    run.judged_histogram = histogram  # otherwise a query, of a run that the database does not have
    part: Part = {"name": name, "run": run, "findings": in_order(rows.findings), "setup": setup_pairs(run)}
    part["is_virtual"] = run.is_virtual or bool(run.facts.get("is_virtual_device"))
    if histogram is not None:
        part |= _slices(name, run, read, histogram, rows.verdict)
    if rows.verdict is not None and verdict is not None:
        part |= {
            "has_side_file": bool(run.facts.get("side_file")),
            "verdict": verdict_view(judged_run, verdict, part.get("table")),
            "short_slices": "" if judged is read else _short_slices_sentence(run, rows.verdict),
            "judged_sentence": judged_sentence(rows.verdict.document),
            "figures": _figures(rows.shares, profile, rows.verdict.document, part.get("table")),
        }
    return TrialRun(name, judged_run, verdict), part


def _short_slices_sentence(run: Run, verdict: Verdict) -> str:
    """Return what exceeds a limit in the slices that the register chose; empty if nothing does."""
    if run.slice_length_s is None or not verdict.document["violations"]:
        return ""
    slices = slices_in_words(run.slice_length_s)
    return f"In {slices}, which are not those of the profile, a limit is exceeded: {reason_text(verdict)}."


def _judged(histograms: list[Histogram]) -> Histogram | None:
    """Return the histogram of reads that verdicts use, as HistogramQuerySet.judged() finds it."""
    return next((each for each in histograms if each.role == "reads"), None)


def _figures(shares: list[Share], profile: Profile, document: Document, table: SliceTable | None) -> list[Part]:
    """Return the shares with their limits, those of the worst slice first."""
    ordered = sorted(shares, key=lambda share: (share.statistic != "worst-slice", share.threshold_us))
    limits = parse_limits(profile.document)
    return [figure_of(share, limits, document, table) for share in ordered if share.threshold_us in SHARE_THRESHOLDS_US]


def _slices(name: str, run: Run, read: Document, histogram: Histogram, verdict: Verdict | None) -> Part:
    """Return the slice table, the chart and the table of buckets."""
    slices, limits = list(_own_slices(read, histogram.ordinal)), read_limits(histogram, verdict)
    rows = [slice_row(each, limits) for each in slices[:SHOWN_SLICES]]
    table = SliceTable(histogram, limits, rows, len(slices), "" if rows else no_slice_sentence(run))
    cut = "The table has the first {shown} of {total} slices; the chart has all."
    return {
        "table": table,
        "shorter_slice_s": shorter_slice_length_s(run.duration_s, run.slice_length_s),
        "table_cut_sentence": cut_sentence(len(rows), len(slices), cut),
        "chart": panels_of(name.replace(" ", "-"), slices, limits),
        "buckets": bucket_rows(histogram, rows, limits) if len(rows) == len(slices) else [],
    }


def _own_slices(read: Document, ordinal: int) -> Iterator[HistogramSlice]:
    """Yield the slices of one histogram, without those whose counts cannot be used."""
    for piece in read["slices"]:
        own = next((part for part in piece["histograms"] if part["ordinal"] == ordinal), None)
        if own is not None:
            place = (piece[key] for key in ("start_s", "end_s", "first_line", "last_line"))
            yield HistogramSlice(piece["number"], own["counts"], own["ops_count"], *place)


def _ycsb_part(name: str, read: Document) -> tuple[TrialRun, Part]:
    run = unsaved_run(read)
    facts = ycsb_row(run, read)
    part: Part = {
        "name": name,
        "run": run,
        "ycsb": facts,
        "ycsb_sentence": run_sentence(facts),
        "operations": operation_rows(facts, read),
        "findings": in_order(findings_of(run, read)),
        "setup": ycsb_setup(run, facts),
    }
    return TrialRun(name, run), part
