"""What speaks so gravely against publishing a submission that a reviewer has to accept it sentence by sentence."""

from collections.abc import Iterable, Sequence

from results.models import Run, Submission
from results.seconds import is_withheld
from results.withheld_beside import findings_told
from webapp.submissions.sizes import first_names, size_sentences

VIRTUAL_RULE = "device-virtual"  # of docs/findings.md; it names the devices, each with what it is in brackets
SAYS_NOTHING = "a run on memory or on a file says nothing of a drive."
WITHHELD = "The log is withheld for legal reasons: whether its devices are the drive stated cannot be seen here."


def grave_sentences(submission: Submission, runs: Iterable[Run]) -> list[str]:
    """Return why the log may be of no drive, or of another one; none where nothing speaks against it.

    What a side file proves to be no drive is not published at all (results.life); a name alone is weighed here. Of a
    withheld log no device is named: the sentences stand in the run's history.
    """
    every = list(runs)
    if any(is_withheld(run) for run in every):
        return [WITHHELD]
    virtual = [run for run in every if run.facts.get("is_virtual_device")]
    named = sorted({name for run in virtual for name in _names_found(run)})
    if named:
        return [_no_drive(named), *size_sentences(submission, every)]
    names = sorted({name for run in virtual for name in _names(run)})
    return ([_no_drive_among(names)] if names else []) + size_sentences(submission, every)


def _no_drive(names: Sequence[str]) -> str:
    devices = "is no drive by its name" if len(names) == 1 else "are no drives by their names"
    return f"{first_names(names)} {devices}: {SAYS_NOTHING}"


def _no_drive_among(names: Sequence[str]) -> str:
    """Say it of devices of which nobody tells which one it is."""
    if len(names) == 1:
        return _no_drive(names)
    return f"Among {first_names(names)} is a device that is no drive by its name: {SAYS_NOTHING}"


def _names(run: Run) -> list[str]:
    return [device["name"] for device in run.facts.get("devices", [])]


def _names_found(run: Run) -> list[str]:
    """Return the devices that the reader found to be no drives by their names."""
    sentences = [f" {finding.sentence}" for finding in findings_told(run) if finding.rule_id == VIRTUAL_RULE]
    return [name for name in _names(run) if any(f" {name} (" in sentence for sentence in sentences)]
