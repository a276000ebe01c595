"""What the runs of dispatches found, for a list: done tells that a run has ended, not whether the drive passes."""

from collections.abc import Iterable

from results.models import Profile, Verdict
from results.rules.act.limits import Limit, parse_limits
from runners.campaigns.commands import PROFILE
from runners.campaigns.ladder import Rung, rung_of
from runners.campaigns.terms import Purpose, Result
from runners.models import Dispatch

WORDS = {Result.PASSED: "within the limits", Result.FAILED: "over a limit", Result.OVERLOADED: "cannot keep up"}
FAILS = frozenset({"fail", WORDS[Result.FAILED], WORDS[Result.OVERLOADED]})
JUDGED = frozenset({Verdict.Outcome.PASS, Verdict.Outcome.FAIL, Verdict.Outcome.VOID})


def found_by(dispatches: Iterable[Dispatch]) -> list[tuple[Dispatch, str, bool]]:
    """Return each dispatch, what its run found (empty: not read, or nothing to be judged), and whether that is a fail.

    The dispatches come as `with_what_was_read` fetches them.
    """
    profile = Profile.objects.filter(name=PROFILE).order_by("-rule_version").first()
    limits = parse_limits(profile.document) if profile else ()
    words = [(dispatch, _word(dispatch, limits)) for dispatch in dispatches]
    return [(dispatch, word, word in FAILS) for dispatch, word in words]


def _word(dispatch: Dispatch, limits: tuple[Limit, ...]) -> str:
    """Prefer the verdict's word; a run that is too short for one is held against the limits."""
    if not dispatch.recipe.startswith("act-"):
        return ""
    rung = rung_of(dispatch, limits)
    if rung.run is None or rung.outcome.result is Result.OVERLOADED:
        return WORDS.get(rung.outcome.result, "")
    if rung.outcome.purpose is Purpose.STRESS:
        return "ran to completion" if rung.outcome.result is Result.PASSED else ""
    return _of_verdict(rung) or WORDS.get(rung.outcome.result, "")


def _of_verdict(rung: Rung) -> str:
    return str(rung.verdict.outcome) if rung.verdict and rung.verdict.outcome in JUDGED else ""
