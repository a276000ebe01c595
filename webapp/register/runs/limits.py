"""A reader's own limits on a run page. They apply to slices and devices; the official verdict does not change."""

from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl

from django.http import QueryDict

from results.models import Run
from results.rules.act.limits import Limit
from webapp.register.http.query_params import given_of
from webapp.register.limits.reader_limits import YourLimits, limit_names, read_limits
from webapp.register.runs.slices import SliceTable
from webapp.register.tables.columns import share_of
from webapp.register.tables.evaluation import is_over
from webapp.templatetags import units


def own_limits(query: QueryDict, profile: Iterable[Limit], *, others: Collection[str] = ()) -> YourLimits:
    """Return the limits in a query together with the profile's; `others` are the page's other parameters.

    Raises ParameterError, naming the parameter, for anything else.
    """
    limits = tuple(profile)
    return read_limits(given_of(query, (*limit_names(limits), *others)), limits)


def as_limits(own: YourLimits) -> tuple[Limit, ...]:
    """Return the limits in the form that the rules use."""
    return tuple(Limit(threshold_us, limit_pct) for threshold_us, limit_pct in own.by_threshold.items())


def limits_context(own: YourLimits, table: SliceTable | None, query: str) -> dict[str, Any]:
    """Return the context of the limits form; empty for a run without slices, where limits have no effect."""
    if table is None or not table.rows:
        return {}
    sentence = table.passing_sentence
    return {
        "limits": own,
        "limits_sentence": f"With your limits: {sentence}" if own.is_own else sentence,
        "other_parameters": parse_qsl(query.removeprefix("?")),
        "profile_address": query or "?",
    }


def published_limits_context(run: Run, own: YourLimits, query: str) -> dict[str, Any]:
    """Return the context of the limits form of a published result; empty if no limit applies to any of its shares."""
    if not any(share_of(run, threshold_us) for threshold_us in own.by_threshold):
        return {}
    return {
        "limits": own,
        "limits_sentence": _published_sentence(run, own),
        "other_parameters": parse_qsl(query.removeprefix("?")),
        "profile_address": query or "?",
    }


def _published_sentence(run: Run, own: YourLimits) -> str:
    """Return which shares are over the limits; for a reader's own limits also the result under the profile."""
    yours, profile = _over(run, own.by_threshold), _over(run, own.profile_by_threshold)
    if not own.is_own:
        return f"{_over_text(profile).capitalize()}."
    difference = "the same as under the profile" if yours == profile else f"under the profile {_over_text(profile)}"
    return f"With your limits {_over_text(yours)}; {difference}."


def _over(run: Run, limits: Mapping[int, Decimal]) -> list[int]:
    found = ((threshold_us, share_of(run, threshold_us), limit_pct) for threshold_us, limit_pct in limits.items())
    return [threshold_us for threshold_us, share, limit_pct in found if share and is_over(share, limit_pct)]


def _over_text(over_us: list[int]) -> str:
    if not over_us:
        return "all shares are within the limits"
    thresholds = " and ".join(map(units.threshold, over_us))
    return (
        f"the share over {thresholds} is too large"
        if len(over_us) == 1
        else f"the shares over {thresholds} are too large"
    )
