"""The conditions of a certificate, and whether a campaign's runs meet them, with figures.

results/rules/certification decides the certificate once the runs are reviewed. This module lists its conditions. A
shortened run shows the procedure and certifies nothing.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from django.db.models import prefetch_related_objects

from results.certification.certificates import candidate_of
from results.models import Verdict, Visibility
from results.rules.certification.checks import check_preparation
from results.rules.plural import counted
from runners.campaigns.messages import nx, step_name
from runners.campaigns.outcomes import Rung
from runners.campaigns.terms import STRESS_FACTOR, Purpose, Result, parse_terms
from runners.campaigns.voting import certified_nx
from runners.evidence.submit import last_preparation_attempt
from runners.models import Dispatch, DriveState
from runners.models.campaign import Campaign


def invalidating_change(rungs: Sequence[Rung]) -> str:
    """Return a change of the drive that voids later runs, for a person to decide; empty if none or already decided."""
    states = _since_prep(rungs)
    excused = {rung.dispatch.pk for rung in rungs if rung.outcome.is_excused}
    decided_count = sum(state.dispatch_id in excused for state in states)
    undecided = states[max(0, decided_count - 1) :]
    changes = [*_resets(undecided), *_firmwares(undecided)]
    return f"{changes[0]}; later runs certify nothing with the preparation before it" if changes else ""


def resets_of_tests(nx_rungs: Sequence[Rung], rungs: Sequence[Rung]) -> list[str]:
    """Return that the drive was reset between its preparation and these tests, if its states show that."""
    before_prep = _since_prep(rungs)[:1]
    return list(_resets([*before_prep, *states_of(nx_rungs)])) if before_prep else []


def states_of(rungs: Sequence[Rung]) -> list[DriveState]:
    """Return the drive's states before and after these runs, in order."""
    return [state for rung in rungs for state in rung.dispatch.drive_states.all()]


def _since_prep(rungs: Sequence[Rung]) -> list[DriveState]:
    """Return the drive's states in order, from before its last complete preparation; without one, all."""
    preps = [place for place, rung in enumerate(rungs) if rung.dispatch.preparation_id is not None]
    return states_of(rungs[preps[-1] if preps else 0 :])


def _resets(states: Sequence[DriveState]) -> Iterator[str]:
    """Yield a trim since the first state, or a reboot, after which the host counts trims again from 0."""
    for state in states[1:]:
        first = states[0]
        if None in {first.boot_id, state.boot_id}:
            continue
        if state.boot_id != first.boot_id:
            yield f"the host was rebooted before {_at(state)}: it can no longer be shown that the drive was not trimmed"
            return
        if None not in {first.discards_count, state.discards_count} and state.discards_count != first.discards_count:
            yield f"the drive was trimmed or formatted before {_at(state)}"
            return


def _firmwares(states: Sequence[DriveState]) -> Iterator[str]:
    reporting = [state for state in states if state.firmware]
    for before, after in pairwise(reporting):
        if before.firmware != after.firmware:
            yield f"the firmware changed from {before.firmware} to {after.firmware}, seen {_at(after)}"
            return


def _at(state: DriveState) -> str:
    return f"the state {state.moment} {state.dispatch.public_id}"


TESTS = (Purpose.LOAD, Purpose.STRESS)
VIRTUAL = "the device is virtual: no run on it certifies"


def preparation_of(pair: Mapping[Purpose, Rung]) -> Dispatch | None:
    """Return the last preparation before these tests if it was complete; it may belong to no campaign."""
    found = (last_preparation_attempt(rung.dispatch) for rung in pair.values())
    return next((prep for prep in found if prep is not None and prep.preparation_id is not None), None)


