"""Claims of publications, recomputed from the figures that the same publications state.

A claim names its computation as a formula of a (the drive praised) and b (the one it is compared with). What a and b
are follows from the claim's words: a metric, and if stated a fixed throughput or latency.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from results.rules.ycsb import claim_terms, statements
from results.rules.ycsb.claim_reasons import Reason, ReasonCode
from results.rules.ycsb.gains import better, decrease, increase, times_less
from results.rules.ycsb.statements import Formula, Status, Taken, ends_of
from results.rules.ycsb.sweeps import CORE_MIX, LittlesLaw, littles_law, mean_improvement, mean_latency_us

PERCENT, TIMES, OPS_PER_S = "%", "x", "ops/s"
AT_A_FIXED = " at a fixed "


@dataclass(frozen=True)
class Figure:
    """One figure of a publication; `threads` and `at_ops_per_s` are None if it does not state them.

    `is_read_off`: neither the value nor its fixed point was printed.
    """

    publication: str
    model: str
    workload: str
    metric: str
    value: Fraction
    unit: str
    threads: int | None = None
    at_ops_per_s: Fraction | None = None
    is_read_off: bool = False


@dataclass(frozen=True)
class Claim:
    """One claim with its stated digits; `computation` is empty if no published figures support it."""

    publication: str
    claim: str
    workload: str
    device: str
    against: str
    stated_value: str
    unit: str
    computation: str

    @property
    def formula(self) -> str:
        """Return the formula of a and b, without the quantity that it holds fixed."""
        return self.computation.partition(AT_A_FIXED)[0]


@dataclass(frozen=True)
class BasisRow:
    """The figures of both drives at one thread count, None for a drive without one; no `threads` for a single run."""

    threads: int | None
    a: Taken | None
    b: Taken | None


@dataclass(frozen=True)
class Basis:
    """The figures of one workload that a claim is computed from, by rising thread count."""

    workload: str
    metric: str
    unit: str
    rows: tuple[BasisRow, ...]


@dataclass(frozen=True)
class ClaimCheck:
    """The result of checking a claim: exact values (one for each workload), printed value, status, or the reason.

    `printed_status` is the status of the printed value, which is rounded twice. If it differs from `status`, the second
    rounding made the difference, or the claim is in words, which no number refutes. If figures were read from a chart,
    `span` is the range of the value and decides the status; it is None if all figures were printed. `basis` has the
    figures of each workload.
    """

    claim: Claim
    values: tuple[Fraction, ...]
    printed: str
    status: Status
    printed_status: Status
    reason: Reason | None = None
    span: tuple[Fraction, Fraction] | None = None
    basis: tuple[Basis, ...] = ()


class _MissingError(Exception):
    """Something that the computation needs is not among the figures."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.sentence())
        self.reason = reason


def check_claim(claim: Claim, figures: Sequence[Figure]) -> ClaimCheck:
    """Return what a claim's own publication gives for it. Missing figures are named in `reason`, never filled in."""
    try:
        results = [_result(claim, workload, figures) for workload in claim_terms.workloads(claim.workload)]
    except _MissingError as missing:
        lacking = Status.CANNOT_BE_CHECKED
        return ClaimCheck(claim, (), "", lacking, lacking, missing.reason)
    values = tuple(result.value for result in results)
    ends = [end for result in results for end in result.ends]
    span = (min(ends), max(ends)) if ends else None
    places = statements.places_of(claim.stated_value)
    if places is None:
        status = Status.IN_WORDS
    elif span is None:
        status = statements.judge_all(claim.stated_value, values)
    else:
        status = statements.judge_read_off(claim.stated_value, values, *span)
    shown = sorted({statements.printed(value, max(1, places or 0)) for value in values}, key=Fraction)
    printed_status = statements.judge_all(claim.stated_value, [Fraction(text) for text in shown])
    printed = " to ".join(dict.fromkeys((shown[0], shown[-1])))
    basis = tuple(result.basis for result in results)
    return ClaimCheck(claim, values, printed, status, printed_status, None, span, basis)


