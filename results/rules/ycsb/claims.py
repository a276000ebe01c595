"""Claims of publications, recomputed from the figures that the same publications state.

A claim names its computation as a formula of a (the drive praised) and b (the one it is compared with). What a and b
are follows from the claim's words: a metric, and if stated a fixed throughput or latency.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from results.rules.ycsb import claim_terms, statements
from results.rules.ycsb.claim_terms import Condition
from results.rules.ycsb.gains import Better, better, decrease, increase, times_less
from results.rules.ycsb.statements import Formula, Status, Taken, ends_of
from results.rules.ycsb.sweeps import Point, mean_improvement, peak_improvement

PERCENT, TIMES = "%", "x"
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


@dataclass(frozen=True)
class ClaimCheck:
    """The result of checking a claim: exact values (one for each workload), printed value, status, or the reason.

    `printed_status` is the status of the printed value, which is rounded twice. If it differs from `status`, the second
    rounding made the difference, or the claim is in words, which no number refutes. If figures were read from a chart,
    `span` is the range of the value and decides the status; it is None if all figures were printed.
    """

    claim: Claim
    values: tuple[Fraction, ...]
    printed: str
    status: Status
    printed_status: Status
    reason: str
    span: tuple[Fraction, Fraction] | None = None


class _MissingError(Exception):
    """Something that the computation needs is not among the figures; the text names it."""


def check_claim(claim: Claim, figures: Sequence[Figure]) -> ClaimCheck:
    """Return what a claim's own publication gives for it. Missing figures are named in `reason`, never filled in."""
    try:
        results = [_result(claim, workload, figures) for workload in claim_terms.workloads(claim.workload)]
    except _MissingError as missing:
        lacking = Status.CANNOT_BE_CHECKED
        return ClaimCheck(claim, (), "", lacking, lacking, str(missing))
    values, span = tuple(result.value for result in results), _span(results)
    shown = sorted({printed_value(claim.stated_value, value) for value in values}, key=Fraction)
    return ClaimCheck(
        claim,
        values,
        " to ".join(dict.fromkeys((shown[0], shown[-1]))),
        _status(claim.stated_value, values, span),
        statements.judge_all(claim.stated_value, [Fraction(text) for text in shown]),
        "",
        span,
    )


def _status(stated: str, values: Sequence[Fraction], span: tuple[Fraction, Fraction] | None) -> Status:
    if statements.places_of(stated) is None:
        return Status.IN_WORDS
    if span is None:
        return statements.judge_all(stated, values)
    return statements.judge_read_off(stated, values, *span)


def printed_value(stated: str, value: Fraction) -> str:
    """Return a recomputed value with one decimal, or as many as were stated where those are more."""
    return statements.printed(value, max(1, statements.places_of(stated) or 0))


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
            raise _MissingError(f"no figure of {metric} for {model}, workload {self.workload}")
        return found

    def metric(self) -> str:
        metric = claim_terms.metric(self.claim.claim)
        if metric is None:
            raise _MissingError(f"the claim names no metric: {self.claim.claim}")
        return metric


@dataclass(frozen=True)
class _Result:
    """One value in the claim's unit, with the least and the greatest that its figures allow."""

    value: Fraction
    ends: tuple[Fraction, ...] = ()


def _span(results: Sequence[_Result]) -> tuple[Fraction, Fraction] | None:
    ends = [end for result in results for end in result.ends]
    return (min(ends), max(ends)) if ends else None


def _result(claim: Claim, workload: str, figures: Sequence[Figure]) -> _Result:
    """Compute one value in the claim's unit, and the ends of what its figures allow."""
    if not claim.computation:
        raise _MissingError("the publication states no figures for this claim")
    question = _Question(claim, workload, figures)
    formula, _, fixed = claim.computation.partition(AT_A_FIXED)
    if formula in OVER_THREADS and not fixed:
        return _Result(_scaled(claim, _over_threads(question, formula), PERCENT))
    if formula not in OF_TWO:
        raise _MissingError(f"the computation is not known: {claim.computation}")
    compute, unit = OF_TWO[formula]
    a, b = _pair(question, fixed)
    value = _scaled(claim, compute(a.value, b.value), unit)
    return _Result(value, tuple(_scaled(claim, end, unit) for end in ends_of(compute, a, b)))


