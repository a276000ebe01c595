"""Analysis of checked claims: the drive that a claim favours, other computations, and the value that it would need."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from statistics import median

from results.rules.ycsb.claims import MEAN_OF_GAINS, OF_TWO, PEAKS, PERCENT, Basis, BasisRow, ClaimCheck
from results.rules.ycsb.gains import Better, better, decrease, gain, increase, times_less
from results.rules.ycsb.statements import Outcome, Status, Taken, judge, outcome_of, places_of


class Side(StrEnum):
    """The drive that the difference between the stated number and the figures favours.

    `NEITHER` if rounding explains the difference; `UNDECIDED` if the figures allow both; `UNKNOWN` without figures.
    """

    DEVICE = "device"
    AGAINST = "against"
    NEITHER = "neither"
    UNDECIDED = "undecided"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Favoured:
    """The favoured side. `difference` is the stated number less the nearest number that the figures allow."""

    side: Side
    difference: Fraction | None = None


def favoured(check: ClaimCheck) -> Favoured:
    """Return the drive that a claim favours; a greater number is always better for the praised drive.

    A number that differs only by its rounding favours neither. One in the range that chart readings allow is undecided.
    """
    if not check.values or places_of(check.claim.stated_value) is None:
        return Favoured(Side.UNKNOWN)
    stated = Fraction(check.claim.stated_value)
    low, high = check.span or (min(check.values), max(check.values))
    difference = stated - min(max(stated, low), high)
    if outcome_of(check.status) is Outcome.CONFIRMED:
        return Favoured(Side.NEITHER, difference)
    if outcome_of(check.status) is Outcome.FROM_CHART or difference == 0:
        return Favoured(Side.UNDECIDED)
    return Favoured(Side.DEVICE if difference > 0 else Side.AGAINST, difference)


class Computation(StrEnum):
    """Another computation from the same figures."""

    MEDIAN = "median"
    GEOMETRIC_MEAN = "geometric-mean"
    OF_SUMS = "of-sums"
    OF_PEAKS = "of-peaks"
    MEAN = "mean"
    AT_PEAK = "at-peak"
    WITHOUT = "without"
    OTHER_BASE = "other-base"
    AS_SHARE = "as-share"


@dataclass(frozen=True)
class Alternative:
    """The result of another computation; `threads` is the thread count that it is at, or that it leaves out."""

    computation: Computation
    value: Fraction
    unit: str
    gives_stated: bool
    threads: int | None = None


def alternatives(check: ClaimCheck) -> list[Alternative]:
    """Return what other computations give from the figures of a claim about one workload.

    They are arithmetic, not an explanation of the stated number. Only a contradicted mean is computed without single
    thread counts, and only those results are returned that give the stated number.
    """
    if len(check.basis) != 1:
        return []
    (basis,), formula = check.basis, check.claim.formula
    if formula in {MEAN_OF_GAINS, PEAKS}:
        found = _of_sweep(check, basis, [row for row in basis.rows if row.a and row.b])
    else:
        found = _of_two(formula, basis.rows[0])
    return [
        Alternative(computation, value, unit, _gives_stated(check, value, unit), threads)
        for computation, value, unit, threads in found
        if value is not None
    ]


Found = tuple[Computation, Fraction | None, str, int | None]


def _of_sweep(check: ClaimCheck, basis: Basis, rows: Sequence[BasisRow]) -> Iterator[Found]:
    direction = better(basis.metric, check.claim.publication)
    pairs = [(row.a.value, row.b.value) for row in rows if row.a and row.b]
    gains = [gain(a, b, direction) for a, b in pairs]
    known = [each * 100 for each in gains if each is not None]
    if not known or len(known) < len(gains):
        return
    sums = gain(sum(a for a, _ in pairs), sum(b for _, b in pairs), direction)
    of_sums: Found = (Computation.OF_SUMS, _percent(sums), PERCENT, None)
    if check.claim.formula == PEAKS:
        best = max(rows, key=lambda row: row.a.value if row.a else Fraction(0))
        yield Computation.AT_PEAK, known[rows.index(best)], PERCENT, best.threads
        yield Computation.MEAN, _mean(known), PERCENT, None
        yield of_sums
        return
    yield Computation.MEDIAN, median(known), PERCENT, None
    yield Computation.GEOMETRIC_MEAN, _geometric_mean(pairs, direction), PERCENT, None
    yield of_sums
    if direction is Better.HIGHER:
        peaks = increase(max(a for a, _ in pairs), max(b for _, b in pairs))
        yield Computation.OF_PEAKS, _percent(peaks), PERCENT, None
    if check.status is Status.CONTRADICTS and len(known) > 1:
        for place, row in enumerate(rows):
            value = _mean([*known[:place], *known[place + 1 :]])
            if _gives_stated(check, value, PERCENT):
                yield Computation.WITHOUT, value, PERCENT, row.threads


def _of_two(formula: str, row: BasisRow) -> Iterator[Found]:
    if row.a is None or row.b is None or row.a.is_read_off or row.b.is_read_off:
        return  # a range already covers what chart readings allow
    a, b = row.a.value, row.b.value
    if OF_TWO[formula][0] is times_less:
        yield Computation.AS_SHARE, _percent(decrease(a, b)), PERCENT, None
    else:
        other = decrease(b, a) if OF_TWO[formula][0] is increase else increase(b, a)
        yield Computation.OTHER_BASE, _percent(other), PERCENT, None


def _percent(ratio: Fraction | None) -> Fraction | None:
    return None if ratio is None else ratio * 100


def _mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def _geometric_mean(pairs: Sequence[tuple[Fraction, Fraction]], direction: Better | None) -> Fraction | None:
    """Return the gain of the geometric mean of the ratios, as close as doubles are; None if a ratio is 0 or less."""
    ratios = [a / b for a, b in pairs]
    if min(ratios) <= 0:
        return None
    mean = Fraction(math.exp(math.fsum(math.log(ratio) for ratio in ratios) / len(ratios)))
    return _percent(mean - 1 if direction is Better.HIGHER else 1 - mean)


def _gives_stated(check: ClaimCheck, value: Fraction, unit: str) -> bool:
    stated = check.claim.stated_value
    is_number = places_of(stated) is not None and unit == check.claim.unit
    return is_number and judge(stated, value) is Status.REPRODUCES


def needed_value(check: ClaimCheck, b: Taken) -> Fraction | None:
    """Return the figure of the praised drive that gives exactly the stated number, with the figure of the other drive.

    None for a mean over thread counts, for words, and for 0 times.
    """
    formula = check.claim.formula
    if places_of(check.claim.stated_value) is None or formula not in {PEAKS, *OF_TWO}:
        return None
    stated = Fraction(check.claim.stated_value)
    if formula != PEAKS and OF_TWO[formula][0] is times_less:
        return b.value / stated if stated else None
    change = stated / 100 if formula == PEAKS or OF_TWO[formula][0] is increase else -stated / 100
    return b.value * (1 + change)
