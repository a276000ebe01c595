"""What a campaign's runs lack for a certificate: a shortened run shows the way and certifies nothing."""

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from results.models import Verdict
from results.rules.plural import counted
from runners.campaigns.drive_changes import changes_of_tests
from runners.campaigns.ladder import Rung
from runners.campaigns.messages import named
from runners.campaigns.outcome import Purpose, Result
from runners.campaigns.prepared import preparation_of
from runners.campaigns.terms import terms_of
from runners.campaigns.voting import certified_nx
from runners.inventory.safety import may_certify
from runners.models.campaign import Campaign


def missing_for_certificate(campaign: Campaign, nx: Decimal | None, rungs: Sequence[Rung]) -> list[str]:
    """Return, as sentences, what a certificate at `nx` would still need; empty where the runs show all of it.

    What review adds (which product it is, whether the drive was trimmed) is asked by the certificate itself.
    """
    missing = [] if may_certify(campaign.device) else ["the device is virtual: no run on it certifies"]
    pair = {} if nx is None else pair_at(nx, rungs)
    if not any(rung.dispatch.preparation_id for rung in rungs) and preparation_of(pair) is None:
        missing.append("prep of the drive")
    if nx is None:
        return [*missing, "a load that passes both tests"]
    return [*missing, *_of_tests(campaign, pair, rungs)]


def _of_tests(campaign: Campaign, pair: Mapping[Purpose, Rung], rungs: Sequence[Rung]) -> Iterator[str]:
    changes = changes_of_tests(list(pair.values()), rungs)
    yield from (f"both tests on one prepared drive: {change}" for change in changes)
    yield from filter(None, (fault_of_test(campaign, purpose, rung) for purpose, rung in pair.items()))


def fault_of_test(campaign: Campaign, purpose: Purpose, rung: Rung) -> str:
    """Return which test is asked for in place of one that passed, and what that one was; empty where it is enough."""
    asked, slice_s = asked_duration_s(campaign), asked_slice_s(campaign)
    # Of a stress test nothing is judged by its slices: it has to run to its end.
    has_short_slices = purpose is Purpose.LOAD and slice_s and rung.dispatch.slice_length_s < slice_s
    wanted, had = (
        (f" in slices of {counted(length_s, 'second')}" if has_short_slices and length_s else "")
        for length_s in (slice_s, rung.dispatch.slice_length_s)
    )
    test = f"a {named(purpose, rung.outcome.nx)}"
    if rung.outcome.duration_s is None or rung.outcome.duration_s < asked:
        ran = counted(rung.outcome.duration_s or 0, "second")
        return f"{test} of {counted(asked, 'second')}{wanted}: {rung.dispatch} was of {ran}{had}"
    if has_short_slices:
        return f"{test}{wanted}: {rung.dispatch} was{had}"
    if purpose is Purpose.LOAD and rung.verdict is not None and rung.verdict.outcome != Verdict.Outcome.PASS:
        return f"{test} that the profile accepts: {rung.verdict.headline}"
    return ""


def pair_at(nx: Decimal, rungs: Sequence[Rung]) -> dict[Purpose, Rung]:
    """Return the last load test and stress test that passed for N, as far as there are any."""
    found = ((purpose, _passed(purpose, nx, rungs)) for purpose in (Purpose.LOAD, Purpose.STRESS))
    return {purpose: rung for purpose, rung in found if rung is not None}


def _passed(purpose: Purpose, nx: Decimal, rungs: Sequence[Rung]) -> Rung | None:
    """Return the last run for a purpose that passed at N."""
    passed = [rung for rung in rungs if rung.outcome.purpose is purpose and rung.outcome.result is Result.PASSED]
    return next((rung for rung in reversed(passed) if certified_nx(rung.outcome) == nx), None)


def has_shortened_runs(campaign: Campaign) -> bool:
    """Tell whether the tests were ordered shorter than the profile asks."""
    terms = terms_of(campaign.terms)
    return min(terms.load_s, terms.stress_s) < asked_duration_s(campaign)


def asked_duration_s(campaign: Campaign) -> int:
    """Return how long the profile asks a test to be."""
    return int(json.loads(campaign.profile.document)["duration_s"])


def asked_slice_s(campaign: Campaign) -> int | None:
    """Return how long the slices are by which the profile judges; None where it does not say."""
    asked: int | None = json.loads(campaign.profile.document).get("slice_length_s")
    return asked
