"""Gains of one drive over another, exact. The metric decides whether a higher or a lower value is better."""

from collections.abc import Mapping
from decimal import Decimal
from enum import Enum
from fractions import Fraction

Number = int | Decimal | Fraction


class Better(Enum):
    """The direction in which a metric is better."""

    HIGHER = "higher"
    LOWER = "lower"


# One publication praises a busy processor as good use of it, and another one criticises it as cost.
CPU_BETTER: Mapping[str, Better] = {"kioxia-fl6-brief": Better.HIGHER, "micron-x100-paper": Better.LOWER}


def better(metric: str, publication: str = "") -> Better | None:
    """Return the direction in which a metric is better; None if it has none, such as a processor's load.

    >>> better("read_latency_p99_9"), better("cpu_utilization_max")
    (<Better.LOWER: 'lower'>, None)
    """
    if metric.startswith("cpu_utilization"):
        return CPU_BETTER.get(publication)
    if metric.startswith("throughput"):
        return Better.HIGHER
    is_less_better = "_latency_" in metric or metric.startswith(("runtime", "memory_used", "iowait"))
    return Better.LOWER if is_less_better else None


def increase(value: Number, base: Number) -> Fraction | None:
    """Return value / base - 1, a ratio; None if the base is 0.

    >>> increase(42012, 29195)
    Fraction(12817, 29195)
    """
    return None if base == 0 else Fraction(value) / Fraction(base) - 1


def decrease(value: Number, base: Number) -> Fraction | None:
    """Return 1 - value / base, a ratio; None if the base is 0. Negative where the value is greater."""
    risen = increase(value, base)
    return None if risen is None else -risen


def gain(value: Number, base: Number, direction: Better | None) -> Fraction | None:
    """Return how much better a value is than the base, a ratio; None without a direction, or where the base is 0."""
    if direction is None:
        return None
    return increase(value, base) if direction is Better.HIGHER else decrease(value, base)


def times_less(value: Number, base: Number) -> Fraction | None:
    """Return base / value: how many times less the value is; None if it is 0."""
    return None if value == 0 else Fraction(base) / Fraction(value)
