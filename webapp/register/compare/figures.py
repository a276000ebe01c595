"""What runs that compare show side by side: figures, each row marked where they differ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from results.access.redaction import has_withheld_file
from results.ingest.act import YCSB
from results.models import Run, Statistic, Verdict
from results.rules.act.limits import Limit, exact_share_pct, is_count_within
from webapp.register.comparability.conditions import compared_shares
from webapp.register.limits.reader_limits import LimitEvaluation, YourLimits
from webapp.register.runs.limits import as_limits
from webapp.register.runs.verdict import OUTCOME_WORDS
from webapp.register.runs.ycsb import ops_rate
from webapp.register.tables.columns import newest_verdict, notes_of, product_of, share_of
from webapp.register.tables.evaluation import is_over
from webapp.register.tables.marks import NearnessMark, nearness_mark, run_tier_mark
from webapp.register.tables.meanings.drives import BY_CODE
from webapp.templatetags import units

NOT_STATED = "not stated"
CANNOT_KEEP_UP = "cannot-keep-up"  # how a log tells that its program stopped (docs/formats.md)
SHOWN_OPERATIONS = 8  # kinds of operations of YCSB
PERCENTILES = {"mean_us": "mean", "p99_us": "p99", "p999_us": "p99.9", "p9999_us": "p99.99"}


@dataclass(frozen=True)
class Value:
    """One cell: its text, and of a share the mark of how near it comes to its limit."""

    text: str
    nearness: NearnessMark | None = None
    share_pct: Decimal | None = None

    @property
    def is_over(self) -> bool:
        """A share over its limit."""
        return self.nearness is not None and self.nearness.is_over

    @property
    def said(self) -> str:
        """The text, of a share without the last zeros: who printed 0.000 found what another printed as 0.00."""
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
        """The code of what the row means: that of a column of the tables where it is one."""
        return self.code if self.code in BY_CODE else "share" if self.code.startswith("pct_over_") else "latency"

    @property
    def differs(self) -> bool:
        """Two of its values are not the same; one that is not stated differs from none."""
        return len({value.said for value in self.values if value.text != NOT_STATED}) > 1


def told_by_any(lines: Sequence[Line]) -> list[Line]:
    """Leave out what no run states."""
    return [line for line in lines if any(value.text != NOT_STATED for value in line.values)]


def lines_of_drives(runs: Sequence[Run]) -> list[Line]:
    """Return what the drives of runs are."""
    products = [product_of(run) for run in runs]
    return [
        _texts("category", "Category", [product.get_category_display() for product in products]),
        _texts(
            "capacity_gb", "Capacity", [units.capacity(product.capacity_gb) for product in products], is_number=True
        ),
        _texts("pcie_gen", "PCIe", [product.pcie_gen for product in products], "generation", is_number=True),
        _texts(
            "endurance_dwpd",
            "Endurance",
            [units.decimal(each.endurance_dwpd) for each in products],
            "DWPD",
            is_number=True,
        ),
        _texts("tool_version", "Version of ACT or YCSB", [run.tool_version for run in runs], is_number=True),
        _texts("firmware", "Firmware", [run.firmware for run in runs]),
        _texts("region", "Region", [run.region for run in runs]),
        _texts("zone", "Zone", [run.zone for run in runs]),
        _texts("storage", "Storage", [units.storage(run.device_count, run.device_gb) for run in runs], is_number=True),
        _texts("notes", "Notes", [", ".join(notes_of(run)) or "none" for run in runs]),
        _texts("tier", "Tier", [run_tier_mark(run).word for run in runs]),
    ]


def lines_of_runs(runs: Sequence[Run], own: YourLimits, results: Sequence[LimitEvaluation]) -> list[Line]:
    """Return what the runs found; the runs are of one kind. `results` are the runs held against the limits."""
    return _ycsb_lines(runs) if runs[0].workload == YCSB else _act_lines(runs, own, results)


def _act_lines(runs: Sequence[Run], own: YourLimits, results: Sequence[LimitEvaluation]) -> list[Line]:
    yours = [_by_yours(run, result, own) for run, result in zip(runs, results, strict=True)]
    return [
        _texts("verdict", "Verdict", [_outcome(run) for run in runs]),
        *([_texts("with_your_limits", "With your limits", yours)] if own.is_own else []),
        _texts("tps", "Speed", [units.decimal(run.tps) for run in runs], "tps", is_number=True),
        _texts("nx_load", "Load of each device", [units.nx(run.nx_load) for run in runs], is_number=True),
        *(_share_line(runs, limit) for limit in as_limits(own)),
    ]


def _by_yours(run: Run, result: LimitEvaluation, own: YourLimits) -> str:
    """Return the outcome's word; what the log cannot tell stays so under all limits, and without a share none is kept.

    A log that fails and is within the reader's limits all the same is undecided where more than shares speaks against
    it; one that could not keep up fails under all limits, but of a withheld log or file beside it that is not told.
    """
    verdict = newest_verdict(run)
    if verdict and verdict.outcome in {Verdict.Outcome.UNDECIDED, Verdict.Outcome.VOID}:
        return OUTCOME_WORDS[Verdict.Outcome(verdict.outcome)]
    if not any(share_of(run, threshold_us) for threshold_us in own.by_threshold):
        return ""
    if result.passes_limits:
        return OUTCOME_WORDS[Verdict.Outcome.PASS]
    is_open = not (result.is_over_limits or _is_told_to_have_stopped(run))
    return OUTCOME_WORDS[Verdict.Outcome.UNDECIDED if is_open else Verdict.Outcome.FAIL]


def _is_told_to_have_stopped(run: Run) -> bool:
    """Tell whether the log could not keep up, and that is not kept back with it or with a file beside it."""
    stop = run.facts.get("stop") or {}
    return stop.get("kind") == CANNOT_KEEP_UP and not has_withheld_file(run)


def _outcome(run: Run) -> str:
    verdict = newest_verdict(run)
    return OUTCOME_WORDS[Verdict.Outcome(verdict.outcome)] if verdict else "as published"


def _share_line(runs: Sequence[Run], limit: Limit) -> Line:
    threshold = units.threshold(limit.threshold_us)
    values = [share_value(run, limit) for run in runs]
    return Line(
        f"pct_over_{limit.threshold_us}us",
        f"Over {threshold}",
        f"%, limit {units.decimal(limit.limit_pct)}",
        values,
        True,
    )


def share_value(run: Run, limit: Limit) -> Value:
    """Return a share of the histogram that comparisons take; of a published run the one that was printed."""
    told = next((each for each in compared_shares(run) if each["threshold_us"] == limit.threshold_us), None)
    if told is not None:
        return _counted(told, limit)
    share = share_of(run, limit.threshold_us) if run.statistic == Statistic.STEADY_AS_PUBLISHED else None
    if share is None:
        return Value(NOT_STATED)
    mark = nearness_mark(share.share_pct, limit.limit_pct, is_over=is_over(share, limit.limit_pct))
    return Value(units.share(share.printed, share.over_count), mark, share.share_pct)


def _counted(told: Mapping[str, Any], limit: Limit) -> Value:
    over, ops = told["over_count"], told["ops_count"]
    if not ops:
        return Value(NOT_STATED)
    is_beyond = not is_count_within(over, ops, limit.limit_pct)
    exact = exact_share_pct(over, ops)
    printed = units.share(told["share_pct"], over)
    return Value(printed, nearness_mark(exact, limit.limit_pct, is_over=is_beyond), exact)


def _ycsb_lines(runs: Sequence[Run]) -> list[Line]:
    operations = [{each.name: each for each in run.ycsb.operations.all() if each.outcome == "ok"} for run in runs]
    names = sorted({name for told in operations for name in told})
    lines = [
        _texts("validity", "Validity", [run.ycsb.validity for run in runs]),
        _texts("threads", "Threads", [units.count(run.ycsb.threads_count) for run in runs], is_number=True),
        _texts(
            "throughput",
            "Throughput",
            [ops_rate(run.ycsb.throughput_ops_per_s) for run in runs],
            "ops/s",
            is_number=True,
        ),
    ]
    for name in names[:SHOWN_OPERATIONS]:
        for column, label in PERCENTILES.items():
            told = [_us(getattr(each.get(name), column, None)) for each in operations]
            lines.append(_texts(f"{name}_{column}".lower(), f"{name} {label}", told, "us", is_number=True))
    return lines


def _us(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def _texts(code: str, label: str, texts: Sequence[str], unit: str = "", *, is_number: bool = False) -> Line:
    return Line(code, label, unit, [Value(text or NOT_STATED) for text in texts], is_number)
