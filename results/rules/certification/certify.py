"""Certificates from sets of runs: load at N, stress at 2N, on one drive; both again for several devices.

Source: aerospike/act README.md, "Process for Certifying Device(s) for 30x Performance", tests 1 to 4.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from operator import attrgetter

from results.rules.act.loads import TPS, printed_decimal, printed_nx
from results.rules.certification import checks
from results.rules.certification.checks import likeness
from results.rules.certification.facts import CandidateRun, Certificate, Requirement, Shortcoming
from results.rules.plural import counted

PASS, FAIL = "pass", "fail"
FINISHED = "finished"
JUDGED = {PASS, FAIL}  # undecided: not the run that the profile requires; void: not a valid run
LOAD = attrgetter("nx_load")
STRESS_FACTOR = 2  # aerospike/act README.md, test 2: 60x for a certificate at 30x
DAY_S = 86_400
NEAREST_COUNT = 3  # shortcomings that a sentence names: enough to see what to fix

Runs = Sequence[CandidateRun]


@dataclass(frozen=True)
class _Stage:
    """A load test at `nx` with the stress test chosen for it (None: none will do), and what the two show."""

    device_count: int
    nx: Fraction
    load: CandidateRun
    stress: CandidateRun | None
    requirements: tuple[Requirement, ...]

    @property
    def runs(self) -> tuple[CandidateRun, ...]:
        return (self.load,) if self.stress is None else (self.load, self.stress)


@dataclass(frozen=True)
class _Attempt:
    """A load N with its stages and every requirement of it."""

    nx: Fraction
    stages: tuple[_Stage, ...]
    requirements: tuple[Requirement, ...]

    @property
    def runs(self) -> tuple[CandidateRun, ...]:
        return tuple(run for stage in self.stages for run in stage.runs)

    @property
    def rank(self) -> tuple[bool, int, int, Fraction]:
        """Return the sort key: complete attempts first, then more stages, fewer missing requirements, higher load."""
        missing_count = sum(not requirement.is_shown for requirement in self.requirements)
        return (missing_count == 0, len(self.stages), -missing_count, self.nx)


def certify(runs: Runs, device_count: int = 1, duration_s: int = DAY_S) -> Certificate:
    """Return what the runs of one product certify for a number of devices, `duration_s` being the profile's.

    N is that of a load test that passes by its verdict: no load between two tests is ever certified. With more than
    one device both tests are needed twice at the same N: with one of the drives alone, and with all of them.
    Raises ValueError for fewer than one device, or where two runs have one id.
    """
    ids = [run.id for run in runs]
    if device_count < 1 or len(set(ids)) < len(ids):
        raise ValueError(f"certify: expected a device or more and runs of different ids, got {device_count}, {ids}")
    runs = sorted(runs, key=lambda run: run.id)  # the choice among equal sets must not depend on their order
    best = _best(_attempts(runs, device_count, duration_s), 1 if device_count == 1 else 2)
    if best is None:
        return _without_load_test(runs, device_count)
    return _certificate(best, runs, device_count, _load_tests(runs, device_count)[0][0])


def _best(attempts: Iterable[_Attempt], stages_count: int) -> _Attempt | None:
    """Return the attempt of the highest rank, the first of equal ones; they come by falling load.

    So nothing behind the first attempt that shows everything ranks higher.
    """
    best: _Attempt | None = None
    for attempt in attempts:
        if best is None or attempt.rank > best.rank:
            best = attempt
        if best.rank[0] and len(best.stages) == stages_count:
            break
    return best


def _load_tests(runs: Runs, device_count: int) -> list[tuple[Fraction, CandidateRun]]:
    """Return the load tests that pass, by falling load; of equal loads in the order of the runs."""
    passing = (run for run in runs if run.device_count == device_count and run.outcome == PASS)
    known = [(nx, run) for run in passing if (nx := run.nx_load) is not None]
    return sorted(known, key=lambda test: -test[0])


def _attempts(runs: Runs, device_count: int, duration_s: int) -> Iterator[_Attempt]:
    """Yield every attempt that may be the best, by falling load."""
    if device_count == 1:
        yield from (_attempt((stage,)) for stage in _stages(runs, 1, duration_s))
        return
    alone: dict[Fraction, list[_Stage]] = defaultdict(list)
    for stage in _stages(runs, 1, duration_s):
        alone[stage.nx].append(stage)
    for together in _stages(runs, device_count, duration_s):
        of_same_load = alone.get(together.nx, [])
        yield from (_attempt((stage, together)) for stage in of_same_load)
        if not of_same_load:
            yield _attempt((together,))


def _attempt(stages: tuple[_Stage, ...]) -> _Attempt:
    """Join what the stages show each with what only all runs together show."""
    together = stages[-1]
    runs = [run for stage in stages for run in stage.runs]
    requirements = [requirement for stage in stages for requirement in stage.requirements]
    if together.device_count > 1:
        requirements.append(_alone_requirement(stages))
    requirements += [check(runs, together.device_count) for check in checks.OF_ALL_RUNS]
    return _Attempt(together.nx, stages, tuple(requirements))


def _alone_requirement(stages: tuple[_Stage, ...]) -> Requirement:
    """Return the requirement that, for several devices, one of them was tested alone at the same N."""
    if len(stages) == 1:
        sentence = f"a load test at {printed_nx(stages[0].nx)} with one of the drives alone is missing"
        return Requirement("load", 1, False, sentence)
    alone, together = stages
    return checks.check_includes(alone.runs, together.runs, together.device_count)


def _stages(runs: Runs, device_count: int, duration_s: int) -> Iterator[_Stage]:
    """Yield load tests that pass with stress tests, by falling load, the first of those that show the same."""
    stress_tests = StressTests(runs, device_count, duration_s)
    heaviest = sorted(runs, key=lambda run: run.nx_load or Fraction(0), reverse=True)
    tried = set()
    for nx, load in _load_tests(runs, device_count):
        like = (nx, likeness(load))
        if like in tried and nx:
            continue  # the first run of this kind shows the same
        tried.add(like)
        for stress in stress_tests.choices(load, nx) or (None,):
            yield _stage(load, nx, stress, heaviest, duration_s)


def _stage(load: CandidateRun, nx: Fraction, stress: CandidateRun | None, heaviest: Runs, duration_s: int) -> _Stage:
    device_count = load.device_count or 0
    tested = (load,) if stress is None else (load, stress)
    if stress is None:
        stressed = _stress_missing(load, nx, heaviest, duration_s)
    else:
        ran, required = printed_nx(stress.nx_load or Fraction(0)), printed_nx(STRESS_FACTOR * nx)
        sentence = f"stress test {stress.id} ran to completion at {ran}, {required} was required"
        stressed = Requirement("stress", device_count, True, sentence)
    requirements = (
        Requirement("load", device_count, True, f"load test {load.id} passes at {printed_nx(nx)}"),
        stressed,
        checks.check_drives(tested, device_count),
        checks.check_preparation(tested, device_count),
    )
    return _Stage(device_count, nx, load, stress, requirements)


def _stress_missing(load: CandidateRun, nx: Fraction, heaviest: Runs, duration_s: int) -> Requirement:
    """Return what the heaviest other runs lack; `heaviest` are all runs by falling load."""
    device_count, sentence = load.device_count or 0, f"a stress test at {printed_nx(STRESS_FACTOR * nx)} is missing"
    others = (run for run in heaviest if run is not load and run.device_count in {None, load.device_count})
    faults = [stress_shortcoming(run, nx, device_count, duration_s) for run in islice(others, NEAREST_COUNT)]
    found = tuple(fault for fault in faults if fault)
    if not found:
        sentence = f"{sentence}: there is no other run with as many devices"
    return Requirement("stress", device_count, False, sentence, found)


def _certificate(best: _Attempt, runs: Runs, device_count: int, highest: Fraction) -> Certificate:
    missing = tuple(each for each in best.requirements if not each.is_shown)
    firmwares = {drive.before.firmware for run in best.runs for drive in run.drives or () if drive.before}
    return Certificate(
        device_count=device_count,
        nx_load=None if missing else best.nx,
        attempted_nx=best.nx,
        run_ids=tuple(run.id for run in best.runs),
        firmware=None if missing else firmwares.pop(),
        present=tuple(each for each in best.requirements if each.is_shown),
        missing=missing,
        reasons=tuple(_reasons(best, runs, device_count, highest)),
    )


def _reasons(best: _Attempt, runs: Runs, device_count: int, highest: Fraction) -> Iterator[str]:
    """Yield what readers of the certificate should know, for example runs that failed at no higher a load."""
    if best.nx < highest:
        yield f"a load test passes at {printed_nx(highest)}, but what a certificate there needs is not all shown"
    wanted = STRESS_FACTOR * best.nx
    for stress in filter(None, (stage.stress for stage in best.stages)):
        if stress.nx_load and stress.nx_load > wanted:
            yield f"{stress.id} was heavier than {printed_nx(wanted)} and replaces it"
    for run in filter(attrgetter("coalesce_us"), best.runs):
        yield f"{run.id} submitted requests together that were due at most {run.coalesce_us} us apart"
    for run in runs:
        if run.outcome != FAIL or run.device_count != device_count or run.nx_load is None:
            continue
        if run.nx_load <= best.nx:
            yield f"{run.id} fails at {printed_nx(run.nx_load)}, though {best.stages[-1].load.id} passes: look at both"


def _without_load_test(runs: Runs, device_count: int) -> Certificate:
    tried = []
    for run in runs:
        if run.device_count is None:
            tried.append(f"{run.id}: how many devices is not known")
        elif run.device_count == device_count:
            tried.append(f"{run.id}: {'its load is not known' if run.outcome == PASS else run.outcome}")
    where = "one device" if device_count == 1 else f"{device_count} devices"
    sentence = f"no load test with {where} passes ({'; '.join(tried) or 'none was made'})"
    missing = (Requirement("load", device_count, False, sentence),)
    return Certificate(device_count, None, None, missing=missing)


def stress_shortcoming(run: CandidateRun, load: Fraction, device_count: int, duration_s: int) -> Shortcoming | None:
    """Return why a run is no stress test for a load of N; None if it is one.

    A heavier load than 2N does as well: the test requires only that the rate is sustained. A failing verdict does not
    matter ("regardless of the error rate"), an undecided or void one does: then the log does not show the required run.
    Source: aerospike/act README.md, tests 2 and 4.
    """
    if sentence := _devices_shortcoming(run, device_count):
        return Shortcoming(run.id, sentence)
    if run.departures:
        return Shortcoming(run.id, "differs from the profile", run.departures)
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
        self._groups: dict[Hashable, list[CandidateRun]] = defaultdict(list)  # of equal likeness, by rising load
        self._places_by_keys: dict[frozenset[str], set[Hashable]] = defaultdict(set)
        self._elsewhere: set[Hashable] = set()
        known = [run for run in runs if run.nx_load is not None and is_stress_like(run, device_count, duration_s)]
        for run in sorted(known, key=LOAD):  # stable: of equal loads the first id stays first
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
