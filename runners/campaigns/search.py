"""The two searches of a campaign, on whole steps of load: the ladder of screening runs, and the loads to confirm."""

from collections.abc import Mapping
from dataclasses import dataclass

from runners.campaigns.terms import Terms

Judged = Mapping[int, bool | None]


@dataclass(frozen=True)
class Bracket:
    """The highest load that passes below every one that fails, and the lowest that fails; None: none is known."""

    passing: int | None
    failing: int | None

    def is_closed(self, terms: Terms) -> bool:
        """Tell whether nothing that would be told apart lies between the two."""
        if self.failing is None:
            return self.passing is not None and self.passing >= terms.cap_units
        return self.failing - (self.passing or 0) <= terms.gap_units(self.passing or 0)


def bracket(judged: Judged) -> Bracket:
    """Return between which loads the drive's limit lies. A pass above a fail is not believed."""
    failing = min((units for units, passes in judged.items() if passes is False), default=None)
    passing = (units for units, passes in judged.items() if passes and (failing is None or units < failing))
    return Bracket(max(passing, default=None), failing)


def next_rung(judged: Judged, terms: Terms) -> int | None:
    """Return the load of the next screening run; None where the search has come to its end.

    Up by the ladder's factor until a load fails, or down by it until one passes; then halves of what lies between.
    """
    found = bracket(judged)
    if (undecided := _undecided(judged, found, terms)) is not None:
        return undecided
    if found.is_closed(terms):
        return None
    if found.failing is None:
        return _up(found.passing, terms)
    if found.passing is None:
        return min(max(1, int(found.failing / terms.ladder_factor)), found.failing - 1, terms.cap_units)
    if found.passing >= terms.cap_units:
        return None
    return min((found.passing + found.failing) // 2, terms.cap_units)


def _undecided(judged: Judged, found: Bracket, terms: Terms) -> int | None:
    """Return a load whose runs came near a limit and do not agree yet, where the answer still matters."""
    highest = terms.cap_units if found.failing is None else min(found.failing - 1, terms.cap_units)
    open_ones = (units for units, passes in judged.items() if passes is None and (found.passing or 0) < units)
    return min((units for units in open_ones if units <= highest), default=None)


def _up(passing: int | None, terms: Terms) -> int:
    if passing is None:
        return min(max(1, terms.units(terms.start_nx)), terms.cap_units)
    return min(max(passing + 1, int(passing * terms.ladder_factor)), terms.cap_units)


def next_to_confirm(confirmed: Judged, top: int, terms: Terms) -> int | None:
    """Return the load whose load test and stress test come next; None where the highest is known.

    `top` is the highest load that screening passed. Each failure doubles the step down, since a day is spent on each;
    once a load is confirmed, halves of what lies between.
    """
    found = bracket(confirmed)
    if found.failing is None:
        return None if found.passing is not None and found.passing >= top else top
    if found.is_closed(terms):
        return None
    if found.passing is None:
        failures_count = sum(passes is False for passes in confirmed.values())
        below = found.failing - (terms.gap_units(found.failing) << (failures_count - 1))
        return max(1, min(below, top))
    return (found.passing + found.failing) // 2
