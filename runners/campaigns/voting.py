"""Voting: whether a drive passes at a load, from all runs there. Uncertain results count for less.

A result is uncertain if it is near a limit, or if a run failed and the host may be the cause.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction

from runners.campaigns.terms import CONCLUSIVE, STRESS_FACTOR, Outcome, Purpose, Result, Terms

CLEAR, NEAR = 2, 1  # votes; two decide, so a near or doubted result needs a second one that agrees
DECIDED = 2


def judged(outcomes: Iterable[Outcome], purpose: Purpose, terms: Terms) -> dict[int, bool | None]:
    """Return for each load N tried for a purpose, in steps, whether it passes; None means to be repeated.

    The key of a stress test is the N that it is made for, not the load of its run.
    """
    votes: dict[int, list[tuple[bool, int]]] = {}
    for outcome in outcomes:
        if outcome.purpose is purpose and outcome.result in CONCLUSIVE and outcome.nx is not None:
            weight = NEAR if is_near(outcome, terms) or is_doubted(outcome) else CLEAR
            votes.setdefault(_units(outcome, terms), []).append((outcome.result is Result.PASSED, weight))
    return {units: _decide(cast) for units, cast in votes.items()}


def screened(outcomes: Sequence[Outcome], terms: Terms) -> dict[int, bool | None]:
    """Return the result of screening. A doubted failure directs the search like others, and is repeated at its end.

    After an overload the drive rests for hours: to repeat each one on the way up would cost more than it is worth.
    """
    found = judged(outcomes, Purpose.SCREENING, terms)
    return {
        units: False if passes is None and doubted_at(outcomes, Purpose.SCREENING, units, terms) else passes
        for units, passes in found.items()
    }


def certified_nx(outcome: Outcome) -> Decimal | None:
    """Return the N that a run is made for: half the load of a stress test."""
    if outcome.nx is None or outcome.purpose is not Purpose.STRESS:
        return outcome.nx
    return outcome.nx / STRESS_FACTOR


def _units(outcome: Outcome, terms: Terms) -> int:
    return terms.units(certified_nx(outcome) or Decimal(0))


def is_doubted(outcome: Outcome) -> bool:
    """Return whether a run failed and its host may be the cause."""
    return outcome.result in {Result.FAILED, Result.OVERLOADED} and bool(outcome.host_causes)


def doubted_at(outcomes: Sequence[Outcome], purpose: Purpose, units: int, terms: Terms) -> Outcome | None:
    """Return the last run at a load for a purpose if it is a doubted one."""
    learnt = (each for each in reversed(outcomes) if each.purpose is purpose and each.result in CONCLUSIVE)
    last = next((each for each in learnt if each.nx is not None and _units(each, terms) == units), None)
    return last if last is not None and is_doubted(last) else None


def is_near(outcome: Outcome, terms: Terms) -> bool:
    """Return whether a run's worst share is so near its limit that the next run may give the opposite result."""
    if outcome.margin is None or outcome.result is Result.OVERLOADED:
        return False
    near_pct = terms.near_pct if outcome.purpose is Purpose.SCREENING else terms.load_near_pct
    return abs(outcome.margin) * 100 < Fraction(near_pct)


def _decide(cast: list[tuple[bool, int]]) -> bool | None:
    """Count the votes in the order of the runs. The side that first has two wins."""
    counted = {True: 0, False: 0}
    for passed, weight in cast:
        counted[passed] += weight
        if counted[passed] >= DECIDED:
            return passed
    return None
