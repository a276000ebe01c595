"""A reader's own limits on the page of a run: its slices and devices are held against them; its verdict stays."""

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
    """Return the limits of an address beside the profile's; `others` are the page's parameters that are no limits.

    Raises ParameterError, naming the parameter, for anything else.
    """
    limits = tuple(profile)
    return read_limits(given_of(query, (*limit_names(limits), *others)), limits)


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
        "other_parameters": parse_qsl(query.removeprefix("?")),
        "profile_address": query or "?",
    }


def published_limits_context(run: Run, own: YourLimits, query: str) -> dict[str, Any]:
    """Return what the form of a published result shows; nothing where it states no share that a limit is of."""
    if not any(share_of(run, threshold_us) for threshold_us in own.by_threshold):
        return {}
    return {
        "limits": own,
        "limits_sentence": _published_sentence(run, own),
        "other_parameters": parse_qsl(query.removeprefix("?")),
        "profile_address": query or "?",
    }


def _published_sentence(run: Run, own: YourLimits) -> str:
    """Say which shares are over the limits, and under a reader's own what is otherwise than under the profile."""
    yours, profile = _over(run, own.by_threshold), _over(run, own.profile_by_threshold)
    if not own.is_own:
        return f"{_said(profile).capitalize()}."
    beside = "as under the profile" if yours == profile else f"under the profile {_said(profile)}"
    return f"With your limits {_said(yours)}; {beside}."


def _over(run: Run, limits: Mapping[int, Decimal]) -> list[int]:
    found = ((threshold_us, share_of(run, threshold_us), limit_pct) for threshold_us, limit_pct in limits.items())
    return [threshold_us for threshold_us, share, limit_pct in found if share and is_over(share, limit_pct)]


def _said(over_us: list[int]) -> str:
    if not over_us:
        return "every share keeps within them"
    shares = "the share" if len(over_us) == 1 else "the shares"
    return (
        f"{shares} over {' and '.join(map(units.threshold, over_us))} {'is' if len(over_us) == 1 else 'are'} too large"
    )