def preparation_fault(pair: Mapping[Purpose, Rung], rungs: Sequence[Rung]) -> str:
    """Return why it cannot be shown that both tests follow one preparation; empty if it can."""
    if preparation_of(pair) is None and not any(rung.dispatch.preparation_id for rung in rungs):
        return "no whole preparation before the tests"
    judged = [(rung.run, rung.verdict) for rung in pair.values() if rung.run and rung.verdict]
    if len(judged) < len(TESTS):
        return "no load has passed both tests: their preparation is not known"
    prefetch_related_objects([run for run, _ in judged], "drives__preparation__evidence")
    shown = check_preparation([candidate_of(run, verdict) for run, verdict in judged], 1)
    # The drive's states say more about a reset than the certificate does: in which state it was seen.
    return "" if shown.is_shown else next(iter(resets_of_tests(list(pair.values()), rungs)), shown.sentence)


def missing_for_certificate(campaign: Campaign, nx: Decimal | None, rungs: Sequence[Rung]) -> list[str]:
    """Return, as sentences, what a certificate at `nx` still needs; empty if the runs show all of it.

    The certificate itself requires what review adds: the product, and whether the drive was trimmed.
    """
    missing = [] if campaign.device.may_certify else [VIRTUAL]
    pair = {} if nx is None else pair_at(nx, rungs)
    if not any(rung.dispatch.preparation_id for rung in rungs) and preparation_of(pair) is None:
        missing.append("prep of the drive")
    if nx is None:
        return [*missing, "a load that passes both tests"]
    tests = list(pair.values())
    changes = [*resets_of_tests(tests, rungs), *_firmwares(states_of(tests))]
    missing += [f"both tests on one prepared drive: {change}" for change in changes]
    return [*missing, *filter(None, (test_fault(campaign, purpose, rung) for purpose, rung in pair.items()))]


def test_fault(campaign: Campaign, purpose: Purpose, rung: Rung) -> str:
    """Return which test is required in place of one that passed, and what that one was; empty if it is enough."""
    required, slice_s = required_duration_s(campaign), json.loads(campaign.profile.document).get("slice_length_s")
    # A stress test is not judged by slices: it has to run to its end.
    has_short_slices = purpose is Purpose.LOAD and slice_s and rung.dispatch.slice_length_s < slice_s
    wanted, had = (
        (f" in slices of {counted(length_s, 'second')}" if has_short_slices and length_s else "")
        for length_s in (slice_s, rung.dispatch.slice_length_s)
    )
    test = f"a {step_name(purpose, rung.outcome.nx)}"
    if rung.outcome.duration_s is None or rung.outcome.duration_s < required:
        return f"{test} of {counted(required, 'second')}{wanted}: {_ordered(rung)}{had}"
    if has_short_slices:
        return f"{test}{wanted}: {rung.dispatch} was ordered{had}"
    if purpose is Purpose.LOAD and rung.verdict is not None and rung.verdict.outcome != Verdict.Outcome.PASS:
        return f"{test} that the profile accepts: {rung.verdict.sentence}"
    return ""


def _ordered(rung: Rung) -> str:
    duration_s = rung.outcome.duration_s
    return f"{rung.dispatch} was ordered " + (
        f"for {counted(duration_s, 'second')}" if duration_s else "without a time"
    )


def pair_at(nx: Decimal, rungs: Sequence[Rung]) -> dict[Purpose, Rung]:
    """Return the last load test and stress test that passed for N, if there are any."""
    passed = [rung for rung in rungs if rung.outcome.result is Result.PASSED and certified_nx(rung.outcome) == nx]
    last = {rung.outcome.purpose: rung for rung in passed}
    return {purpose: last[purpose] for purpose in TESTS if purpose in last}


def has_shortened_runs(campaign: Campaign) -> bool:
    """Return whether the tests were ordered shorter than the profile requires."""
    terms = parse_terms(campaign.terms)
    return min(terms.load_s, terms.stress_s) < required_duration_s(campaign)


def required_duration_s(campaign: Campaign) -> int:
    """Return the duration that the profile requires of a test."""
    return int(json.loads(campaign.profile.document)["duration_s"])


REVIEWED = frozenset({Visibility.PUBLIC, Visibility.EMBARGOED})
STATES_COUNT = 2 * len(TESTS)  # before and after each
Pair = Mapping[Purpose, Rung]


