"""What one result shows of the requirements of a certificate, and what is missing: each as found, and as needed."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from results.certification.certificates import candidate_result
from results.models import RATED_WORKLOAD, Certificate, Profile, Run, Verdict, Visibility
from results.rules.act.loads import printed_nx
from results.rules.certification.certify import STRESS_FACTOR
from results.rules.certification.facts import CandidateRun
from results.rules.certification.single_result import (
    DEVICES,
    DURATION,
    LOAD,
    RATES,
    met_by_result,
    requirements_on_drives,
)
from webapp.register.tables.columns import duration_text, is_duration_assumed, is_taken_as_one
from webapp.templatetags import units

NOT_REPORTED = "not reported"
SAME_STATE = "the same before and after each run"
REAL = "real-drives"
ANOTHER_RUN = "needs another run"
# By the ids of the requirements (docs/reference/statistics.md): the name, and what is needed.
OF_RESULT = {
    LOAD: ("Load test", "a log that passes"),
    DURATION: ("Duration", "{duration}"),
    DEVICES: ("Number of devices", "a reported number"),
    RATES: ("Load", "reads and writes per second"),
}
OF_DRIVES = {
    REAL: ("Real drive", "shown by the log or the lab"),
    "drives": ("Identity", "the tested drive, by model and serial number"),
    "preparation": ("Preparation", "one before both tests, with evidence"),
    "firmware": ("Firmware", SAME_STATE),
    "over-provisioning": ("Over-provisioning", SAME_STATE),
}


@dataclass(frozen=True)
class RequirementLine:
    """One requirement: what was found, and what is needed."""

    name: str
    found: str
    needed: str
    is_met: bool
    is_assumed: bool = False  # the source's rule meets it, but the row does not state it


@dataclass(frozen=True)
class ResultRequirements:
    """The requirements that one result meets, and those that are missing, under a profile."""

    run: Run
    profile: Profile
    duration_s: int
    lines: tuple[RequirementLine, ...]

    @property
    def met(self) -> list[RequirementLine]:
        """Return the lines of the requirements that are met."""
        return [line for line in self.lines if line.is_met and not line.is_assumed]

    @property
    def assumed(self) -> list[RequirementLine]:
        """Return the lines of the requirements that are met only if an assumption is true."""
        return [line for line in self.lines if line.is_met and line.is_assumed]

    @property
    def missing(self) -> list[RequirementLine]:
        """Return the lines of the requirements that are missing."""
        return [line for line in self.lines if not line.is_met]


def requirements_of_run(run: Run) -> ResultRequirements | None:
    """Return the requirements for the page of a run; None if its drive is certified, or if the run cannot count.

    An example run shows them as a run of a drive does.
    """
    if run.is_demo:
        return requirements_view(run)
    if run.product is None or run.visibility != Visibility.PUBLIC or run.workload != RATED_WORKLOAD:
        return None
    if Certificate.objects.current().filter(product=run.product).exists():
        return None
    return requirements_view(run)


def requirements_view(run: Run) -> ResultRequirements:
    """Return the requirements for one result."""
    profile, candidate = candidate_result(run)
    duration_s: int = json.loads(profile.document)["duration_s"]
    lasts = units.duration(duration_s)
    lines = (
        *_result_lines(run, candidate, duration_s),
        *_drive_lines(run, candidate),
        *_other_run_lines(candidate, lasts),
    )
    return ResultRequirements(run, profile, duration_s, lines)


def _result_lines(run: Run, candidate: CandidateRun, duration_s: int) -> Iterator[RequirementLine]:
    found = {
        LOAD: _outcome(run, candidate),
        DURATION: duration_text(run) or NOT_REPORTED,
        DEVICES: _devices(run),
        RATES: _load(run, candidate),
    }
    for name, is_met in met_by_result(candidate, duration_s).items():
        label, needed = OF_RESULT[name]
        lasts, is_assumed = units.duration(duration_s), name == DURATION and is_duration_assumed(run)
        yield RequirementLine(label, found[name], needed.format(duration=lasts), is_met, is_assumed)


def _outcome(run: Run, candidate: CandidateRun) -> str:
    if candidate.outcome:
        return str(Verdict.Outcome(candidate.outcome).label)
    return "no log" if run.reading_id is None else "no verdict"


def _devices(run: Run) -> str:
    if run.device_count:
        return units.count(run.device_count)
    return f"{NOT_REPORTED}; counted as one" if is_taken_as_one(run) else NOT_REPORTED


def _load(run: Run, candidate: CandidateRun) -> str:
    if run.reads_per_s is None or run.writes_per_s is None:
        return f"{units.decimal(run.tps)} tps; reads and writes not reported" if run.tps else NOT_REPORTED
    rates = f"{units.decimal(run.reads_per_s)} reads/s and {units.decimal(run.writes_per_s)} writes/s"
    return rates if candidate.nx_load is None else f"{printed_nx(candidate.nx_load)}, {rates}"


def _drive_lines(run: Run, candidate: CandidateRun) -> Iterator[RequirementLine]:
    """Yield the requirements on the drives, by the records of them; without records, as stated for the whole run."""
    over_provisioned = units.with_unit(units.decimal(run.over_provisioning_pct), "%")
    stated = {"firmware": run.firmware, "over-provisioning": over_provisioned}
    for requirement in requirements_on_drives(candidate):
        label, needed = OF_DRIVES[requirement.id]
        if requirement.id == REAL and candidate.outcome:
            found = "yes" if requirement.is_shown else requirement.sentence
        elif candidate.drives:
            found = requirement.sentence
        elif value := stated.get(requirement.id):
            found = f"{value} as stated, without a record before and after the run"
        else:
            found = NOT_REPORTED
        yield RequirementLine(label, found, needed, requirement.is_shown)


def _other_run_lines(candidate: CandidateRun, lasts: str) -> Iterator[RequirementLine]:
    """Yield the requirements on other runs, which no single result meets: a stress test, and one device alone."""
    at = "twice the load" if candidate.nx_load is None else printed_nx(STRESS_FACTOR * candidate.nx_load)
    yield RequirementLine("Stress test", ANOTHER_RUN, f"{at} for {lasts} to its end, on the same drive", is_met=False)
    if (candidate.device_count or 1) > 1:
        yield RequirementLine("One device alone", ANOTHER_RUN, "both tests at the same load", is_met=False)
