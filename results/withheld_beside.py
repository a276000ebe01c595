"""Whether what came out of the files beside a log is shown: of a sequestered file nothing is, to nobody.

What was read out of one of them, and what out of another or of the log, the rows do not tell: where one file is
sequestered, all that may come from beside the log is kept back. The log's own figures stay.
"""

import copy
from collections.abc import Mapping
from typing import Any

from results.models import Finding, Run, YcsbRun
from results.seconds import WithheldError, is_withheld

# What YCSB tells on its standard error or in its properties, none of it in the output with the figures. Workload,
# phase, binding and threads stay: they name the load that the figures are filed under.
OF_YCSB_BESIDE: Mapping[str, Any] = {
    "command_line": "", "properties": [], "reasons": [], "record_count": None, "operation_count": None,
    "time_limit_s": None, "target_ops_per_s": None,
}  # fmt: skip


def is_beside_withheld(run: Run) -> bool:
    """Tell whether the log, its side file or a companion of it is sequestered.

    Lists ask for their runs with RunQuerySet.knowing_withheld(): else this is a query for each run.
    """
    if is_withheld(run):
        return True
    if run.submission_id is None:
        return False
    known = getattr(run, "has_withheld_beside", None)
    return Run.objects.filter(pk=run.pk).withheld().exists() if known is None else bool(known)


def refuse_withheld_beside(run: Run) -> None:
    """Raise WithheldError where what came from beside the log is kept back."""
    if is_beside_withheld(run):
        raise WithheldError(f"What came beside the log of run {run.public_id} is withheld for legal reasons.")


def told_beside(run: Run, name: str) -> Mapping[str, Any]:
    """Return a part of a run's facts that a side file told; empty where it told none, or is kept back."""
    told: Mapping[str, Any] = run.facts.get(name) or {}
    return {} if told and is_beside_withheld(run) else told


def findings_told(run: Run) -> list[Finding]:
    """Return a run's findings; none where their sentences may be of a file that is kept back."""
    findings = list(run.findings.all())
    return [] if findings and is_beside_withheld(run) else findings


def ycsb_told(run: Run) -> YcsbRun:
    """Return what is told of a run of YCSB: the row itself, or a copy without what may come from beside the output."""
    if not is_beside_withheld(run):
        return run.ycsb
    told = copy.copy(run.ycsb)
    for name, empty in OF_YCSB_BESIDE.items():
        setattr(told, name, empty)
    return told
