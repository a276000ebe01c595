"""The planner: the next step of a campaign, from its terms and outcomes alone; no clock, no database, no host.

So any worker can resume a campaign at any step: the same rows give the same step. Two searches on whole steps of load
are its core: the search for the highest load by screening runs, and the loads to confirm.

After a load that was too much the drive rests, because it looks worse for hours than it is. Source: users of upstream's
ACT, who saw failing runs make the next ones fail (docs/explanation/campaigns.md).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from itertools import takewhile

from results.rules.plural import counted
from runners.campaigns import messages
from runners.campaigns.terms import STRESS_FACTOR, Outcome, Purpose, Result, Terms
from runners.campaigns.voting import doubted_at, judged, screened

Judged = Mapping[int, bool | None]


@dataclass(frozen=True)
class Bracket:
    """The highest load that passes below every failing one, and the lowest that fails; None if unknown."""

    passing: int | None
    failing: int | None

    def is_closed(self, terms: Terms) -> bool:
        """Return whether the two are too close for another load between them."""
        if self.failing is None:
            return self.passing is not None and self.passing >= terms.cap_units
        return self.failing - (self.passing or 0) <= terms.gap_units(self.passing or 0)


def bracket(judged: Judged) -> Bracket:
    """Return the loads between which the drive's limit is. A pass above a failure does not count."""
    failing = min((units for units, passes in judged.items() if passes is False), default=None)
    passing = (units for units, passes in judged.items() if passes and (failing is None or units < failing))
    return Bracket(max(passing, default=None), failing)


