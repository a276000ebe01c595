"""A run held against the profile's limits and a reader's own, as every page that judges runs by them does it."""

from collections.abc import Mapping
from decimal import Decimal

from results.models import Run, Verdict
from webapp.register.limits.reader_limits import Held, YourLimits, keeps
from webapp.register.tables.columns import newest_verdict, share_of
from webapp.register.tables.tables import is_over


def held(name: str, run: Run, limits: YourLimits) -> Held:
    """Return whether a run passes under both, by its newest verdict and its shares as they were fetched with it."""
    verdict = newest_verdict(run)
    is_over_profile = _is_over(run, limits.profile_by_threshold)
    passes_profile = not is_over_profile and (verdict is None or verdict.outcome == Verdict.Outcome.PASS)
    if not limits.is_own:
        return Held(name, passes_profile, passes_profile, is_over_profile)
    is_over = _is_over(run, limits.by_threshold)
    return Held(name, passes_profile, keeps(verdict, is_over=is_over), is_over)


def _is_over(run: Run, limits: Mapping[int, Decimal]) -> bool:
    found = ((share_of(run, threshold_us), limit_pct) for threshold_us, limit_pct in limits.items())
    return any(share is not None and is_over(share, limit_pct) for share, limit_pct in found)
