"""Whether what came out of the files beside a log is shown: of a sequestered file nothing is, to nobody.

What was read out of one of them, and what out of another or of the log, the rows do not tell: where one file is
sequestered, all that may come from beside the log is kept back. The log's own figures stay.
"""

import copy
import json
import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from results.models import Event, Finding, Reading, Run, Submission, Verdict, YcsbRun

# What YCSB tells on its standard error or in its properties, none of it in the output with the figures. Workload,
# phase, binding and threads stay: they name the load that the figures are filed under.
OF_YCSB_BESIDE: Mapping[str, Any] = {
    "command_line": "", "properties": [], "reasons": [], "record_count": None, "operation_count": None,
    "time_limit_s": None, "target_ops_per_s": None,
}  # fmt: skip
# What a headline tells of the log's own shares (drivetest, judge/headline.rs): a doubt of the host comes after it, and
# why a verdict is undecided or void may be a sentence of a file beside.
OF_THE_LOG = re.compile(r"passes: at most [^;]*|fails: slice [^;]*(?:; also over [^;]*)?")
JUDGED_ANEW = "run-judged-anew"  # its details are headlines
WARNINGS = "in_spite_of"  # sentences on devices, in the details of a publication
DEPARTURES = re.compile(r"(r-[0-9a-z]+) is not what the profile asks: ")  # results/rules/certification/stress.py


class WithheldError(Exception):
    """The log is sequestered: nothing is read out of it any more."""


def is_withheld(run: Run) -> bool:
    """Tell whether the run's log is sequestered: then its intervals are not shown either, to nobody."""
    return run.reading is not None and run.reading.evidence.sequestered


def refuse_withheld(run: Run) -> None:
    """Raise WithheldError where the log is sequestered: interval by interval, what was read of it is the log again."""
    if is_withheld(run):
        raise WithheldError(f"The log of run {run.public_id} is withheld for legal reasons. Its bytes are kept.")


def has_withheld_file(run: Run) -> bool:
    """Tell whether the log, its side file or a companion of it is sequestered.

    Lists ask for their runs with RunQuerySet.with_withheld_flag(): else this is a query for each run.
    """
    if is_withheld(run):
        return True
    if run.submission_id is None:
        return False
    known = getattr(run, "has_withheld_attachment", None)
    return Run.objects.filter(pk=run.pk).withheld().exists() if known is None else bool(known)


def refuse_withheld_file(run: Run) -> None:
    """Raise WithheldError where what came from beside the log is kept back."""
    if has_withheld_file(run):
        raise WithheldError(f"What came beside the log of run {run.public_id} is withheld for legal reasons.")


def visible_facts(run: Run, name: str) -> Mapping[str, Any]:
    """Return a part of a run's facts that a side file told; empty where it told none, or is kept back."""
    told: Mapping[str, Any] = run.facts.get(name) or {}
    return {} if told and has_withheld_file(run) else told


def visible_findings(run: Run) -> list[Finding]:
    """Return a run's findings; none where their sentences may be of a file that is kept back."""
    findings = list(run.findings.all())
    return [] if findings and has_withheld_file(run) else findings


def visible_reading_findings(submission: Submission, reading: Reading) -> list[dict[str, Any]]:
    """Return the findings on a whole file as received; none where they may be of a file that is kept back."""
    findings: list[dict[str, Any]] = reading.findings
    return [] if findings and _is_withheld_of(submission) else findings


def _is_withheld_of(submission: Submission) -> bool:
    beside = [companion.evidence for companion in submission.companions.all()]
    files = [submission.log, submission.side_file, *beside]
    return any(evidence is not None and evidence.sequestered for evidence in files)


def visible_verdict(run: Run, verdict: Verdict) -> Verdict:
    """Return what is told of a verdict: the row itself, or a copy with outcome and figures of the log alone."""
    if not has_withheld_file(run):
        return verdict
    told = copy.copy(verdict)
    of_the_log = OF_THE_LOG.match(verdict.headline)
    told.headline = of_the_log[0] if of_the_log else verdict.headline.partition(":")[0]
    told.document = verdict.document | {"headline": told.headline, "reasons": [], "exact": None}
    return told


def visible_events(events: Iterable[Event]) -> list[Event]:
    """Return events of runs without what is kept back: headlines, and warnings that name the devices of a log."""
    told = list(events)
    withheld = _withheld_of(
        {event.subject_id for event in told if event.kind == JUDGED_ANEW or WARNINGS in event.details}
    )
    return [_without_words(event) if event.subject_id in withheld else event for event in told]


def _without_words(event: Event) -> Event:
    told = copy.copy(event)
    told.details = {name: value for name, value in event.details.items() if name != WARNINGS}
    if event.kind == JUDGED_ANEW:
        told.details |= {"before": "", "after": ""}
    return told


def redacted_requirements(document: Any) -> Any:
    """Return what rules said of certificates, without the reasons of a run whose sentences are kept back."""
    withheld = _withheld_of(set(DEPARTURES.findall(json.dumps(document, ensure_ascii=False))))
    return _without_departures(document, withheld) if withheld else document


def _without_departures(document: Any, withheld: AbstractSet[str]) -> Any:
    if isinstance(document, Mapping):
        return {name: _without_departures(value, withheld) for name, value in document.items()}
    if isinstance(document, list | tuple):
        return [_without_departures(each, withheld) for each in document]
    if not isinstance(document, str):
        return document
    ends = (found.end() - len(": ") for found in DEPARTURES.finditer(document) if found[1] in withheld)
    return document[: next(ends, None)]


def _withheld_of(public_ids: AbstractSet[str]) -> set[str]:
    if not public_ids:
        return set()
    return set(Run.objects.filter(public_id__in=public_ids).withheld().values_list("public_id", flat=True))


def visible_ycsb(run: Run) -> YcsbRun:
    """Return what is told of a run of YCSB: the row itself, or a copy without what may come from beside the output."""
    if not has_withheld_file(run):
        return run.ycsb
    told = copy.copy(run.ycsb)
    for name, empty in OF_YCSB_BESIDE.items():
        setattr(told, name, empty)
    return told
