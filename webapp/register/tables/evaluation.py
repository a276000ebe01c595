"""Comparison of a run's shares with the profile's limits and with a reader's own."""

from collections.abc import Mapping
from decimal import Decimal

from results.models import Run, Share, Verdict
from results.rules.act.limits import is_count_within, is_share_within
from webapp.register.limits.reader_limits import LimitEvaluation, YourLimits, passes_limits
from webapp.register.tables.columns import newest_verdict, share_of


def is_over(share: Share, limit_pct: Decimal) -> bool:
    """Return whether a share is over its limit: by counts if a log is stored, otherwise by the printed digits."""
    if share.over_count is not None and share.ops_count is not None:
        return not is_count_within(share.over_count, share.ops_count, limit_pct)
    return not is_share_within(share.share_pct, limit_pct)


def evaluate_limits(name: str, run: Run, limits: YourLimits) -> LimitEvaluation:
    """Return whether a run passes the profile and the reader's limits, from the verdict and shares fetched with it."""
    verdict = newest_verdict(run)
    is_over_profile = _is_any_over(run, limits.profile_by_threshold)
    passes_profile = not is_over_profile and (verdict is None or verdict.outcome == Verdict.Outcome.PASS)
    if not limits.is_own:
        return LimitEvaluation(name, passes_profile, passes_profile, is_over_profile)
    is_over_own = _is_any_over(run, limits.by_threshold)
    return LimitEvaluation(name, passes_profile, passes_limits(verdict, is_over=is_over_own), is_over_own)


def _is_any_over(run: Run, limits: Mapping[int, Decimal]) -> bool:
    found = ((share_of(run, threshold_us), limit_pct) for threshold_us, limit_pct in limits.items())
    return any(share is not None and is_over(share, limit_pct) for share, limit_pct in found)
