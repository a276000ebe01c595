"""Comparability of runs: two runs compare if no condition is known to differ. Each pair is checked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from string import ascii_uppercase
from typing import Any

from results.models import Run
from results.rules.act.loads import printed_decimal
from results.rules.comparability import Difference, differences, is_weak, reasons_of
from webapp.register.comparability.conditions import Conditions, conditions_of
from webapp.register.tables.columns import BY_RULE, is_duration_assumed, is_taken_as_one
from webapp.templatetags import units

NAMES = {
    "workload": "Workload", "statistic": "Statistic", "time": "Time measured", "read_at_us": "Limits evaluated at",
    "asked_duration_s": "Duration", "slice_length_s": "Slices", "read_ratio": "Share of reads",
    "record_bytes": "Record size", "record_bytes_max": "Largest record", "large_block_bytes": "Large block",
    "compress_pct": "Data compresses to", "generator": "Generator", "arrivals": "Arrivals",
    "requests_together": "Requests that begin together", "engine": "Engine", "defrag_lwm_pct": "Defragmentation from",
    "defrag_reads": "Defragmentation reads", "update_pct": "Updates", "replication_factor": "Replication factor",
    "disable_odsync": "Writes without O_DSYNC", "commit_to_device": "Commit to device", "tomb_raider": "Tomb raider",
    "device_count": "Devices", "devices_per_drive": "Device names for each drive",
    "over_provisioning_pct": "Over-provisioned", "over_provisioned_to_pct": "Over-provisioned to",
    "pcie_link": "PCIe link", "tool": "Tool", "tool_version": "Version",
    "binding": "Binding", "options_sha256": "Other options", "phase": "Phase", "mix": "Mix of operations",
    "distribution": "Distribution of keys", "record_count": "Records", "operation_count": "Operations requested",
    "time_limit_s": "Time limit", "target_ops_per_s": "Target rate", "threads_counts": "Thread counts",
    "host": "Host", "is_defrag_active": "Defragmentation active", "fill_pct": "Fill level",
    "index_placement": "Index", "pending_limit": "Pending limit",
}  # fmt: skip
ASSUMED_NOTES = {"device_count": " (one drive assumed: not reported)", "asked_duration_s": BY_RULE}
NOT_REPORTED = "not reported"
NOT_STATED = "not stated"  # for a missing value in CSV and JSON files


@dataclass(frozen=True)
class Condition:
    """A condition: its value for each run as text, empty if not reported, and why a difference matters."""

    name: str
    label: str
    values: list[str]
    differs: bool
    is_unknown: bool
    why: str

    @property
    def sides(self) -> str:
        """Return the different values as text; for more than two runs, with the letters of the runs that have each."""
        texts = [value or NOT_REPORTED for value in self.values]
        if len(texts) == 2:
            return " and ".join(texts)
        having: dict[str, list[str]] = {}
        for letter, value in zip(ascii_uppercase, texts, strict=False):
            having.setdefault(value, []).append(letter)
        return "; ".join(f"{value} ({', '.join(letters)})" for value, letters in having.items())

    @property
    def exported(self) -> list[str]:
        """Return the values as text for CSV and JSON files."""
        return [value or NOT_STATED for value in self.values]


@dataclass(frozen=True)
class RunConditions:
    """A run with its conditions."""

    run: Run
    conditions: Conditions


def conditions_of_runs(runs: Iterable[Run]) -> list[RunConditions]:
    """Return runs with their conditions."""
    return [RunConditions(run, conditions_of(run)) for run in runs]


def are_comparable(first: RunConditions, second: RunConditions) -> bool:
    """Return whether no condition is known to differ between two runs."""
    return type(first.conditions) is type(second.conditions) and not known_differences(first, second)


def known_differences(first: RunConditions, second: RunConditions) -> list[Difference]:
    """Return the conditions that two runs of one kind both report, and that differ."""
    return [each for each in differences(first.conditions, second.conditions) if not each.is_unknown]


def are_all_comparable(runs: Sequence[RunConditions]) -> bool:
    """Return whether every two of the runs compare."""
    return all(are_comparable(first, second) for place, first in enumerate(runs) for second in runs[place + 1 :])


def grey_flags(runs: Sequence[RunConditions]) -> list[bool]:
    """Return for each run whether it does not compare with the runs before it that do compare with each other."""
    together: list[RunConditions] = []
    flags = []
    for run in runs:
        flags.append(not all(are_comparable(each, run) for each in together))
        together += [] if flags[-1] else [run]
    return flags


def condition_rows(runs: Sequence[RunConditions]) -> list[Condition]:
    """Return all conditions that a run reports: first those that differ, then those that not every run reports."""
    if len({type(each.conditions) for each in runs}) > 1:
        workloads, why = [each.run.workload for each in runs], "different workloads have no figures in common"
        return [Condition("workload", NAMES["workload"], workloads, True, False, why)]
    rows = [_row(name, why, runs) for name, why in reasons_of(type(runs[0].conditions)).items()]
    reported = [row for row in rows if any(row.values)]
    return sorted(reported, key=lambda row: (not row.differs, not row.is_unknown))


def _row(name: str, why: str, runs: Sequence[RunConditions]) -> Condition:
    values = [getattr(each.conditions, name) for each in runs]
    known = [value for value in values if value is not None]
    differs = any(value != known[0] for value in known)
    texts = ["" if value is None else value_text(name, value) for value in values]
    note = ASSUMED_NOTES.get(name, "")
    texts = [text + (note if _is_assumed(name, each) else "") for text, each in zip(texts, runs, strict=True)]
    is_unknown = any(_is_unreported(name, each) for each in runs)
    return Condition(name, NAMES[name], texts, differs, is_unknown, why)


def _is_unreported(name: str, each: RunConditions) -> bool:
    """Return whether a run does not report a condition; an assumed number of devices or duration is not reported."""
    return getattr(each.conditions, name) is None or _is_assumed(name, each)


def _is_assumed(name: str, each: RunConditions) -> bool:
    if name == "device_count":
        return is_taken_as_one(each.run)
    return name == "asked_duration_s" and is_duration_assumed(each.run)


@dataclass(frozen=True)
class Unreported:
    """Unreported conditions: their labels, how many each run does not report, and the number of all conditions."""

    labels: list[str]
    by_run: list[int]
    conditions: int

    @property
    def is_weak(self) -> bool:
        """Return whether the runs compare mainly because conditions are not reported."""
        return is_weak(len(self.labels), self.conditions)


def unreported_conditions(runs: Sequence[RunConditions]) -> Unreported:
    """Return the conditions that not every run reports; none for different workloads, which share no condition."""
    if not runs or len({type(each.conditions) for each in runs}) > 1:
        return Unreported([], [0] * len(runs), 0)
    names = [each.name for each in fields(runs[0].conditions)]
    by_run = [[name for name in names if _is_unreported(name, each)] for each in runs]
    open_names = {name for missing in by_run for name in missing}
    labels = [NAMES[name] for name in names if name in open_names]
    return Unreported(labels, [len(missing) for missing in by_run], len(names))


def value_text(name: str, value: Any) -> str:
    """Return a condition as text for a page."""
    if value is None:
        return NOT_REPORTED
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(
            f"{each[0]} {units.decimal(each[1])}" if isinstance(each, tuple) else units.threshold(each)
            for each in value
        )
    return _unit(name, value) or _number(value)


def _unit(name: str, value: Any) -> str:
    if name.endswith("_s") and isinstance(value, int) and not name.endswith("per_s"):
        return units.duration(value)
    if name.endswith("_bytes") or name == "record_bytes_max":
        return f"{units.count(value)}{units.NBSP}bytes"
    if name.endswith("_pct"):
        return f"{_number(value)}{units.NBSP}%"
    return ""


def _number(value: Any) -> str:
    if isinstance(value, Fraction):
        return printed_decimal(value, 3)
    if isinstance(value, Decimal):
        return units.decimal(value)
    return units.count(value) if isinstance(value, int) else str(value)
