"""Messages of a campaign: the reasons of its steps, for its history and its page."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction

from results.rules.act.loads import printed_nx
from results.rules.plural import counted
from runners.campaigns.terms import STRESS_FACTOR, Outcome, Purpose, Result, Terms

Judged = Mapping[int, bool | None]

NAMES = {
    Purpose.PREP: "prep",
    Purpose.SCREENING: "screening run",
    Purpose.LOAD: "load test",
    Purpose.STRESS: "stress test",
}


def nx(load: Decimal) -> str:
    """Return a load for people: 30x."""
    return printed_nx(Fraction(load))


def step_name(purpose: Purpose, load: Decimal | None) -> str:
    """Return the name of a step: load test at 30x."""
    return NAMES[purpose] if load is None else f"{NAMES[purpose]} at {nx(load)}"


def waiting_message(outcome: Outcome) -> str:
    """Return what the campaign waits for."""
    return f"{outcome.id}, the {step_name(outcome.purpose, outcome.nx)}, is running"


def screening_reason(rung: int, screened: Judged, terms: Terms) -> str:
    """Return the reason for a screening run at this load."""
    if rung in screened:
        return f"again at {nx(terms.nx(rung))}: the result was near a limit"
    passing = max((units for units, passes in screened.items() if passes and units < rung), default=None)
    failing = min((units for units, passes in screened.items() if passes is False and units > rung), default=None)
    if passing is None and failing is None:
        return "the first rung"
    if failing is None:
        return f"up from {nx(terms.nx(passing or 0))}, which passed"
    if passing is None:
        return f"down from {nx(terms.nx(failing))}, which failed"
    return f"between {nx(terms.nx(passing))}, which passed, and {nx(terms.nx(failing))}, which failed"


def load_reason(units: int, confirmed: Judged, terms: Terms) -> str:
    """Return the reason for a load test at this load."""
    if units in confirmed:
        return f"again at {nx(terms.nx(units))}: the result was near a limit"
    failing = min((each for each, passes in confirmed.items() if passes is False), default=None)
    if failing is None:
        return "the highest load that passed screening"
    passing = max((each for each, passes in confirmed.items() if passes), default=None)
    if passing is None:
        return f"down from {nx(terms.nx(failing))}, which was not confirmed"
    return f"between {nx(terms.nx(passing))}, confirmed, and {nx(terms.nx(failing))}, not confirmed"


def repeat_reason(doubted: Outcome) -> str:
    """Return the reason for repeating a failed test before it counts.

    It does not name the findings: they come from a side file, which may be sequestered after this is in a history.
    """
    return f"again: {doubted.id} failed, and the host may be the cause; it counts once a second run agrees"


def stress_reason(load: Decimal) -> str:
    """Return the reason for a stress test."""
    stress = nx(STRESS_FACTOR * load)
    return f"the load test at {nx(load)} passed; a certificate at this load also requires a stress test at {stress}"


def rest_message(after: Outcome, purpose: Purpose, load: Decimal | None) -> str:
    """Return why the drive rests."""
    if after.result is Result.UNUSABLE:
        return f"waits briefly after {after.id}, which gave no result; then {step_name(purpose, load)}"
    cause = "overloaded" if after.result is Result.OVERLOADED else after.result
    past, coming = step_name(after.purpose, after.nx), step_name(purpose, load)
    return f"the drive rests after {after.id} ({past}, {cause}); then {coming}"


def limit_message(load: Decimal, terms: Terms) -> str:
    """Return that the drive was not brought to its limit."""
    return (
        f"{nx(load)} is confirmed, and no higher load was allowed: its stress test at {nx(STRESS_FACTOR * load)} "
        f"reaches the limit of {nx(terms.max_nx)}"
    )


def spent_message(load: Decimal | None, decided_count: int) -> str:
    """Return that the campaign ended before the search did."""
    found = "none is confirmed" if load is None else f"{nx(load)} is the highest confirmed"
    tested = f"{counted(decided_count, 'load')} {'was' if decided_count == 1 else 'were'} tested at length"
    return f"{tested}, as many as allowed; {found}"


def host_doubt_message(outcomes: Iterable[Outcome]) -> str:
    """Return the addition that the host, not the drive, may have failed; empty if no run says so."""
    failed = [outcome for outcome in outcomes if outcome.result in {Result.FAILED, Result.OVERLOADED}]
    doubted_count = sum(bool(outcome.host_doubts) for outcome in failed)
    share = f" of {doubted_count} of the {len(failed)} runs that failed" if len(failed) > 1 else ""
    return f"; the host may be the cause{share}: see the findings of these runs" if doubted_count else ""


def no_load_message(terms: Terms) -> str:
    """Return that the limit leaves no load to search."""
    lowest, stress = nx(terms.resolution_nx), nx(STRESS_FACTOR * terms.resolution_nx)
    return f"the limit of {nx(terms.max_nx)} allows no load: {lowest} needs a stress test at {stress}"
