"""The rows of a comparison: properties of drives and figures of runs, with a mark on rows that differ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from results.access.withholding import has_withheld_file
from results.models import YCSB, Run, Statistic, Verdict
from results.rules.act.limits import Limit, exact_share_pct, is_count_within
from webapp.register.comparability.comparable import NOT_STATED
from webapp.register.comparability.conditions import compared_shares
from webapp.register.limits.reader_limits import LimitEvaluation, YourLimits
from webapp.register.runs.verdict_basis import was_overloaded
from webapp.register.tables import columns
from webapp.register.tables.columns import Column, newest_verdict, notes_of, share_of
from webapp.register.tables.evaluation import is_over
from webapp.register.tables.marks import NearnessMark, nearness_mark, run_tier_word
from webapp.register.tables.meanings import BY_CODE
from webapp.templatetags import units

SHOWN_OPERATIONS = 8  # kinds of operations of YCSB
# Figures that do not depend on the load: they compare even if the tests do not.
OF_THE_DATA_SHEET = frozenset({"verdict", "with_your_limits", "sustained_tps", "validity"})
LISTED = "listed_"  # before the code of a share that tables show, and comparisons do not use
PERCENTILES = {"mean_us": "mean", "p99_us": "p99", "p999_us": "p99.9", "p9999_us": "p99.99"}


@dataclass(frozen=True)
class Value:
    """One cell: its text, empty if not reported, and for a share the mark that shows how close it is to its limit."""

    text: str
    nearness: NearnessMark | None = None
    share_pct: Decimal | None = None

    @property
    def is_over(self) -> bool:
        """Return whether the value is a share over its limit."""
        return self.nearness is not None and self.nearness.is_over

    @property
    def comparable_text(self) -> str:
        """Return the text, for a share without trailing zeros: 0.000 and 0.00 are the same."""
        is_share = self.share_pct is not None and "." in self.text
        return self.text.rstrip("0").rstrip(".") if is_share else self.text


@dataclass(frozen=True)
class Line:
    """One row of the aligned table."""

    code: str
    label: str
    unit: str
    values: list[Value]
    is_number: bool = False

    @property
    def meaning(self) -> str:
        """Return the code of the row's meaning: its own if it is a column of the tables."""
        if self.code in BY_CODE:
            return self.code
        return "share" if self.code.startswith(("pct_over_", LISTED)) else "latency"

    @property
    def is_of_the_test(self) -> bool:
        """Return whether the row is measured, so that it misleads if the tests do not compare."""
        return self.code not in OF_THE_DATA_SHEET

    @property
    def differs(self) -> bool:
        """Return whether at least two reported values differ."""
        return len({value.comparable_text for value in self.values if value.text}) > 1

    @property
    def exported(self) -> list[str]:
        """Return the values as text for CSV and JSON files."""
        return [value.text or NOT_STATED for value in self.values]


def reported_lines(lines: Sequence[Line]) -> list[Line]:
    """Return the rows that at least one run reports."""
    return [line for line in lines if any(value.text for value in line.values)]


def lines_of_drives(runs: Sequence[Run]) -> list[Line]:
    """Return the properties of the runs' drives."""
    of_product = (columns.CATEGORY, columns.CAPACITY, columns.PCIE_GEN, columns.ENDURANCE)
    return [
        *(_column(column, runs) for column in of_product),
        _texts("tool_version", "Version of ACT or YCSB", [run.tool_version for run in runs], is_number=True),
        *(_column(column, runs) for column in (columns.FIRMWARE, columns.REGION, columns.ZONE)),
        _texts("storage", "Storage", [columns.STORAGE.text(run) for run in runs], is_number=True),
        _texts("notes", "Notes", [", ".join(notes_of(run)) or "none" for run in runs]),
        _texts("tier", "Tier", [run_tier_word(run) for run in runs]),
    ]


def _column(column: Column, runs: Sequence[Run]) -> Line:
    """Return the row of a column of the tables."""
    texts = [column.text(run) for run in runs]
    return _texts(column.code, column.head, texts, column.unit, is_number=column.is_number)


def lines_of_runs(runs: Sequence[Run], own: YourLimits, results: Sequence[LimitEvaluation]) -> list[Line]:
    """Return the figures of runs. `results` are the runs' evaluations under the limits.

    Runs of YCSB and of ACT have no row in common.
    """
    of_ycsb = [run.workload == YCSB for run in runs]
    act = [] if all(of_ycsb) else _act_lines(runs, own, results)
    return [*act, *(_ycsb_lines(runs) if any(of_ycsb) else [])]


