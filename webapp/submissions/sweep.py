"""Several runs of YCSB in one submission, side by side: a sweep is read as a table, not as a page for each run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from results.access.redaction import visible_findings
from results.models import Finding, Run, YcsbOperation, YcsbRun
from webapp.register.runs.page import in_order, shared_by_all
from webapp.register.runs.ycsb import PERCENTILES, operation_row
from webapp.templatetags import units

DONE = "ok"  # the outcome of a successful operation


@dataclass(frozen=True)
class SweepRow:
    """One run: what it did, and the time of its commonest operation, in us as text."""

    run: Run
    facts: YcsbRun
    throughput: str
    operation: str
    mean: str
    p99: str


@dataclass(frozen=True)
class SharedFindings:
    """The findings that all runs of a submission share, listed once, and the other findings of each run."""

    shared: list[Finding]
    own_by_run: dict[int, list[Finding]]


def sweep_rows(runs: Iterable[Run]) -> list[SweepRow]:
    """Return the runs of YCSB in the order of phase, workload and threads; none where there is one run only."""
    ycsb = [run for run in runs if hasattr(run, "ycsb")]
    ordered = sorted(ycsb, key=lambda run: (run.ycsb.phase, run.ycsb.workload, run.ycsb.threads_count or 0, run.pk))
    return [_row(run) for run in ordered] if len(ordered) > 1 else []


def _row(run: Run) -> SweepRow:
    facts: YcsbRun = run.ycsb
    done = [each for each in facts.operations.all() if each.outcome == DONE and each.ops_count]
    commonest: YcsbOperation | None = max(done, key=lambda each: each.ops_count or 0, default=None)
    shown = operation_row(commonest) if commonest else None
    return SweepRow(
        run=run,
        facts=facts,
        throughput=units.rate(facts.throughput_ops_per_s),
        operation=shown.name if shown else "",
        mean=shown.mean if shown else "",
        p99=shown.percentiles[PERCENTILES.index("p99_us")] if shown else "",
    )


def shared_findings(runs: Sequence[Run]) -> SharedFindings:
    """Return the findings of several runs, each that all of them have only once."""
    findings_by_run = {run.pk: in_order(visible_findings(run)) for run in runs}
    keys = shared_by_all(list(findings_by_run.values()))
    first: list[Finding] = next(iter(findings_by_run.values()), [])
    shared = [finding for finding in first if (finding.rule_id, finding.sentence) in keys]
    own = {
        pk: [finding for finding in findings if (finding.rule_id, finding.sentence) not in keys]
        for pk, findings in findings_by_run.items()
    }
    return SharedFindings(shared, own)