def _scaled(claim: Claim, value: Fraction | None, unit: str) -> Fraction:
    if value is None:
        raise _MissingError("a figure that is divided by is 0")
    if claim.unit not in {"", unit}:
        raise _MissingError(f"the computation gives {unit}, the claim is in {claim.unit}")
    return value * 100 if unit == PERCENT else value


_Sweep = Mapping[int, Fraction]

OF_TWO: Mapping[str, tuple[Formula, str]] = {
    "a / b - 1": (increase, PERCENT),
    "1 - a / b": (decrease, PERCENT),
    "b / a": (times_less, TIMES),
}


def _peak(values: _Sweep, base: _Sweep, _: Better) -> Fraction | None:
    return peak_improvement(*([Point(*point) for point in sweep.items()] for sweep in (values, base)))


OVER_THREADS: Mapping[str, Callable[[_Sweep, _Sweep, Better], Fraction | None]] = {
    "max over threads / max over threads - 1": _peak,
    "mean of per-thread-count improvements": mean_improvement,
}


def _over_threads(question: _Question, formula: str) -> Fraction | None:
    metric = question.metric()
    direction = better(metric, question.claim.publication)
    if direction is None:
        raise _MissingError(f"{metric} is better neither high nor low")
    values, base = (_sweep(question, model, metric) for model in (question.claim.device, question.claim.against))
    return OVER_THREADS[formula](values, base, direction)


def _sweep(question: _Question, model: str, metric: str) -> _Sweep:
    figures = [figure for figure in question.of(model, metric) if figure.threads is not None]
    sweep = {figure.threads: figure.value for figure in figures if figure.threads is not None}
    if len(sweep) < len(figures):
        raise _MissingError(f"{model} has several figures of {metric} for one thread count")
    return sweep


def _pair(question: _Question, fixed: str) -> tuple[Taken, Taken]:
    select = {"": _only, "throughput": _at_throughput, "latency": _at_latency}.get(fixed)
    if select is None:
        raise _MissingError(f"the computation is not known: {question.claim.computation}")
    return select(question, question.claim.device), select(question, question.claim.against)


def _only(question: _Question, model: str) -> Taken:
    return _value(_one(question.of(model, question.metric()), model))


def _value(figure: Figure) -> Taken:
    return Taken(figure.value, figure.is_read_off)


def _at_throughput(question: _Question, model: str) -> Taken:
    wanted = _condition(question, claim_terms.THROUGHPUT)
    found = [figure for figure in question.of(model, question.metric()) if figure.at_ops_per_s == wanted.value]
    return _value(_one(found, model))


def _at_latency(question: _Question, model: str) -> Taken:
    wanted = _condition(question, claim_terms.LATENCY)
    found = [
        figure
        for figure in question.of(model, _latency_metric(question))
        if claim_terms.in_us(figure.value, figure.unit) == wanted.value
    ]
    figure = _one(found, model)
    if figure.at_ops_per_s is None:
        raise _MissingError(f"the figure of {model} states no throughput")
    return Taken(figure.at_ops_per_s, figure.is_read_off)


def _latency_metric(question: _Question) -> str:
    metric = claim_terms.latency_metric(question.claim.claim)
    if metric is None:
        raise _MissingError(f"the claim names no latency: {question.claim.claim}")
    return metric


def _condition(question: _Question, quantity: str) -> Condition:
    condition = claim_terms.condition(question.claim.claim)
    if condition is None or condition.quantity != quantity:
        raise _MissingError(f"the claim names no {quantity} that is fixed: {question.claim.claim}")
    return condition


def _one(found: Sequence[Figure], model: str) -> Figure:
    if len(found) != 1:
        raise _MissingError(f"{len(found)} figures of {model} answer; one must")
    return found[0]
