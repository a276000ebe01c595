"""Virtual devices of runs: memory and files, which are not physical drives."""

import re
from collections.abc import Iterable, Sequence

from results.access.withholding import has_withheld_file, is_withheld, visible_findings
from results.models import Run
from webapp.templatetags import units

# Also for a run on three drives and one virtual device.
VIRTUAL_DEVICE_MARK = "measured with a virtual device"
VIRTUAL_DEVICE_REASON = "a run that used memory or a file says nothing about a drive"
DEMO_TITLE = "Example run on a loop device"
DEMO_LABEL = "demonstration: a loop device, not a drive"
VIRTUAL_RULE = "device-virtual"  # of docs/reference/findings.md
# As crates/logs/src/act/checks/device_names.rs: a loop device, memory, or a file.
VIRTUAL_NAME = re.compile(r"/dev/(?:loop|z?ram)[0-9].*|(?!/dev/)[/.].*")
NAMED_AT_MOST = 8  # devices in one sentence


def virtual_devices_sentence(runs: Iterable[Run]) -> str:
    """Return which devices of some runs are virtual, without the full stop; empty if none is known to be."""
    virtual = [run for run in runs if run.facts.get("is_virtual_device")]
    found = sorted({name for run in virtual for name in _virtual_names(run)})
    if found:
        return _not_drives(found)
    candidates = sorted({name for run in virtual for name in _names(run)})
    return _one_not_a_drive(candidates) if candidates else ""


def public_virtual_devices_sentence(run: Run) -> str:
    """Return the sentence for public pages: empty if the run's log or an attached file is withheld."""
    return "" if is_withheld(run) or has_withheld_file(run) else virtual_devices_sentence([run])


def first_names(names: Sequence[str]) -> str:
    """Return the first devices by name, and how many more there are."""
    more = f" and {units.count(len(names) - NAMED_AT_MOST)} more" if len(names) > NAMED_AT_MOST else ""
    return f"{', '.join(names[:NAMED_AT_MOST])}{more}"


def _not_drives(names: Sequence[str]) -> str:
    return f"{first_names(names)} {'is not a physical drive' if len(names) == 1 else 'are not physical drives'}"


def _one_not_a_drive(names: Sequence[str]) -> str:
    """Return the sentence if only the side file reports a virtual device, without its name."""
    if len(names) == 1:
        return _not_drives(names)
    return f"One of {first_names(names)} is not a physical drive"


def _names(run: Run) -> list[str]:
    return [device["name"] for device in run.facts.get("devices", [])]


def _virtual_names(run: Run) -> list[str]:
    """Return the devices that are virtual by their names, if the reader reported a virtual device."""
    is_reported = any(finding.rule_id == VIRTUAL_RULE for finding in visible_findings(run))
    return [name for name in _names(run) if VIRTUAL_NAME.fullmatch(name)] if is_reported else []
