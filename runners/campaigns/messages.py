"""Why a campaign does what it does, in sentences for its history and its page."""

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


def named(purpose: Purpose, load: Decimal | None) -> str:
    """Return a step for people: load test at 30x."""
    return NAMES[purpose] if load is None else f"{NAMES[purpose]} at {nx(load)}"


def under_way(outcome: Outcome) -> str:
    """Say what the campaign waits for."""
    return f"{outcome.id}, the {named(outcome.purpose, outcome.nx)}, is under way"


def why_rung(rung: int, screened: Judged, terms: Terms) -> str:
    """Say why a screening run comes at this load."""
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


def why_load(units: int, confirmed: Judged, terms: Terms) -> str:
    """Say why a load test comes at this load."""
    if units in confirmed:
        return f"again at {nx(terms.nx(units))}: the result was near a limit"
    failing = min((each for each, passes in confirmed.items() if passes is False), default=None)
    if failing is None:
        return "the highest load that passed screening"
    passing = max((each for each, passes in confirmed.items() if passes), default=None)
    if passing is None:
        return f"down from {nx(terms.nx(failing))}, which was not confirmed"
    return f"between {nx(terms.nx(passing))}, confirmed, and {nx(terms.nx(failing))}, not confirmed"


def why_again(doubted: Outcome) -> str:
    """Say why a test that failed comes again before it is believed.

    The findings are not named: they are of a side file, which may be sequestered once this stands in a history.
    """
    return f"again: {doubted.id} failed, and the host may be the cause; it counts once a second run agrees"


def why_stress(load: Decimal) -> str:
    """Say why a stress test comes."""
    return f"the load test at {nx(load)} passed; a certificate there asks for a stress test at twice that"


def resting(after: Outcome, purpose: Purpose, load: Decimal | None) -> str:
    """Say why the drive rests."""
    if after.result is Result.UNUSABLE:
        return f"waits a little after {after.id}, which told nothing; then {named(purpose, load)}"
    cause = "overloaded" if after.result is Result.OVERLOADED else after.result
    return f"the drive rests after {after.id} ({named(after.purpose, after.nx)}, {cause}); then {named(purpose, load)}"


def at_limit(load: Decimal, terms: Terms) -> str:
    """Say that the drive was not brought to its limit."""
    return (
        f"{nx(load)} is confirmed, and no higher load was allowed: its stress test at {nx(STRESS_FACTOR * load)} "
        f"is as high as the limit of {nx(terms.max_nx)} lets a run go"
    )


def highest(load: Decimal, failing: Decimal) -> str:
    """Say what was found."""
    return f"{nx(load)} is the highest load that passes; {nx(failing)} does not"


def spent(load: Decimal | None, decided_count: int) -> str:
    """Say that the campaign ended before the search did."""
    found = "none is confirmed" if load is None else f"{nx(load)} is the highest confirmed"
    tested = f"{counted(decided_count, 'load')} {'was' if decided_count == 1 else 'were'} tested at length"
    return f"{tested}, as many as allowed; {found}"


def host_doubts(outcomes: Iterable[Outcome]) -> str:
    """Return, to be added to an end, that not the drive but its host may have failed; empty where no run says so."""
    failed = [outcome for outcome in outcomes if outcome.result in {Result.FAILED, Result.OVERLOADED}]
    doubted_count = sum(bool(outcome.host_doubts) for outcome in failed)
    share = f" of {doubted_count} of the {len(failed)} runs that failed" if len(failed) > 1 else ""
    return f"; the host may be the cause{share}: see the findings of these runs" if doubted_count else ""


def no_load_allowed(terms: Terms) -> str:
    """Say that the limit leaves no load to search."""
    return (
        f"the limit of {nx(terms.max_nx)} allows no load: {nx(terms.resolution_nx)} needs a stress test at twice that"
    )
