"""The stress test of a certificate: twice the load, run to completion, at any latency; and which tests to try."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from operator import attrgetter

from results.rules.act.loads import TPS, printed_decimal, printed_nx
from results.rules.certification.checks import likeness
from results.rules.certification.facts import CandidateRun, Shortcoming
from results.rules.plural import counted

FINISHED = "finished"
JUDGED = {"pass", "fail"}  # undecided: not the run that the profile requires; void: not a valid run
LOAD = attrgetter("nx_load")
STRESS_FACTOR = 2  # aerospike/act README.md, test 2: 60x for a certificate at 30x


def stress_shortcoming(run: CandidateRun, load: Fraction, device_count: int, duration_s: int) -> Shortcoming | None:
    """Return why a run is no stress test for a load of N; None if it is one.

    A heavier load than 2N does as well: the test requires only that the rate is sustained. A failing verdict does not
    matter ("regardless of the error rate"), an undecided or void one does: then the log does not show the required run.
    Source: aerospike/act README.md, tests 2 and 4.
    """
    if sentence := _devices_shortcoming(run, device_count):
        return Shortcoming(run.id, sentence)
    if run.departures:
        return Shortcoming(run.id, "is not what the profile asks", run.departures)
    sentence = _load_shortcoming(run, STRESS_FACTOR * load) or _end_shortcoming(run, duration_s)
    return Shortcoming(run.id, sentence) if sentence else None


def is_stress_like(run: CandidateRun, device_count: int, duration_s: int) -> bool:
    """Return whether a run is a stress test for some load: it meets stress_shortcoming() except for the load."""
    faults = (_devices_shortcoming(run, device_count), run.departures, _end_shortcoming(run, duration_s))
    return not any(faults)


def _devices_shortcoming(run: CandidateRun, device_count: int) -> str | None:
    if run.device_count is None:
        return "does not report how many devices it ran on"
    if run.device_count != device_count:
        return f"ran on {counted(run.device_count, 'device')}, not {device_count}"
    return None


def _load_shortcoming(run: CandidateRun, wanted: Fraction) -> str | None:
    """Compare exactly, to the fraction of a request: what prints as 60x may be less."""
    if run.nx_load is None:
        return "does not report its load"
    if run.nx_load >= wanted:
        return None
    requested, needed = (printed_decimal(load * TPS, 2) for load in (run.nx_load, wanted))
    each = f"{requested} of {needed} tps for each device"
    return f"requested {printed_nx(run.nx_load)}, less than {printed_nx(wanted)} ({each})"


def _end_shortcoming(run: CandidateRun, duration_s: int) -> str | None:
    if run.stop_kind != FINISHED:
        return f"did not run to completion ({run.stop_kind or 'how it ended is not known'})"
    if run.duration_s is None or run.duration_s < duration_s:
        lasted = "an unknown time" if run.duration_s is None else f"{run.duration_s} s"
        return f"ran {lasted}, not {duration_s} s"
    return None if run.outcome in JUDGED else f"has the verdict {run.outcome}: its log does not show the required run"


class StressTests:
    """The runs of a set that may be stress tests for a number of devices."""

    def __init__(self, runs: Sequence[CandidateRun], device_count: int, duration_s: int) -> None:
        self._groups: dict[Hashable, list[CandidateRun]] = defaultdict(list)  # of runs that are alike, by rising load
        self._places_by_keys: dict[frozenset[str], set[Hashable]] = defaultdict(set)
        self._elsewhere: set[Hashable] = set()
        known = [run for run in runs if run.nx_load is not None and is_stress_like(run, device_count, duration_s)]
        for run in sorted(known, key=LOAD):  # stable: of equal loads the first id stays first
            self._add(run)

    def _add(self, run: CandidateRun) -> None:
        like = likeness(run)
        own, elsewhere = ("own", like.keys, like.states), ("elsewhere", like.states)
        for place in (own, (*own, like.preparations), elsewhere):
            self._groups[place].append(run)
        self._places_by_keys[like.keys].add(own)
        self._elsewhere.add(elsewhere)

    def choices(self, load: CandidateRun, nx: Fraction) -> list[CandidateRun]:
        """Return those to try with a load test at `nx`, lightest first.

        Of each likeness these are the lightest on the same drives, the lightest that follows the same preparations, and
        the lightest anywhere: on other drives no certificate comes about, and one of them shows as much as all.
        """
        like = likeness(load)
        own = self._places_by_keys.get(like.keys, set())
        places: Iterable[Hashable] = (*own, *((*place, like.preparations) for place in own), *self._elsewhere)  # type: ignore[misc]
        tried = (self._lightest(place, STRESS_FACTOR * nx, load) for place in places if place in self._groups)
        found = {run.id: run for run in tried if run is not None}
        return sorted(found.values(), key=lambda run: (run.nx_load, run.id))

    def _lightest(self, place: Hashable, wanted: Fraction, load: CandidateRun) -> CandidateRun | None:
        """Return the first run of a group that is heavy enough and not the load test itself."""
        runs = self._groups[place]
        found = runs[bisect_left(runs, wanted, key=LOAD) :][:2]
        return next((run for run in found if run is not load), None)
