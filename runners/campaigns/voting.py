"""Whether a drive passes at a load, from all runs there: a result that may be another next time counts for less.

That is one near a limit, and a failed run of which the host may be the cause.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction

from runners.campaigns.terms import LEARNT, STRESS_FACTOR, Outcome, Purpose, Result, Terms

CLEAR, NEAR = 2, 1  # votes; two decide, so a near or doubted one needs a second that says the same
DECIDED = 2


def judged(outcomes: Iterable[Outcome], purpose: Purpose, terms: Terms) -> dict[int, bool | None]:
    """Return for each load N tried for a purpose, in steps, whether it passes; None: to be repeated.

    Of a stress test the key is the N that it stands for, not the load of its run.
    """
    votes: dict[int, list[tuple[bool, int]]] = {}
    for outcome in outcomes:
        if outcome.purpose is purpose and outcome.result in LEARNT and outcome.nx is not None:
            votes.setdefault(_units(outcome, terms), []).append(_vote(outcome, terms))
    return {units: _decide(cast) for units, cast in votes.items()}


def screened(outcomes: Sequence[Outcome], terms: Terms) -> dict[int, bool | None]:
    """Return what screening found: a doubted fail shows the way as a fail does, and is repeated only where it decides.

    After an overload the drive rests for hours: to repeat each on the way up would cost more than it tells.
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


def _vote(outcome: Outcome, terms: Terms) -> tuple[bool, int]:
    return outcome.result is Result.PASSED, NEAR if is_near(outcome, terms) or is_doubted(outcome) else CLEAR


def is_doubted(outcome: Outcome) -> bool:
    """Tell whether a run failed and its host may be the cause."""
    return outcome.result in {Result.FAILED, Result.OVERLOADED} and bool(outcome.host_doubts)


def doubted_at(outcomes: Sequence[Outcome], purpose: Purpose, units: int, terms: Terms) -> Outcome | None:
    """Return the last run at a load for a purpose where it is a doubted one."""
    learnt = (each for each in reversed(outcomes) if each.purpose is purpose and each.result in LEARNT)
    last = next((each for each in learnt if each.nx is not None and _units(each, terms) == units), None)
    return last if last is not None and is_doubted(last) else None


def is_near(outcome: Outcome, terms: Terms) -> bool:
    """Tell whether a run's worst share is so near its limit that the next run may well say the opposite."""
    if outcome.margin is None or outcome.result is Result.OVERLOADED:
        return False
    near_pct = terms.near_pct if outcome.purpose is Purpose.SCREENING else terms.load_near_pct
    return abs(outcome.margin) * 100 < Fraction(near_pct)


def _decide(cast: list[tuple[bool, int]]) -> bool | None:
    """Count the votes in the order of the runs; the side that first has two has it."""
    counted = {True: 0, False: 0}
    for passed, weight in cast:
        counted[passed] += weight
        if counted[passed] >= DECIDED:
            return passed
    return None
