"""Devices of a run that are no drives by their names: memory, files."""

from collections.abc import Iterable, Sequence

from results.access.intervals import is_withheld
from results.access.redaction import has_withheld_file, visible_findings
from results.models import Run
from webapp.templatetags import units

# Of a run, wherever it stands: true also where three drives ran beside one device that is none.
NOT_ON_DRIVES = "not measured on drives alone"
SAYS_NOTHING = "a run that memory or a file took part in says nothing of a drive"
VIRTUAL_RULE = "device-virtual"  # of docs/findings.md; it names the devices, each with what it is in brackets
NAMED_AT_MOST = 8  # devices in one sentence


def no_drives_words(runs: Iterable[Run]) -> str:
    """Say which devices of some runs are no drives by their names; nothing where all are drives, as far as is told."""
    virtual = [run for run in runs if run.facts.get("is_virtual_device")]
    found = sorted({name for run in virtual for name in _names_found(run)})
    if found:
        return _no_drive(found)
    among = sorted({name for run in virtual for name in _names(run)})
    return _no_drive_among(among) if among else ""


def told_no_drives_words(run: Run) -> str:
    """Say it of one run to everybody: nothing where its log, or a file beside it, is withheld."""
    return "" if is_withheld(run) or has_withheld_file(run) else no_drives_words([run])


def first_names(names: Sequence[str]) -> str:
    """Return the first devices by name, and how many more there are."""
    more = f" and {units.count(len(names) - NAMED_AT_MOST)} more" if len(names) > NAMED_AT_MOST else ""
    return f"{', '.join(names[:NAMED_AT_MOST])}{more}"


def _no_drive(names: Sequence[str]) -> str:
    return f"{first_names(names)} {'is no drive by its name' if len(names) == 1 else 'are no drives by their names'}"


def _no_drive_among(names: Sequence[str]) -> str:
    """Say it of devices of which nobody tells which one it is."""
    if len(names) == 1:
        return _no_drive(names)
    return f"Among {first_names(names)} is a device that is no drive by its name"


def _names(run: Run) -> list[str]:
    return [device["name"] for device in run.facts.get("devices", [])]


def _names_found(run: Run) -> list[str]:
    """Return the devices that the reader found to be no drives by their names."""
    sentences = [f" {finding.sentence}" for finding in visible_findings(run) if finding.rule_id == VIRTUAL_RULE]
    return [name for name in _names(run) if any(f" {name} (" in sentence for sentence in sentences)]
