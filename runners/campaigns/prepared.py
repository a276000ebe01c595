"""Whether the tests of a load follow one preparation, as the certificate itself will ask of what the lab recorded."""

from collections.abc import Mapping, Sequence

from django.db.models import prefetch_related_objects

from results.certification.candidates import candidate_of
from results.rules.certification.checks import check_preparation
from runners.campaigns.drive_changes import resets_of_tests
from runners.campaigns.ladder import Rung
from runners.campaigns.outcome import Purpose
from runners.evidence.drive_states import last_preparing
from runners.models import Dispatch

TESTS = (Purpose.LOAD, Purpose.STRESS)


def preparation_of(pair: Mapping[Purpose, Rung]) -> Dispatch | None:
    """Return the last preparation before these tests where it was a whole one; it may be of no campaign."""
    found = (last_preparing(rung.dispatch) for rung in pair.values())
    return next((prep for prep in found if prep is not None and prep.preparation_id is not None), None)


def fault_of_preparation(pair: Mapping[Purpose, Rung], rungs: Sequence[Rung]) -> str:
    """Return why it cannot be shown that both tests follow one preparation, unspoilt; empty where it is shown."""
    if preparation_of(pair) is None and not any(rung.dispatch.preparation_id for rung in rungs):
        return "no whole preparation before the tests"
    judged = [(rung.run, rung.verdict) for rung in pair.values() if rung.run and rung.verdict]
    if len(judged) < len(TESTS):
        return "no load has passed both tests: what they follow is not known"
    prefetch_related_objects([run for run, _ in judged], "drives__preparation__evidence")
    shown = check_preparation([candidate_of(run, verdict) for run, verdict in judged], 1)
    # The drive's states tell more of a reset than the certificate does: which state it was seen in.
    return "" if shown.is_shown else next(iter(resets_of_tests(list(pair.values()), rungs)), shown.sentence)
