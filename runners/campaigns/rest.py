"""How long a drive is left alone after a load that was too much: it looks worse for hours than it is.

Source: users of upstream's ACT, who saw failing runs make the next ones fail (docs/lab.md, Campaigns).
"""

from collections.abc import Iterable

from runners.campaigns.outcome import Outcome, Purpose, Result
from runners.campaigns.terms import Terms

RETRY_AFTER_S = 60  # what stopped a run (a host restarted, say) is seldom over at once


def rest_until(terms: Terms, outcomes: Iterable[Outcome]) -> tuple[int, Outcome] | None:
    """Return until when the drive rests, in seconds from the epoch, and after which run; None where nothing ended."""
    rests = [(each.ended_s + _rest_s(terms, each), each) for each in outcomes if each.ended_s is not None]
    return max(rests, key=lambda rest: rest[0], default=None)


def longest_rest_s(terms: Terms) -> int:
    """Return after how long no run of before matters any more."""
    return max(terms.rest_s, terms.overload_rest_s, RETRY_AFTER_S)


def _rest_s(terms: Terms, outcome: Outcome) -> int:
    """A run that told nothing may have been too much for as long as it ran: the longer of both rests."""
    if outcome.result is not Result.UNUSABLE:
        return _after_load_s(terms, outcome)
    retry_s = 0 if outcome.is_excused else RETRY_AFTER_S
    return max(retry_s, _after_load_s(terms, outcome)) if outcome.has_run else retry_s


def _after_load_s(terms: Terms, outcome: Outcome) -> int:
    if outcome.result is Result.OVERLOADED or outcome.purpose is Purpose.STRESS:
        return terms.overload_rest_s
    is_long_and_unknown = outcome.result is Result.UNUSABLE and outcome.purpose is Purpose.LOAD
    return terms.rest_s if outcome.result is Result.FAILED or is_long_and_unknown else 0
