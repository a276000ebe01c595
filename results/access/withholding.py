"""Withheld logs: what the register hides from every reader, its reviewers too, if a file of a log is withheld.

A file is withheld for one of two causes: it is sequestered for legal reasons, or hidden on request of its sender
(results/lifecycle/hidden_files.py). The rows do not record which file a value came from. If one file is withheld,
everything that may come from a companion file is hidden from all readers. The figures of the log itself stay.
"""

import copy
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from decimal import Decimal
from typing import Any

from django.db import models

from results.history import ACCEPTED_WARNINGS
from results.models import Event, Evidence, Finding, Reading, Run, Statistic, Submission, Verdict, Visibility, YcsbRun
from results.rules.plural import listed

# Values that YCSB prints on standard error or in its properties. Workload, phase, binding and threads stay: they
# identify the load of the figures.
YCSB_REDACTIONS: Mapping[str, Any] = {
    "command_line": "", "properties": [], "reasons": [], "record_count": None, "operation_count": None,
    "time_limit_s": None, "target_ops_per_s": None,
}  # fmt: skip
REEVALUATED = "run-judged-anew"  # its details contain headlines
PLACES_SHOWN = range(2, 10)  # crates/logs/src/judge/share.rs, PLACES_SHOWN_MAX


class Cause(models.TextChoices):
    """Why a file is withheld. The legal cause is stated if a file has both."""

    LEGAL = "legal", "for legal reasons"
    REQUEST = "request", "on request of its sender"


class WithheldError(Exception):
    """The log is withheld for legal reasons: nothing is read out of it any more."""


class HiddenError(WithheldError):
    """The log or a file that came with it is hidden on request of its sender."""


class SequesteredError(WithheldError):
    """The whole run is withheld for legal reasons."""

    def __init__(self, run: Run) -> None:
        super().__init__(f"Run {run.public_id} is withheld for legal reasons. The register still stores it.")
        self.run = run


def is_sequestered(run: Run) -> bool:
    """Return whether the whole run is withheld by a takedown (results/lifecycle/takedowns.py)."""
    return run.visibility == Visibility.SEQUESTERED


def refuse_sequestered(run: Run) -> None:
    """Raise SequesteredError if the whole run is withheld."""
    if is_sequestered(run):
        raise SequesteredError(run)


def is_withheld(run: Run) -> bool:
    """Return whether the run's log is withheld; its intervals are then hidden from everyone."""
    return run.reading is not None and run.reading.evidence.is_withheld


def cause_of_log(run: Run) -> Cause:
    """Return why the log of a run is withheld."""
    return Cause.LEGAL if run.reading is not None and run.reading.evidence.sequestered else Cause.REQUEST


def cause_of_files(run: Run) -> Cause:
    """Return why the log, its side file or a companion of it is withheld."""
    return Cause.LEGAL if Run.objects.filter(pk=run.pk).with_sequestered_file().exists() else Cause.REQUEST


def cause_of_file(run: Run, evidence: Evidence) -> Cause:
    """Return why one file of a run is withheld."""
    return Cause.LEGAL if evidence.sequestered else cause_of_log(run)


def is_file_withheld(run: Run, evidence: Evidence) -> bool:
    """Return whether a file of the run is withheld. All its files repeat content of its log."""
    return evidence.is_withheld or is_withheld(run)


def refuse_withheld(run: Run) -> None:
    """Raise WithheldError if the log is withheld: its intervals would reproduce the log."""
    if is_withheld(run):
        raise _withheld_error(cause_of_log(run), f"The log of run {run.public_id} is")


def _withheld_error(cause: Cause, subject: str) -> WithheldError:
    kind = WithheldError if cause == Cause.LEGAL else HiddenError
    return kind(f"{subject} withheld {cause.label}. The register still stores it.")


def has_withheld_file(run: Run) -> bool:
    """Return whether the log, its side file or a companion of it is withheld.

    Lists query their runs with RunQuerySet.with_withheld_flag(); otherwise this function makes a query for each run.
    """
    if is_withheld(run):
        return True
    if run.submission_id is None:
        return False
    known = getattr(run, "has_withheld_attachment", None)
    return Run.objects.filter(pk=run.pk).withheld().exists() if known is None else bool(known)


def refuse_withheld_file(run: Run) -> None:
    """Raise WithheldError if the log or one of its companion files is withheld."""
    if has_withheld_file(run):
        raise _withheld_error(cause_of_files(run), f"A file of run {run.public_id} is")


def visible_facts(run: Run, name: str) -> Mapping[str, Any]:
    """Return a part of a run's facts that comes from a side file; empty if missing or withheld."""
    visible: Mapping[str, Any] = run.facts.get(name) or {}
    return {} if visible and has_withheld_file(run) else visible


def visible_findings(run: Run) -> list[Finding]:
    """Return a run's findings; none if a withheld file may be quoted in them."""
    findings = list(run.findings.all())
    return [] if findings and has_withheld_file(run) else findings


def visible_reading_findings(submission: Submission, reading: Reading) -> list[dict[str, Any]]:
    """Return the findings on a whole file as received; none if a withheld file may be quoted in them."""
    findings: list[dict[str, Any]] = reading.findings
    if findings and submission.runs.filter(visibility=Visibility.SEQUESTERED).exists():
        return []
    return [] if findings and any(evidence.is_withheld for evidence in files_of(submission)) else findings


