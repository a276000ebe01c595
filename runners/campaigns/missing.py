"""What a campaign's runs lack for a certificate: a shortened run shows the way and certifies nothing."""

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from results.models import Verdict
from results.rules.words import counted
from runners.campaigns.drive_changes import changes_of_tests
from runners.campaigns.ladder import Rung
from runners.campaigns.models import Campaign
from runners.campaigns.outcome import Purpose, Result
from runners.campaigns.terms import terms_of
from runners.campaigns.votes import certified_nx
from runners.campaigns.words import named
from runners.safety import may_certify


def missing_for_certificate(campaign: Campaign, nx: Decimal | None, rungs: Sequence[Rung]) -> list[str]:
    """Return, as sentences, what a certificate at `nx` would still need; empty where the runs show all of it.

    What review adds (which product it is, whether the drive was trimmed) is asked by the certificate itself.
    """
    missing = [] if may_certify(campaign.device) else ["the device is virtual: no run on it certifies"]
    if not any(rung.outcome.purpose is Purpose.PREP and rung.dispatch.preparation_id for rung in rungs):
        missing.append("prep of the drive")
    if nx is None:
        return [*missing, "a load that passes both tests"]
    found = ((purpose, _passed(purpose, nx, rungs)) for purpose in (Purpose.LOAD, Purpose.STRESS))
    pair = {purpose: rung for purpose, rung in found if rung is not None}
    return [*missing, *_of_tests(campaign, pair, rungs)]


def _of_tests(campaign: Campaign, pair: Mapping[Purpose, Rung], rungs: Sequence[Rung]) -> Iterator[str]:
    asked, slice_s = asked_duration_s(campaign), asked_slice_s(campaign)
    changes = changes_of_tests(list(pair.values()), rungs)
    yield from (f"both tests on one prepared drive: {change}" for change in changes)
    for purpose, rung in pair.items():
        # Of a stress test nothing is judged by its slices: it has to run to its end.
        has_short_slices = purpose is Purpose.LOAD and slice_s and rung.dispatch.slice_length_s < slice_s
        wanted, had = (
            (f" in slices of {counted(length_s, 'second')}" if has_short_slices and length_s else "")
            for length_s in (slice_s, rung.dispatch.slice_length_s)
        )
        short = rung.outcome.duration_s is None or rung.outcome.duration_s < asked
        if short:
            ran = counted(rung.outcome.duration_s or 0, "second")
            test = f"a {named(purpose, rung.outcome.nx)} of {counted(asked, 'second')}{wanted}"
            yield f"{test}: {rung.dispatch} was of {ran}{had}"
        elif has_short_slices:
            yield f"a {named(purpose, rung.outcome.nx)}{wanted}: {rung.dispatch} was{had}"
        elif purpose is Purpose.LOAD and rung.verdict is not None and rung.verdict.outcome != Verdict.Outcome.PASS:
            yield f"a {named(purpose, rung.outcome.nx)} that the profile accepts: {rung.verdict.headline}"


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