def next_rung(judged: Judged, terms: Terms) -> int | None:
    """Return the load of the next screening run; None at the end of the search.

    The load goes up by a factor until a load fails, or down by it until one passes, then halves the interval
    between.
    """
    found = bracket(judged)
    if (undecided := _undecided(judged, found, terms)) is not None:
        return undecided
    if found.is_closed(terms):
        return None
    if found.failing is None:
        return _up(found.passing, terms)
    if found.passing is None:
        return min(max(1, int(found.failing / terms.ladder_factor)), found.failing - 1, terms.cap_units)
    if found.passing >= terms.cap_units:
        return None
    return min((found.passing + found.failing) // 2, terms.cap_units)


def _undecided(judged: Judged, found: Bracket, terms: Terms) -> int | None:
    """Return a load whose runs came near a limit and do not agree yet, if its result still matters."""
    highest = terms.cap_units if found.failing is None else min(found.failing - 1, terms.cap_units)
    open_ones = (units for units, passes in judged.items() if passes is None and (found.passing or 0) < units)
    return min((units for units in open_ones if units <= highest), default=None)


def _up(passing: int | None, terms: Terms) -> int:
    if passing is None:
        return min(max(1, terms.units(terms.start_nx)), terms.cap_units)
    return min(max(passing + 1, int(passing * terms.ladder_factor)), terms.cap_units)


def next_confirmation(confirmed: Judged, top: int, terms: Terms) -> int | None:
    """Return the load of the next load test and stress test; None if the highest is known.

    `top` is the highest load that passed screening. Each failure doubles the step down, because each costs a day. Once
    a load is confirmed, the search halves the interval.
    """
    found = bracket(confirmed)
    if found.failing is None:
        return None if found.passing is not None and found.passing >= top else top
    if found.is_closed(terms):
        return None
    if found.passing is None:
        failures_count = sum(passes is False for passes in confirmed.values())
        below = found.failing - (terms.gap_units(found.failing) << (failures_count - 1))
        return max(1, min(below, top))
    return (found.passing + found.failing) // 2


RETRY_AFTER_S = 60  # the cause of a stopped run, for example a reboot, is seldom over at once


def longest_rest_s(terms: Terms) -> int:
    """Return after how many seconds an earlier run no longer matters."""
    return max(terms.rest_s, terms.overload_rest_s, RETRY_AFTER_S)


def _rest_s(terms: Terms, outcome: Outcome) -> int:
    """Return the rest after a run. An inconclusive run may have been too much as well: the longer rest counts."""
    is_unknown, rest_s = outcome.result is Result.UNUSABLE, 0
    if outcome.result is Result.OVERLOADED or outcome.purpose is Purpose.STRESS:
        rest_s = terms.overload_rest_s
    elif outcome.result is Result.FAILED or (is_unknown and outcome.purpose is Purpose.LOAD):
        rest_s = terms.rest_s
    if not is_unknown:
        return rest_s
    retry_s = 0 if outcome.is_excused else RETRY_AFTER_S
    return max(retry_s, rest_s) if outcome.has_run else retry_s


Outcomes = Sequence[Outcome]


class End(StrEnum):
    """Why a campaign ended."""

    CONFIRMED = "confirmed"
    AT_LIMIT = "at-limit"
    NOTHING_PASSES = "nothing-passes"
    SPENT = "spent"


@dataclass(frozen=True)
class Run:
    """A run to be ordered: `nx` is its own load, None for prep; `retry_of` is the inconclusive outcome it repeats."""

    purpose: Purpose
    nx: Decimal | None
    duration_s: int | None
    reason: str
    retry_of: str | None = None


@dataclass(frozen=True)
class Wait:
    """Nothing to order before `until_s`; None means before the open run has ended."""

    reason: str
    until_s: int | None = None


@dataclass(frozen=True)
class Pause:
    """A person has to decide first."""

    reason: str


@dataclass(frozen=True)
class Finish:
    """The campaign ends. `nx` is the highest confirmed load, None if there is none."""

    end: End
    nx: Decimal | None
    reason: str


Step = Run | Wait | Pause | Finish


def next_step(terms: Terms, outcomes: Outcomes, now_s: int, before: Outcomes = ()) -> Step:
    """Return the step that is due now; `outcomes` are in the order of their orders.

    `before` are other runs on the drive: the campaign rests after them too.
    """
    if open_one := next((each for each in outcomes if each.result is Result.OPEN), None):
        return Wait(open_one.reason or messages.waiting_message(open_one))
    if pause := _person_needed(terms, outcomes):
        return pause
    step = _next_run(terms, outcomes)
    if isinstance(step, Finish):
        return replace(step, reason=step.reason + messages.host_cause_message(outcomes))
    return _rest(terms, [*before, *outcomes], step, now_s) or _as_retry(step, outcomes)


def _person_needed(terms: Terms, outcomes: Outcomes) -> Pause | None:
    """Pause if another attempt would end as the last one did, or if a person ended the last one."""
    if terms.cap_units < 1:
        return Pause(messages.no_load_message(terms))
    last = outcomes[-1] if outcomes else None
    if last is None or last.is_excused:
        return None
    if last.result in {Result.REFUSED, Result.CANCELLED}:
        return Pause(f"{last.id} was {last.result}: {last.reason}")
    attempts = takewhile(lambda each: each.result is Result.UNUSABLE and not each.is_excused, reversed(outcomes))
    attempts_count = len(list(attempts))
    if attempts_count >= terms.attempts_max:
        return Pause(f"{counted(attempts_count, 'attempt')} gave no result; the last one was {last.id}: {last.reason}")
    return None


def _next_run(terms: Terms, outcomes: Outcomes) -> Run | Finish:
    if needs_prep(terms, outcomes):
        return Run(Purpose.PREP, None, None, "a certificate requires a prepared drive")
    found = screened(outcomes, terms)
    rung = next_rung(found, terms)
    if rung is not None:
        return _run(terms, Purpose.SCREENING, rung, messages.screening_reason(rung, found, terms))
    ladder = bracket(found)
    return _doubted_end(terms, outcomes, ladder.failing) or _confirm(terms, outcomes, ladder)


def _doubted_end(terms: Terms, outcomes: Outcomes, failing: int | None) -> Run | None:
    """Repeat the failure that ends the ladder if its host may be the cause and no second run has agreed."""
    if failing is None or judged(outcomes, Purpose.SCREENING, terms)[failing] is not None:
        return None
    doubted = doubted_at(outcomes, Purpose.SCREENING, failing, terms)
    return _run(terms, Purpose.SCREENING, failing, messages.repeat_reason(doubted)) if doubted else None


def needs_prep(terms: Terms, outcomes: Outcomes) -> bool:
    """Return whether the drive is still to be prepared."""
    prepared = (each.purpose is Purpose.PREP and each.result is Result.PASSED for each in outcomes)
    return terms.with_prep and not any(prepared)


def _confirm(terms: Terms, outcomes: Outcomes, ladder: Bracket) -> Run | Finish:
    """Run the load test of the highest load, and its stress test once that has passed."""
    if ladder.passing is None:
        lowest = messages.nx(terms.nx(ladder.failing or 1))
        return Finish(
            End.NOTHING_PASSES, None, f"the drive failed at {lowest}, and the campaign tests no load below {lowest}"
        )
    top = min(ladder.passing, terms.cap_units)
    loads, stresses = judged(outcomes, Purpose.LOAD, terms), judged(outcomes, Purpose.STRESS, terms)
    # Both tests confirm a load. One failed test is enough for False; None is undecided.
    confirmed = {units: passes and stresses.get(units) for units, passes in loads.items()}
    units = next_confirmation(confirmed, top, terms)
    best = bracket(confirmed)
    if units is None:
        return _finish(terms, best, ladder)
    decided_count = sum(passes is not None for passes in confirmed.values())
    if units not in loads and decided_count >= terms.confirmations_max:
        return _spent(terms, best, decided_count)
    purpose = Purpose.STRESS if loads.get(units) else Purpose.LOAD
    if doubted := doubted_at(outcomes, purpose, units, terms):
        return _run(terms, purpose, units, messages.repeat_reason(doubted))
    if purpose is Purpose.STRESS:
        return _run(terms, purpose, units, messages.stress_reason(terms.nx(units)))
    return _run(terms, purpose, units, messages.load_reason(units, confirmed, terms))


def _finish(terms: Terms, best: Bracket, ladder: Bracket) -> Finish:
    if best.passing is None:
        return Finish(
            End.NOTHING_PASSES, None, "load tests and stress tests confirmed none of the loads that passed screening"
        )
    failing = min((each for each in (best.failing, ladder.failing) if each is not None), default=None)
    nx = terms.nx(best.passing)
    if failing is None or best.passing >= terms.cap_units:
        return Finish(End.AT_LIMIT, nx, messages.limit_message(nx, terms))
    reason = f"{messages.nx(nx)} is the highest load that passes; {messages.nx(terms.nx(failing))} does not pass"
    return Finish(End.CONFIRMED, nx, reason)


def _spent(terms: Terms, best: Bracket, decided_count: int) -> Finish:
    nx = None if best.passing is None else terms.nx(best.passing)
    return Finish(End.SPENT, nx, messages.spent_message(nx, decided_count))


def _run(terms: Terms, purpose: Purpose, units: int, reason: str) -> Run:
    nx = terms.nx(units) * (STRESS_FACTOR if purpose is Purpose.STRESS else 1)
    return Run(purpose, nx, terms.duration_s(purpose), reason)


def _rest(terms: Terms, outcomes: Outcomes, step: Run, now_s: int) -> Wait | None:
    """Return the wait until the drive has rested from the run with the latest end of its rest; None if it has."""
    rests = [(each.ended_s + _rest_s(terms, each), each) for each in outcomes if each.ended_s is not None]
    until_s, after = max(rests, key=lambda rest: rest[0], default=(0, None))
    if after is None or until_s <= now_s:
        return None
    return Wait(messages.rest_message(after, step.purpose, step.nx), until_s)


def _as_retry(step: Run, outcomes: Outcomes) -> Run:
    last = outcomes[-1] if outcomes else None
    if last is None or last.result is not Result.UNUSABLE or (last.purpose, last.nx) != (step.purpose, step.nx):
        return step
    return replace(
        step, retry_of=last.id, reason=f"the campaign repeats {last.id}, which gave no result: {last.reason}"
    )
