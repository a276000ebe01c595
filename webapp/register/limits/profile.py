"""The profile of the register, whose limits public pages compare shares with."""

from decimal import Decimal
from functools import lru_cache

from results.models import Profile
from results.rules.act.limits import Limit, parse_limits


def limits_by_threshold(limits: tuple[Limit, ...]) -> dict[int, Decimal]:
    """Return threshold in us -> limit in percent."""
    return {limit.threshold_us: limit.limit_pct for limit in limits}


def current_limits() -> tuple[Limit, ...]:
    """Return the limits of the newest version."""
    return _limits_in(Profile.current_document())


# A version never changes, and every page asks for the newest one.
_limits_in = lru_cache(maxsize=2)(parse_limits)
