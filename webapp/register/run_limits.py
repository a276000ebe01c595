"""A reader's own limits on the page of a run: its slices and devices are held against them; its verdict stays."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qsl

from django.http import QueryDict

from results.rules.limits import Limit
from webapp.register.not_understood import ParameterError
from webapp.register.slices import SliceTable
from webapp.register.your_limits import PREFIX, YourLimits, limit_names, read_limits


def own_limits(query: QueryDict, profile: Iterable[Limit]) -> YourLimits:
    """Return the limits of an address beside the profile's. Raises ParameterError, naming the parameter."""
    limits = tuple(profile)
    known = limit_names(limits)
    for name in query:
        if name.startswith(PREFIX) and (name not in known or len(query.getlist(name)) != 1):
            raise ParameterError(f"{name}: expected each of {', '.join(known)} once at most")
    return read_limits({name: str(query[name]) for name in known if name in query}, limits)


def as_limits(own: YourLimits) -> tuple[Limit, ...]:
    """Return the limits as rules take them."""
    return tuple(Limit(threshold_us, limit_pct) for threshold_us, limit_pct in own.by_threshold.items())


def limits_context(own: YourLimits, table: SliceTable | None, query: str) -> dict[str, Any]:
    """Return what the form shows; nothing of a run without slices, where it would change nothing."""
    if table is None or not table.rows:
        return {}
    said = table.passing_sentence
    return {
        "limits": own,
        "limits_sentence": f"With your limits {said[0].lower()}{said[1:]}" if own.is_own else said,
        "kept_parameters": parse_qsl(query.removeprefix("?")),
        "profile_address": query or "?",
    }
