"""Results of dispatches for lists. The state "done" says that a run ended, not that the drive passed."""

from collections.abc import Iterable

from results.models import Profile, Verdict
from results.rules.act.limits import Limit, parse_limits
from runners.campaigns.outcomes import rung_of
from runners.campaigns.terms import Purpose, Result
from runners.models import Dispatch
from runners.recipes.act import ACT_RECIPES

RESULT_LABELS = {Result.PASSED: "within the limits", Result.FAILED: "over a limit", Result.OVERLOADED: "cannot keep up"}
FAILURES = frozenset({Result.FAILED, Result.OVERLOADED})
SHOWN_OUTCOMES = frozenset({Verdict.Outcome.PASS, Verdict.Outcome.FAIL, Verdict.Outcome.VOID})


def with_results(dispatches: Iterable[Dispatch]) -> list[tuple[Dispatch, str, bool]]:
    """Return each dispatch with the label of its result and whether that is a failure.

    The label is empty if the log was not read yet or cannot be judged.
    `with_readings` prefetches what this function needs.
    """
    limits = parse_limits(Profile.current().document)
    return [(dispatch, *_result_of(dispatch, limits)) for dispatch in dispatches]


def _result_of(dispatch: Dispatch, limits: tuple[Limit, ...]) -> tuple[str, bool]:
    """Return the outcome of the verdict; if it is undecided or missing, compare the run with the limits."""
    if dispatch.recipe not in ACT_RECIPES:
        return "", False
    rung = rung_of(dispatch, limits)
    result = rung.outcome.result
    if rung.run and result is not Result.OVERLOADED:
        if rung.outcome.purpose is Purpose.STRESS:
            return "ran to completion" if result is Result.PASSED else "", False
        if rung.verdict and rung.verdict.outcome in SHOWN_OUTCOMES:
            return rung.verdict.get_outcome_display(), rung.verdict.outcome == Verdict.Outcome.FAIL
    return RESULT_LABELS.get(result, ""), result in FAILURES
