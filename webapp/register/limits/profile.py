"""The profile of the register, whose limits public pages compare shares with."""

from decimal import Decimal

from results.models import Profile
from results.rules.act.limits import Limit, parse_limits


def limits_by_threshold(limits: tuple[Limit, ...]) -> dict[int, Decimal]:
    """Return threshold in us -> limit in percent."""
    return {limit.threshold_us: limit.limit_pct for limit in limits}


def current_limits() -> tuple[Limit, ...]:
    """Return the limits of the newest version."""
    return parse_limits(Profile.current().document)