@dataclass(frozen=True)
class _Question:
    """A claim about one workload, with the figures of its publication."""

    claim: Claim
    workload: str
    figures: Sequence[Figure]

    def of(self, model: str, metric: str) -> list[Figure]:
        key = (self.claim.publication, model, self.workload, metric)
        found = [each for each in self.figures if (each.publication, each.model, each.workload, each.metric) == key]
        if not found:
            raise _MissingError(Reason(ReasonCode.NO_FIGURE, metric, model, self.workload))
        return found

    def metric(self) -> str:
        metric = claim_terms.metric(self.claim.claim)
        if metric is None:
            raise _MissingError(Reason(ReasonCode.NO_METRIC, stated=self.claim.claim))
        return metric


OF_TWO: Mapping[str, tuple[Formula, str]] = {
    "a / b - 1": (increase, PERCENT),
    "1 - a / b": (decrease, PERCENT),
    "b / a": (times_less, TIMES),
}
PEAKS, MEAN_OF_GAINS = "max over threads / max over threads - 1", "mean of per-thread-count improvements"


@dataclass(frozen=True)
class _Result:
    """One value in the claim's unit, the ends of what its figures allow, and the figures."""

    value: Fraction
    ends: Sequence[Fraction]
    basis: Basis


def _result(claim: Claim, workload: str, figures: Sequence[Figure]) -> _Result:
    """Compute a claim for one workload."""
    if not claim.computation:
        raise _MissingError(Reason(ReasonCode.NO_COMPUTATION))
    question = _Question(claim, workload, figures)
    formula, _, fixed = claim.computation.partition(AT_A_FIXED)
    if formula in {PEAKS, MEAN_OF_GAINS} and not fixed:
        ratio, basis = _over_threads(question, formula)
        return _Result(_scaled(claim, ratio, PERCENT), (), basis)
    if formula not in OF_TWO or fixed not in {"", claim_terms.THROUGHPUT, claim_terms.LATENCY}:
        raise _MissingError(Reason(ReasonCode.UNKNOWN_COMPUTATION, stated=claim.computation))
    compute, unit = OF_TWO[formula]
    found = [_taken(question, model, fixed) for model in (claim.device, claim.against)]
    (a, _), (b, _) = found
    metric = claim_terms.THROUGHPUT if fixed == claim_terms.LATENCY else question.metric()
    return _Result(
        _scaled(claim, compute(a.value, b.value), unit),
        [_scaled(claim, end, unit) for end in ends_of(compute, a, b)],
        Basis(workload, metric, found[0][1], (BasisRow(None, a, b),)),
    )


def _scaled(claim: Claim, value: Fraction | None, unit: str) -> Fraction:
    if value is None:
        raise _MissingError(Reason(ReasonCode.DIVISION_BY_0))
    if claim.unit not in {"", unit}:
        raise _MissingError(Reason(ReasonCode.OTHER_UNIT, stated=claim.unit, unit=unit))
    return value * 100 if unit == PERCENT else value


def _over_threads(question: _Question, formula: str) -> tuple[Fraction | None, Basis]:
    metric = question.metric()
    direction = better(metric, question.claim.publication)
    if direction is None:
        raise _MissingError(Reason(ReasonCode.NO_DIRECTION, metric))
    found, base = (_sweep(question, model, metric) for model in (question.claim.device, question.claim.against))
    values, base_values = ({threads: each.value for threads, each in sweep.items()} for sweep in (found, base))
    units = [each.unit for each in (*found.values(), *base.values())]
    basis = Basis(question.workload, metric, units[0] if units else "", _rows(found, base))
    if formula == MEAN_OF_GAINS:
        return mean_improvement(values, base_values, direction), basis
    is_known = values and base_values
    return increase(max(values.values()), max(base_values.values())) if is_known else None, basis


def _rows(found: Mapping[int, Figure], base: Mapping[int, Figure]) -> tuple[BasisRow, ...]:
    taken = [
        {threads: Taken(each.value, each.is_read_off) for threads, each in sweep.items()} for sweep in (found, base)
    ]
    return tuple(
        BasisRow(threads, *(side.get(threads) for side in taken)) for threads in sorted(found.keys() | base.keys())
    )


def _sweep(question: _Question, model: str, metric: str) -> Mapping[int, Figure]:
    figures = [figure for figure in question.of(model, metric) if figure.threads is not None]
    sweep = {figure.threads: figure for figure in figures if figure.threads is not None}
    if len(sweep) < len(figures):
        raise _MissingError(Reason(ReasonCode.SEVERAL_AT_A_THREAD_COUNT, metric, model))
    return sweep


