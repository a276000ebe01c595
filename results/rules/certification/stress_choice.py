"""Which stress tests a load test is tried with: of runs that a certificate cannot tell apart the lightest, found fast.

Trying every stress test with every load test takes minutes for the thousands of runs that a drive may have.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from results.rules.certification.checks import likeness
from results.rules.certification.facts import CandidateRun
from results.rules.certification.stress import STRESS_FACTOR, is_stress_like


@dataclass
class _ByLoad:
    """Runs that are alike, by rising load; of equal loads in the order of their ids."""

    runs: list[CandidateRun] = field(default_factory=list)
    loads: list[Fraction] = field(default_factory=list)

    def add(self, run: CandidateRun, nx: Fraction) -> None:
        self.runs.append(run)
        self.loads.append(nx)

    def lightest(self, wanted: Fraction, load: CandidateRun) -> CandidateRun | None:
        """Return the first run that is heavy enough and not the load test itself."""
        found = self.runs[bisect_left(self.loads, wanted) :][:2]
        return next((run for run in found if run is not load), None)


class StressTests:
    """The runs of a set that may be stress tests for a number of devices."""

    def __init__(self, runs: Sequence[CandidateRun], device_count: int, duration_s: int) -> None:
        self._groups: dict[Hashable, _ByLoad] = defaultdict(_ByLoad)
        self._places_by_keys: dict[frozenset[str], set[Hashable]] = defaultdict(set)
        self._elsewhere: set[Hashable] = set()
        known = [(nx, run) for run in runs if (nx := run.nx_load) is not None]
        for nx, run in sorted(known, key=lambda each: each[0]):  # stable: of equal loads the first id stays first
            if is_stress_like(run, device_count, duration_s):
                self._add(run, nx)

    def _add(self, run: CandidateRun, nx: Fraction) -> None:
        like = likeness(run)
        own, elsewhere = ("own", like.keys, like.states), ("elsewhere", like.states)
        for place in (own, (*own, like.preparations), elsewhere):
            self._groups[place].add(run, nx)
        self._places_by_keys[like.keys].add(own)
        self._elsewhere.add(elsewhere)

    def choices(self, load: CandidateRun, nx: Fraction) -> list[CandidateRun]:
        """Return those to try with a load test at `nx`, lightest first.

        Of each likeness these are the lightest on the same drives, the lightest that follows the same preparations, and
        the lightest anywhere: on other drives no certificate comes about, and one of them tells as much as all.
        """
        like = likeness(load)
        own = self._places_by_keys.get(like.keys, set())
        places: Iterable[Hashable] = (*own, *((*place, like.preparations) for place in own), *self._elsewhere)  # type: ignore[misc]
        tried = (self._groups[place].lightest(STRESS_FACTOR * nx, load) for place in places if place in self._groups)
        found = {run.id: run for run in tried if run is not None}
        return sorted(found.values(), key=lambda run: (run.nx_load, run.id))