@dataclass(frozen=True)
class Condition:
    """A condition: what is required, and what exists or is missing."""

    name: str
    is_met: bool
    detail: str


def conditions_of(campaign: Campaign, rungs: Sequence[Rung]) -> list[Condition]:
    """Return every condition of a certificate at the campaign's load, in the order in which they are usually met."""
    pair = {} if campaign.confirmed_nx is None else pair_at(campaign.confirmed_nx, rungs)
    states = states_of(list(pair.values()))
    is_real, kind = campaign.device.may_certify, campaign.device.identity_kind
    return [
        Condition("a real drive", is_real, kind if is_real else VIRTUAL),
        _prepared(pair, rungs),
        _test(campaign, Purpose.LOAD, pair),
        _test(campaign, Purpose.STRESS, pair),
        _same("firmware", [state.firmware for state in states]),
        _same("over-provisioning", [_percent(state.over_provisioning_pct) for state in states]),
        _product(pair),
        _reviewed(pair),
    ]


def _prepared(pair: Pair, rungs: Sequence[Rung]) -> Condition:
    name = "one preparation with evidence, after the last format or trim"
    if fault := preparation_fault(pair, rungs):
        return Condition(name, False, fault)
    return Condition(name, True, f"by {preparation_of(pair)}; not formatted or trimmed since")


def _test(campaign: Campaign, purpose: Purpose, pair: Pair) -> Condition:
    rung, load = pair.get(purpose), campaign.confirmed_nx
    required = f"of {counted(required_duration_s(campaign), 'second')}"
    if load is None or rung is None:
        at = "" if load is None else f" at {nx(load * (STRESS_FACTOR if purpose is Purpose.STRESS else 1))}"
        what = "a load test" if purpose is Purpose.LOAD else "a stress test at twice that load"
        return Condition(f"{what} {required}", False, f"none that passes{at}")
    fault = test_fault(campaign, purpose, rung)
    return Condition(f"{step_name(purpose, rung.outcome.nx)} {required}", not fault, fault or _ordered(rung))


def _same(what: str, values: Sequence[str | None]) -> Condition:
    """Return the condition that a value is the same in all states. A value that is not reported cannot be shown."""
    known = [value for value in values if value]
    name = f"the same {what} before and after both tests"
    if len(set(known)) > 1:
        return Condition(name, False, f"it was {', '.join(dict.fromkeys(known))}")
    if len(known) < STATES_COUNT:
        return Condition(name, False, f"reported {counted(len(known), 'time')} of {STATES_COUNT}: it cannot be shown")
    return Condition(name, True, known[0])


def _percent(value: Decimal | None) -> str | None:
    return None if value is None else f"{value.normalize():f} %"


def _product(pair: Pair) -> Condition:
    named_by = {purpose: rung.run.product for purpose, rung in pair.items() if rung.run and rung.run.product_id}
    products = sorted({str(product) for product in named_by.values()})
    is_met = len(named_by) == len(TESTS) and len(products) == 1
    without = ", ".join(_lacking(pair, named_by)) or "both tests"
    detail = ", ".join(products) if len(named_by) == len(TESTS) else f"not stated for {without}; a reviewer states it"
    return Condition("one product that both tests are of", is_met, detail)


def _reviewed(pair: Pair) -> Condition:
    done = {purpose: rung for purpose, rung in pair.items() if rung.run and rung.run.visibility in REVIEWED}
    is_met = len(done) == len(TESTS)
    without = ", ".join(_lacking(pair, done)) or "both tests"
    detail = "both tests were reviewed" if is_met else f"not reviewed: {without}"
    return Condition("review by another person than the submitter", is_met, detail)


def _lacking(pair: Pair, found: Mapping[Purpose, object]) -> Iterator[str]:
    return (rung.run.public_id if rung.run else str(rung.dispatch) for key, rung in pair.items() if key not in found)