def _taken(question: _Question, model: str, fixed: str) -> tuple[Taken, str]:
    """Return the number of one drive that a formula takes, with its unit: its figure, or that at the fixed quantity."""
    if not fixed:
        figure = _one(question.of(model, question.metric()), model)
        return Taken(figure.value, figure.is_read_off), figure.unit
    wanted = claim_terms.condition(question.claim.claim)
    if wanted is None or wanted.quantity != fixed:
        raise _MissingError(Reason(ReasonCode.NO_FIXED_QUANTITY, stated=question.claim.claim, quantity=fixed))
    if fixed == claim_terms.THROUGHPUT:
        figures = question.of(model, question.metric())
        figure = _one([each for each in figures if each.at_ops_per_s == wanted.value], model)
        return Taken(figure.value, figure.is_read_off), figure.unit
    metric = claim_terms.latency_metric(question.claim.claim)
    if metric is None:
        raise _MissingError(Reason(ReasonCode.NO_LATENCY, stated=question.claim.claim))
    figures = question.of(model, metric)
    figure = _one([each for each in figures if claim_terms.in_us(each.value, each.unit) == wanted.value], model)
    if figure.at_ops_per_s is None:
        raise _MissingError(Reason(ReasonCode.NO_THROUGHPUT, drive=model))
    return Taken(figure.at_ops_per_s, figure.is_read_off), OPS_PER_S


def _one(found: Sequence[Figure], model: str) -> Figure:
    if len(found) != 1:
        raise _MissingError(Reason(ReasonCode.SEVERAL_FIGURES, drive=model, count=len(found)))
    return found[0]


MEAN_SUFFIX, RUN_TIME = "_latency_avg", "runtime"


@dataclass(frozen=True)
class LittlesLawCheck:
    """A check of one published run by Little's law: its operations in flight, which its threads limit."""

    publication: str
    model: str
    workload: str
    ops_per_s: Fraction
    mean_us: Fraction
    law: LittlesLaw

    def is_behind(self, check: ClaimCheck, basis: Basis, row: BasisRow) -> bool:
        """Return whether a row of a claim has the throughput, the run time or a mean latency of this run."""
        claim = check.claim
        models = {model for model, taken in ((claim.device, row.a), (claim.against, row.b)) if taken}
        return (
            (claim.publication, basis.workload) == (self.publication, self.workload)
            and self.model in models
            and row.threads in {None, self.law.threads}
            and is_of_law(basis.metric)
        )

    def is_used_by(self, check: ClaimCheck) -> bool:
        """Return whether any figure behind a claim is of this run."""
        return any(self.is_behind(check, basis, row) for basis in check.basis for row in basis.rows)


def is_of_law(metric: str) -> bool:
    """Return whether Little's law checks figures of a metric: throughput, mean latencies, and the run time.

    The run time is the number of operations divided by the throughput.
    """
    return metric in {claim_terms.THROUGHPUT, RUN_TIME} or metric.endswith(MEAN_SUFFIX)


def law_checks(figures: Sequence[Figure]) -> list[LittlesLawCheck]:
    """Return the checks of all runs with threads and the mean of each operation, in the order of the figures.

    A workload whose only stated operation is the insert is its load phase, for any letter (E of the FL6 brief).
    """
    found = []
    for figure in figures:
        if figure.metric != claim_terms.THROUGHPUT or figure.threads is None:
            continue
        means = _means(figure, figures)
        mix = CORE_MIX["load"] if set(means) == {"insert"} else CORE_MIX.get(figure.workload, {})
        mean_us = mean_latency_us(mix, means)
        if mean_us is not None:
            law = littles_law(figure.value, mean_us, figure.threads)
            found.append(LittlesLawCheck(figure.publication, figure.model, figure.workload, figure.value, mean_us, law))
    return found


def _means(run: Figure, figures: Sequence[Figure]) -> Mapping[str, Fraction]:
    """Return the mean latency of each operation of the run that has a throughput, in us."""
    key = (run.publication, run.model, run.workload, run.threads)
    return {
        figure.metric.removesuffix(MEAN_SUFFIX): mean_us
        for figure in figures
        if figure.metric.endswith(MEAN_SUFFIX)
        and (figure.publication, figure.model, figure.workload, figure.threads) == key
        and (mean_us := claim_terms.in_us(figure.value, figure.unit)) is not None
    }
