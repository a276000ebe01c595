"""Terms in the text of a claim: its metric, its fixed throughput or latency, and its workloads."""

import re
from dataclasses import dataclass
from fractions import Fraction

THROUGHPUT, LATENCY = "throughput", "latency"

LATENCY_US = {"us": 1, "ms": 1_000, "s": 1_000_000}
_AVERAGE_LATENCY = re.compile(r"\baverage ([a-z][a-z-]*) latency\b")
_PERCENTILE_LATENCY = re.compile(r"\bp([0-9]+(?:\.[0-9]+)?) ([a-z][a-z-]*)\b")
_CONDITION = re.compile(r"\bat ([0-9][0-9,]*(?:\.[0-9]+)?) (ops/s|us|ms|s)\b")
_GROUPS = re.compile(r"(?<=[0-9]),(?=[0-9])")
_NAME = re.compile(r"[a-z0-9]+")
_RANGE = re.compile(r"([A-Z])-([A-Z])")
# An improvement without a named metric is one of throughput, the number that YCSB prints first.
_METRIC_WORDS = (
    ("run time", "runtime"),
    ("maximum cpu utilization", "cpu_utilization_max"),
    ("memory utilization", "memory_used"),
    ("throughput", "throughput"),
    ("improvement", "throughput"),
)


@dataclass(frozen=True)
class Condition:
    """The fixed quantity of a claim: `throughput` in ops/s or `latency` in us."""

    quantity: str
    value: Fraction


def metric(claim: str) -> str | None:
    """Return the name of the metric that a claim is about, as the figures name it; None if it names none.

    >>> metric("lower p99.9 read latency at 460,000 ops/s"), metric("peak throughput improvement")
    ('read_latency_p99_9', 'throughput')
    """
    latency = latency_metric(claim)
    if latency is not None:
        return latency
    return next((name for words, name in _METRIC_WORDS if words in claim.lower()), None)


def latency_metric(claim: str) -> str | None:
    """Return the latency that a claim names, average or percentile of one operation; None if it names none.

    >>> latency_metric("throughput improvement at 15 ms (p99.99 read)")
    'read_latency_p99_99'
    """
    if average := _AVERAGE_LATENCY.search(claim):
        return f"{average[1].replace('-', '_')}_latency_avg"
    if percentile := _PERCENTILE_LATENCY.search(claim):
        return f"{percentile[2].replace('-', '_')}_latency_p{percentile[1].replace('.', '_')}"
    return None


def condition(claim: str) -> Condition | None:
    """Return what a claim holds fixed; None if it holds nothing.

    >>> condition("throughput improvement at 15 ms (p99.99 read)")
    Condition(quantity='latency', value=Fraction(15000, 1))
    """
    found = _CONDITION.search(claim)
    if found is None:
        return None
    value = Fraction(found[1].replace(",", ""))
    fixed_us = in_us(value, found[2])
    return Condition(THROUGHPUT, value) if fixed_us is None else Condition(LATENCY, fixed_us)


def in_us(value: Fraction, unit: str) -> Fraction | None:
    """Return a latency in us; None if the unit is none of time."""
    return value * LATENCY_US[unit] if unit in LATENCY_US else None


def workloads(text: str) -> tuple[str, ...]:
    """Return the workloads that a claim is about, one by one.

    >>> workloads("A-F"), workloads("B"), workloads("")
    (('A', 'B', 'C', 'D', 'E', 'F'), ('B',), ('',))
    """
    span = _RANGE.fullmatch(text)
    return tuple(chr(code) for code in range(ord(span[1]), ord(span[2]) + 1)) if span else (text,)


def claim_id(claim: str, workload: str) -> str:
    """Return the name of a claim in URLs, unique in its publication. It is permanent, as both texts identify the claim.

    >>> claim_id("lower p99.9 read latency at 460,000 ops/s", "A"), claim_id("memory utilization: small gains", "A-F")
    ('lower-p99-9-read-latency-at-460000-ops-s-a', 'memory-utilization-small-gains-a-f')
    """
    return "-".join(_NAME.findall(_GROUPS.sub("", f"{claim} {workload}".lower())))
