"""Reasons why a claim cannot be recomputed: a code with its details, and the sentence made of them."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum
from string import Formatter


class ReasonCode(StrEnum):
    """What the recomputation of a claim lacks."""

    NO_COMPUTATION = "no-computation"
    UNKNOWN_COMPUTATION = "unknown-computation"
    OTHER_UNIT = "other-unit"
    DIVISION_BY_0 = "division-by-0"
    NO_METRIC = "no-metric"
    NO_DIRECTION = "no-direction"
    NO_FIXED_QUANTITY = "no-fixed-quantity"
    NO_LATENCY = "no-latency"
    NO_FIGURE = "no-figure"
    SEVERAL_FIGURES = "several-figures"
    SEVERAL_AT_A_THREAD_COUNT = "several-at-a-thread-count"
    NO_THROUGHPUT = "no-throughput"


_SENTENCES = {
    ReasonCode.NO_COMPUTATION: "the publication states no figures for this claim",
    ReasonCode.UNKNOWN_COMPUTATION: "the computation is not known: {stated}",
    ReasonCode.OTHER_UNIT: "the computation gives {unit}, the claim is in {stated}",
    ReasonCode.DIVISION_BY_0: "the divisor is 0",
    ReasonCode.NO_METRIC: "the claim names no metric: {stated}",
    ReasonCode.NO_DIRECTION: "it is not known whether a high or a low {metric} is better",
    ReasonCode.NO_FIXED_QUANTITY: "the claim names no {quantity} that is fixed: {stated}",
    ReasonCode.NO_LATENCY: "the claim names no latency: {stated}",
    ReasonCode.NO_FIGURE: "no figure of {metric} for {drive}, workload {workload}",
    ReasonCode.SEVERAL_FIGURES: "expected one figure of {drive}, found {count}",
    ReasonCode.SEVERAL_AT_A_THREAD_COUNT: "{drive} has several figures of {metric} for one thread count",
    ReasonCode.NO_THROUGHPUT: "the figure of {drive} states no throughput",
}


def required_details(code: ReasonCode) -> set[str]:
    """Return the names of the details that the sentence of a code has.

    >>> sorted(required_details(ReasonCode.OTHER_UNIT)), required_details(ReasonCode.DIVISION_BY_0)
    (['stated', 'unit'], set())
    """
    return {name for _, name, _, _ in Formatter().parse(_SENTENCES[code]) if name}


@dataclass(frozen=True)
class Reason:
    """A code with the details that its sentence needs, and no others. Raises ValueError if one is missing.

    `stated` is the part of the claim that is not understood: its text, its computation or its unit.
    """

    code: ReasonCode
    metric: str | None = None
    drive: str | None = None
    workload: str | None = None
    stated: str | None = None
    unit: str | None = None
    quantity: str | None = None
    count: int | None = None

    def __post_init__(self) -> None:
        expected = required_details(self.code)
        given = {name for name, detail in asdict(self).items() if name != "code" and detail is not None}
        if given != expected:
            raise ValueError(f"{self.code}: expected the details {sorted(expected)}, got {sorted(given)}")

    def sentence(self, metric_name: Callable[[str], str] = str) -> str:
        """Return the reason in words; `metric_name` gives the words for the id of a metric.

        >>> reason = Reason(ReasonCode.NO_FIGURE, "read_latency_avg", "7400 PRO", "F")
        >>> reason.sentence()
        'no figure of read_latency_avg for 7400 PRO, workload F'
        >>> reason.sentence({"read_latency_avg": "average read latency"}.__getitem__)
        'no figure of average read latency for 7400 PRO, workload F'
        """
        details = asdict(self)
        if self.metric is not None:
            details["metric"] = metric_name(self.metric)
        return _SENTENCES[self.code].format_map(details)
