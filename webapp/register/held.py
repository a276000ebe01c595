"""A run held against the profile's limits and a reader's own, as every page that judges runs by them does it."""

from collections.abc import Mapping
from decimal import Decimal

from results.models import Run
from webapp.register.columns import share_of
from webapp.register.tables import is_over
from webapp.register.your_limits import Held, YourLimits, keeps


def held(name: str, run: Run, outcome: str, limits: YourLimits) -> Held:
    """Return whether a run passes under both; `outcome` is that of its newest verdict, empty where there is no log."""
    by_profile = _is_over(run, limits.profile_by_threshold)
    by_yours = _is_over(run, limits.by_threshold)
    return Held(
        name,
        keeps(outcome, is_over_profile=by_profile, is_over=by_profile),
        keeps(outcome, is_over_profile=by_profile, is_over=by_yours),
    )


def _is_over(run: Run, limits: Mapping[int, Decimal]) -> bool:
    found = ((share_of(run, threshold_us), limit_pct) for threshold_us, limit_pct in limits.items())
    return any(share is not None and is_over(share, limit_pct) for share, limit_pct in found)
