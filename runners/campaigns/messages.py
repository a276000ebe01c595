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
        return f"the result at {nx(terms.nx(rung))} was near a limit, so the campaign repeats the run"
    passing = max((units for units, passes in screened.items() if passes and units < rung), default=None)
    failing = min((units for units, passes in screened.items() if passes is False and units > rung), default=None)
    if passing is None and failing is None:
        return "this is the first load of the search"
    if failing is None:
        return f"{nx(terms.nx(passing or 0))} passed, so the campaign tests a higher load"
    if passing is None:
        return f"{nx(terms.nx(failing))} failed, so the campaign tests a lower load"
    between = "so the campaign tests a load between them"
    return f"{nx(terms.nx(passing))} passed and {nx(terms.nx(failing))} failed, {between}"


def load_reason(units: int, confirmed: Judged, terms: Terms) -> str:
    """Return the reason for a load test at this load."""
    if units in confirmed:
        return f"the result at {nx(terms.nx(units))} was near a limit, so the campaign repeats the test"
    failing = min((each for each, passes in confirmed.items() if passes is False), default=None)
    if failing is None:
        return "this is the highest load that passed screening"
    passing = max((each for each, passes in confirmed.items() if passes), default=None)
    if passing is None:
        return f"{nx(terms.nx(failing))} was not confirmed, so the campaign tests a lower load"
    between = "so the campaign tests a load between them"
    return f"{nx(terms.nx(passing))} was confirmed and {nx(terms.nx(failing))} was not, {between}"


def repeat_reason(doubted: Outcome) -> str:
    """Return the reason for repeating a failed test before it counts.

    It does not name the findings: they come from a side file, which may be sequestered after this is in a history.
    """
    return f"{doubted.id} failed, and the host may be the cause; the failure counts only if a second run also fails"


def stress_reason(load: Decimal) -> str:
    """Return the reason for a stress test."""
    stress = nx(STRESS_FACTOR * load)
    return f"the load test at {nx(load)} passed; a certificate at this load also requires a stress test at {stress}"


def rest_message(after: Outcome, purpose: Purpose, load: Decimal | None) -> str:
    """Return why the drive rests."""
    past, coming = step_name(after.purpose, after.nx), f"the next step is: {step_name(purpose, load)}"
    if after.result is Result.UNUSABLE:
        return f"the campaign waits briefly, because {after.id} gave no result; {coming}"
    cause = "overloaded" if after.result is Result.OVERLOADED else after.result
    return f"the drive rests after {after.id} ({past}: {cause}); {coming}"


def limit_message(load: Decimal, terms: Terms) -> str:
    """Return that the drive was not brought to its limit."""
    return (
        f"{nx(load)} is confirmed, and no higher load was allowed: its stress test at {nx(STRESS_FACTOR * load)} "
        f"reaches the limit of {nx(terms.max_nx)}"
    )


def spent_message(load: Decimal | None, decided_count: int) -> str:
    """Return that the campaign ended before the search did."""
    found = "it confirmed no load" if load is None else f"the highest confirmed load is {nx(load)}"
    tested = f"the campaign tested {counted(decided_count, 'load')} with load tests, which is the maximum"
    return f"{tested}; {found}"


def host_cause_message(outcomes: Iterable[Outcome]) -> str:
    """Return the sentence that the host may have caused failed runs; empty if no side file reports a cause."""
    failed = [outcome for outcome in outcomes if outcome.result in {Result.FAILED, Result.OVERLOADED}]
    count_by_host = sum(bool(outcome.host_causes) for outcome in failed)
    share = f"{count_by_host} of the {len(failed)} failed runs: see their findings"
    runs = share if len(failed) > 1 else "the failed run: see its findings"
    return f"; the host may be the cause of {runs}" if count_by_host else ""


def no_load_message(terms: Terms) -> str:
    """Return that the limit leaves no load to search."""
    lowest, stress = nx(terms.resolution_nx), nx(STRESS_FACTOR * terms.resolution_nx)
    return f"the limit of {nx(terms.max_nx)} allows no load: {lowest} needs a stress test at {stress}"
