"""The forecast of a campaign's end: the planner, run ahead on drives that the outcomes so far allow."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from runners.campaigns.planner import Finish, Pause, Wait, bracket, needs_prep, next_step
from runners.campaigns.terms import Outcome, Purpose, Result, Terms
from runners.campaigns.voting import certified_nx, judged, screened

STEPS_MAX = 200  # a ladder from 1 to 2^31 steps with all its halves has less than 100
DRIVES_COUNT = 5


@dataclass(frozen=True)
class Forecast:
    """Earliest and latest end, in seconds from the epoch, and the number of runs to come if none is repeated.

    `has_prep`: prep is still to come. Its duration depends on the drive and is in neither time.
    """

    earliest_s: int
    latest_s: int
    fewest_runs: int
    most_runs: int
    has_prep: bool


def forecast(terms: Terms, outcomes: Sequence[Outcome], now_s: int) -> Forecast | None:
    """Return when the campaign ends on the drives that are still possible; None if a person has to decide first.

    An open outcome is assumed to end at its `ended_s`.
    """
    ends = [_run_ahead(terms, outcomes, now_s, limit) for limit in _limits(terms, outcomes)]
    known = [end for end in ends if end is not None]
    if not known:
        return None
    times, counts = [end[0] for end in known], [end[1] for end in known]
    return Forecast(min(times), max(times), min(counts), max(counts), needs_prep(terms, outcomes))


def _limits(terms: Terms, outcomes: Sequence[Outcome]) -> list[int]:
    """Return possible highest passing loads, in steps, spread over the whole possible range."""
    found = bracket(screened(outcomes, terms) | judged(outcomes, Purpose.LOAD, terms))
    lowest = found.passing or 0
    highest = max(lowest, terms.cap_units if found.failing is None else min(found.failing - 1, terms.cap_units))
    return sorted({lowest + (highest - lowest) * place // (DRIVES_COUNT - 1) for place in range(DRIVES_COUNT)})


def _run_ahead(terms: Terms, outcomes: Sequence[Outcome], now_s: int, limit: int) -> tuple[int, int] | None:
    """Return when the campaign ends on a drive that passes up to `limit`, and after how many more runs."""
    past = [_ended(each, terms, limit, now_s) for each in outcomes]
    now_s = max([now_s, *(each.ended_s or 0 for each in past)])
    runs_count = 0
    for _ in range(STEPS_MAX):
        step = next_step(terms, past, now_s)
        if isinstance(step, Finish):
            return now_s, runs_count
        if isinstance(step, Pause):
            return None
        if isinstance(step, Wait):
            now_s = step.until_s or now_s
            continue
        now_s += step.duration_s or 0
        runs_count += 1
        run = Outcome(f"run {len(past)}", step.purpose, step.nx, Result.OPEN, step.duration_s, now_s)
        past.append(replace(run, result=_result(run, terms, limit)))
    return None


def _ended(outcome: Outcome, terms: Terms, limit: int, now_s: int) -> Outcome:
    """Return an outcome as it will be: an open one ends as the drive allows."""
    if outcome.result is not Result.OPEN:
        return outcome
    return replace(outcome, result=_result(outcome, terms, limit), ended_s=max(now_s, outcome.ended_s or 0))


def _result(run: Outcome, terms: Terms, limit: int) -> Result:
    nx = certified_nx(run)
    return Result.PASSED if nx is None or terms.units(nx) <= limit else Result.FAILED