def _act_lines(runs: Sequence[Run], own: YourLimits, results: Sequence[LimitEvaluation]) -> list[Line]:
    own_outcomes = [_own_outcome(run, result, own) for run, result in zip(runs, results, strict=True)]
    computed = (columns.PER_TB, columns.NEEDED_DWPD, columns.SUSTAINED)
    return [
        _texts("verdict", "Verdict", [_outcome(run) for run in runs]),
        *([_texts("with_your_limits", "With your limits", own_outcomes)] if own.is_own else []),
        _texts("tps", "Speed", [units.decimal(run.tps) for run in runs], "tps", is_number=True),
        _texts("nx_load", "Load of each device", [units.nx(run.nx_load) for run in runs], is_number=True),
        *(line for limit in own.limits for line in _share_lines(runs, limit)),
        *(_column(column, runs) for column in computed),
    ]


def _own_outcome(run: Run, result: LimitEvaluation, own: YourLimits) -> str:
    """Return the outcome under the reader's limits; empty for a run without shares.

    An undecided or void log stays so under all limits. A log that is within the limits but fails for other reasons is
    undecided; one that could not keep up fails, unless its log or an attached file is withheld.
    """
    verdict = newest_verdict(run)
    if verdict and verdict.outcome in {Verdict.Outcome.UNDECIDED, Verdict.Outcome.VOID}:
        return verdict.get_outcome_display()
    if not any(share_of(run, threshold_us) for threshold_us in own.by_threshold):
        return ""
    if result.passes_limits:
        return str(Verdict.Outcome.PASS.label)
    is_open = not (result.is_over_limits or (was_overloaded(run) and not has_withheld_file(run)))
    return str((Verdict.Outcome.UNDECIDED if is_open else Verdict.Outcome.FAIL).label)


def _outcome(run: Run) -> str:
    if run.workload == YCSB:
        return ""
    verdict = newest_verdict(run)
    return verdict.get_outcome_display() if verdict else "as published"


def _share_lines(runs: Sequence[Run], limit: Limit) -> list[Line]:
    """Return the row of a share, and the shares that tables list if a comparison uses another histogram."""
    label, unit = f"Over {units.threshold(limit.threshold_us)}", f"%, limit {units.decimal(limit.limit_pct)}"
    code, listed = f"pct_over_{limit.threshold_us}us", [_listed_share(run, limit) for run in runs]
    compared = [share_value(run, limit) for run in runs]
    shares = [each if each.text else also for each, also in zip(compared, listed, strict=True)]
    line = Line(code, label, unit, shares, True)
    if all(each.text in {"", share.text} for each, share in zip(listed, shares, strict=True)):
        return [line]
    return [line, Line(f"{LISTED}{code}", f"{label}, as listed in tables", unit, listed, True)]


def _listed_share(run: Run, limit: Limit) -> Value:
    """Return the share that tables list; empty if it is not reported."""
    share = share_of(run, limit.threshold_us)
    if share is None:
        return Value("")
    mark = nearness_mark(share.share_pct, limit.limit_pct, is_over=is_over(share, limit.limit_pct))
    return Value(units.share(share.printed, share.over_count), mark, share.share_pct)


def share_value(run: Run, limit: Limit) -> Value:
    """Return a share of the histogram that comparisons use; for a published run, the printed one."""
    compared = next((each for each in compared_shares(run) if each["threshold_us"] == limit.threshold_us), None)
    if compared is not None:
        return _counted_share(compared, limit)
    return _listed_share(run, limit) if run.statistic == Statistic.STEADY_AS_PUBLISHED else Value("")


def _counted_share(share: Mapping[str, Any], limit: Limit) -> Value:
    over, ops = share["over_count"], share["ops_count"]
    if not ops:
        return Value("")
    exact = exact_share_pct(over, ops)
    mark = nearness_mark(exact, limit.limit_pct, is_over=not is_count_within(over, ops, limit.limit_pct))
    return Value(units.share(share["share_pct"], over), mark, exact)


def _ycsb_lines(runs: Sequence[Run]) -> list[Line]:
    of_ycsb = [run.ycsb if run.workload == YCSB else None for run in runs]
    operations = [
        {each.name: each for each in ycsb.operations.all() if each.outcome == "ok"} if ycsb else {} for ycsb in of_ycsb
    ]
    names = sorted({name for by_name in operations for name in by_name})
    throughputs = [units.rate(ycsb.throughput_ops_per_s) if ycsb else "" for ycsb in of_ycsb]
    threads = [units.count(ycsb.threads_count) if ycsb else "" for ycsb in of_ycsb]
    lines = [
        _texts("validity", "Validity", [ycsb.validity if ycsb else "" for ycsb in of_ycsb]),
        _texts("threads", "Threads", threads, is_number=True),
        _texts("throughput", "Throughput", throughputs, "ops/s", is_number=True),
    ]
    for name in names[:SHOWN_OPERATIONS]:
        for column, label in PERCENTILES.items():
            times = [_us(getattr(each.get(name), column, None)) for each in operations]
            lines.append(_texts(f"{name}_{column}".lower(), f"{name} {label}", times, "us", is_number=True))
    return lines


def _us(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def _texts(code: str, label: str, texts: Sequence[str], unit: str = "", *, is_number: bool = False) -> Line:
    return Line(code, label, unit, [Value(text) for text in texts], is_number)