def files_of(submission: Submission) -> list[Evidence]:
    """Return the stored files of a submission, each once: its log, its companions, and the side file of a lab."""
    companions = [companion.evidence for companion in submission.companions.all()]
    side_file = [submission.side_file] if submission.side_file is not None else []
    return list({evidence.pk: evidence for evidence in [submission.log, *companions, *side_file]}.values())


def visible_reading_error(submission: Submission, reading: Reading) -> dict[str, Any] | None:
    """Return the error of a reading; only its id if a withheld file may be quoted in it."""
    error: dict[str, Any] | None = reading.error
    if error is None or not any(evidence.is_withheld for evidence in files_of(submission)):
        return error
    return {"id": error.get("id", ""), "sentence": "The register could not read the log. A file of it is withheld."}


def visible_name(evidence: Evidence) -> str:
    """Return the name of a stored file; "" if it is hidden on request of its sender."""
    return "" if evidence.hidden else evidence.filename


def visible_member(run: Run) -> str:
    """Return the name of a run's log in its archive; "" without one, and for a hidden archive."""
    return "" if run.reading is not None and run.reading.evidence.hidden else run.member


def visible_verdict(run: Run, verdict: Verdict) -> Verdict:
    """Return the verdict, or a copy with only the outcome and the figures of the log."""
    if not has_withheld_file(run):
        return verdict
    visible = copy.copy(verdict)
    visible.headline = log_headline(verdict)
    visible.document = verdict.document | {"headline": visible.headline, "reasons": [], "exact": None}
    return visible


def log_headline(verdict: Verdict) -> str:
    """Return the outcome with the shares of the log, without the parts of the headline that quote other files."""
    word, document = Verdict.Outcome(verdict.outcome).label, verdict.document
    if verdict.outcome == Verdict.Outcome.PASS:
        shares = (share for share in document["shares"] if share["statistic"] == Statistic.WORST_SLICE)
        parts = [f"{share['share_pct']} % over {_time(share['threshold_us'])}" for share in shares]
        return f"{word}: at most {listed(parts)} of reads"
    if verdict.outcome != Verdict.Outcome.FAIL or not document["violations"]:
        return word
    first = document["violations"][0]
    over = f"reads over {_time(first['threshold_us'])}: {_shown_over(first)} % > {first['limit_pct']} %"
    others = {each["threshold_us"] for each in document["violations"]} - {first["threshold_us"]}
    also = f"; also over {listed([_time(each) for each in sorted(others)])}" if others else ""
    return f"{word}: slice {first['slice']}, {over}{also}"


def _shown_over(violation: Mapping[str, Any]) -> str:
    """Return the share with two or more places, as many as show that it exceeds its limit, as drivetest prints it."""
    share_pct = violation["over_count"] * 100.0 / violation["ops_count"]
    texts = (f"{share_pct:.{places}f}" for places in PLACES_SHOWN)
    limit_pct = Decimal(violation["limit_pct"])
    return next((text for text in texts if Decimal(text) > limit_pct), str(violation["share_pct"]))


def _time(us: int) -> str:
    return f"{us // 1000} ms" if us % 1000 == 0 else f"{us} us"


def visible_events(events: Iterable[Event]) -> list[Event]:
    """Return events of runs without headlines and device warnings of withheld files."""
    visible = list(events)
    withheld = _withheld_of(
        {event.subject_id for event in visible if event.kind == REEVALUATED or ACCEPTED_WARNINGS in event.details}
    )
    return [_without_sentences(event) if event.subject_id in withheld else event for event in visible]


def _without_sentences(event: Event) -> Event:
    visible = copy.copy(event)
    visible.details = {name: value for name, value in event.details.items() if name != ACCEPTED_WARNINGS}
    if event.kind == REEVALUATED:
        visible.details |= {"before": "", "after": ""}
    return visible


def attempt_sentences(attempt: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the sentences about an attempt at a certificate: the requirements present and missing, and the reasons."""
    return {
        "present": [requirement["sentence"] for requirement in attempt["present"]],
        "missing": _missing_sentences(attempt),
        "reasons": attempt["reasons"],
    }


def _missing_sentences(attempt: Mapping[str, Any]) -> list[str]:
    """Return what an attempt at a certificate lacks, each once, without the departures of runs with withheld files."""
    missing = attempt["missing"]
    departing = {each["run_id"] for one in missing for each in one.get("shortcomings", ()) if each["departures"]}
    withheld = _withheld_of(departing)
    return list(dict.fromkeys(_requirement_sentence(requirement, withheld) for requirement in missing))


def _requirement_sentence(requirement: Mapping[str, Any], withheld: AbstractSet[str]) -> str:
    faults = []
    for each in requirement.get("shortcomings", ()):
        departures = () if each["run_id"] in withheld else each["departures"]
        faults.append(f"{each['run_id']} {each['sentence']}" + (f": {'; '.join(departures)}" if departures else ""))
    return f"{requirement['sentence']}: {'; '.join(faults)}" if faults else str(requirement["sentence"])


def _withheld_of(public_ids: AbstractSet[str]) -> set[str]:
    if not public_ids:
        return set()
    return set(Run.objects.filter(public_id__in=public_ids).withheld().values_list("public_id", flat=True))


def visible_ycsb(run: Run) -> YcsbRun:
    """Return the YCSB facts of a run, or a copy without the values that may come from a withheld companion file."""
    if not has_withheld_file(run):
        return run.ycsb
    visible = copy.copy(run.ycsb)
    for name, empty in YCSB_REDACTIONS.items():
        setattr(visible, name, empty)
    return visible
