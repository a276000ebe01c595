"""Each condition of a certificate, and whether a campaign's runs meet it: told in full, with figures, also where met.

The certificate itself is decided by results/rules/certification/certify.py once the runs are reviewed; this says
what it will ask.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from results.models import Visibility
from results.rules.plural import counted
from runners.campaigns.drive_changes import states_of
from runners.campaigns.ladder import Rung
from runners.campaigns.messages import named, nx
from runners.campaigns.missing import asked_duration_s, fault_of_test, pair_at
from runners.campaigns.outcome import Purpose
from runners.campaigns.prepared import TESTS, fault_of_preparation, preparation_of
from runners.campaigns.terms import STRESS_FACTOR
from runners.inventory.safety import may_certify
from runners.models.campaign import Campaign

REVIEWED = frozenset({Visibility.PUBLIC, Visibility.EMBARGOED})
STATES_COUNT = 2 * len(TESTS)  # before and after each
Pair = Mapping[Purpose, Rung]


@dataclass(frozen=True)
class Condition:
    """What is asked, and what is there or missing."""

    name: str
    is_met: bool
    told: str


def conditions_of(campaign: Campaign, rungs: Sequence[Rung]) -> list[Condition]:
    """Return every condition of a certificate at the campaign's load, in the order in which they come to be met."""
    pair = {} if campaign.confirmed_nx is None else pair_at(campaign.confirmed_nx, rungs)
    states = states_of(list(pair.values()))
    return [
        _real(campaign),
        _prepared(pair, rungs),
        _test(campaign, Purpose.LOAD, pair),
        _test(campaign, Purpose.STRESS, pair),
        _same("firmware", [state.firmware for state in states]),
        _same("over-provisioning", [_percent(state.over_provisioning_pct) for state in states]),
        _product(pair),
        _reviewed(pair),
    ]


def _real(campaign: Campaign) -> Condition:
    is_real = may_certify(campaign.device)
    kind = campaign.device.identity_kind
    return Condition("a real drive", is_real, kind if is_real else "the device is virtual: no run on it certifies")


def _prepared(pair: Pair, rungs: Sequence[Rung]) -> Condition:
    name = "one preparation with evidence, after the last format or trim"
    if fault := fault_of_preparation(pair, rungs):
        return Condition(name, False, fault)
    return Condition(name, True, f"by {preparation_of(pair)}; not formatted or trimmed since")


def _test(campaign: Campaign, purpose: Purpose, pair: Pair) -> Condition:
    rung, load = pair.get(purpose), campaign.confirmed_nx
    asked = f"of {counted(asked_duration_s(campaign), 'second')}"
    if load is None or rung is None:
        at = "" if load is None else f" at {nx(load * (STRESS_FACTOR if purpose is Purpose.STRESS else 1))}"
        what = "a load test" if purpose is Purpose.LOAD else "a stress test at twice that load"
        return Condition(f"{what} {asked}", False, f"none that passes{at}")
    fault = fault_of_test(campaign, purpose, rung)
    ran = f"{rung.dispatch} was of {counted(rung.outcome.duration_s or 0, 'second')}"
    return Condition(f"{named(purpose, rung.outcome.nx)} {asked}", not fault, fault or ran)


def _same(what: str, told: Sequence[str | None]) -> Condition:
    """Both tests have a state before and after each: what nobody told of one cannot be shown."""
    known = [value for value in told if value]
    name = f"the same {what} before and after both tests"
    if len(set(known)) > 1:
        return Condition(name, False, f"it was {', '.join(dict.fromkeys(known))}")
    if len(known) < STATES_COUNT:
        return Condition(name, False, f"told {counted(len(known), 'time')} of {STATES_COUNT}: it cannot be shown")
    return Condition(name, True, known[0])


def _percent(value: Decimal | None) -> str | None:
    return None if value is None else f"{value.normalize():f} %"


def _product(pair: Pair) -> Condition:
    named_by = {purpose: rung.run.product for purpose, rung in pair.items() if rung.run and rung.run.product_id}
    products = sorted({str(product) for product in named_by.values()})
    is_met = len(named_by) == len(TESTS) and len(products) == 1
    without = ", ".join(_lacking(pair, named_by)) or "both tests"
    told = ", ".join(products) if len(named_by) == len(TESTS) else f"none is named for {without}; review names it"
    return Condition("one product that both tests are of", is_met, told)


def _reviewed(pair: Pair) -> Condition:
    done = {purpose: rung for purpose, rung in pair.items() if rung.run and rung.run.visibility in REVIEWED}
    is_met = len(done) == len(TESTS)
    told = "both tests were reviewed" if is_met else f"not reviewed: {', '.join(_lacking(pair, done)) or 'both tests'}"
    return Condition("review by somebody else than who sent it", is_met, told)


def _lacking(pair: Pair, found: Mapping[Purpose, object]) -> Iterator[str]:
    return (rung.run.public_id if rung.run else str(rung.dispatch) for key, rung in pair.items() if key not in found)
