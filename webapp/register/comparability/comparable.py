"""Which of several runs compare: those of which no condition is known to differ. Each pair is asked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from string import ascii_uppercase
from typing import Any

from results.models import Run
from results.rules.act.loads import printed_decimal
from results.rules.comparability import is_weak
from results.rules.differences import WHY, Difference, differences
from webapp.register.comparability.conditions import Conditions, conditions_of
from webapp.register.tables.columns import is_taken_as_one
from webapp.templatetags import units

NAMES = {
    "workload": "Workload", "statistic": "Statistic", "time": "Time measured", "read_at_us": "Thresholds read at",
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
    "distribution": "Distribution of keys", "record_count": "Records", "operation_count": "Operations asked",
    "time_limit_s": "Time limit", "target_ops_per_s": "Target rate", "threads_counts": "Thread counts",
    "host": "Host", "is_defrag_active": "Defragmentation active", "fill_pct": "Fill level",
    "index_placement": "Index", "pending_limit": "Pending limit",
}  # fmt: skip
NOT_STATED = "not stated"


@dataclass(frozen=True)
class Condition:
    """A condition of all runs, value by value as text; `differs` where two known values do, `why` what that does."""

    name: str
    label: str
    values: list[str]
    differs: bool
    is_unknown: bool
    why: str

    @property
    def sides(self) -> str:
        """Which value stands against which; of more than two runs with the letters of those that have it."""
        if len(self.values) == 2:
            return " against ".join(self.values)
        having: dict[str, list[str]] = {}
        for letter, value in zip(ascii_uppercase, self.values, strict=False):
            having.setdefault(value, []).append(letter)
        return " against ".join(f"{value} ({', '.join(letters)})" for value, letters in having.items())


@dataclass(frozen=True)
class Conditioned:
    """A run with its conditions."""

    run: Run
    conditions: Conditions


def conditioned(runs: Iterable[Run]) -> list[Conditioned]:
    """Return runs with their conditions."""
    return [Conditioned(run, conditions_of(run)) for run in runs]


def compare(first: Conditioned, second: Conditioned) -> bool:
    """Tell whether no condition is known to differ between two runs."""
    return type(first.conditions) is type(second.conditions) and not known_differences(first, second)


def known_differences(first: Conditioned, second: Conditioned) -> list[Difference]:
    """Return the conditions in which two runs of one kind differ as far as both tell them."""
    return [each for each in differences(first.conditions, second.conditions) if not each.is_unknown]


def all_compare(runs: Sequence[Conditioned]) -> bool:
    """Tell whether every two of them compare."""
    return all(compare(first, second) for place, first in enumerate(runs) for second in runs[place + 1 :])


def condition_rows(runs: Sequence[Conditioned]) -> list[Condition]:
    """Return every condition that a run tells; those that differ first, then those that are not known to agree."""
    if len({type(each.conditions) for each in runs}) > 1:
        workloads = [each.run.workload for each in runs]
        return [Condition("workload", NAMES["workload"], workloads, True, False, "loads of two kinds share no figure")]
    rows = [_row(each.name, each.metadata[WHY], runs) for each in fields(runs[0].conditions)]
    told = [row for row in rows if any(value != NOT_STATED for value in row.values)]
    return sorted(told, key=lambda row: (not row.differs, not row.is_unknown))


def _row(name: str, why: str, runs: Sequence[Conditioned]) -> Condition:
    values = [getattr(each.conditions, name) for each in runs]
    known = [value for value in values if value is not None]
    differs = any(value != known[0] for value in known)
    texts = [value_text(name, value) + taken_note(name, each.run) for each, value in zip(runs, values, strict=True)]
    is_unknown = any(_is_unstated(name, each) for each in runs)
    return Condition(name, NAMES[name], texts, differs, is_unknown, why)


def taken_note(name: str, run: Run) -> str:
    """Return the note on a number of devices that the publication does not state."""
    return " (one drive assumed: not reported)" if name == "device_count" and is_taken_as_one(run) else ""


def _is_unstated(name: str, each: Conditioned) -> bool:
    """Tell whether a run does not state a condition; a number of devices that is taken for it nobody stated."""
    return getattr(each.conditions, name) is None or (name == "device_count" and is_taken_as_one(each.run))


@dataclass(frozen=True)
class Silence:
    """What runs do not state: the labels of at least one run's conditions, how many each leaves open, of how many."""

    labels: list[str]
    by_run: list[int]
    conditions: int

    @property
    def is_weak(self) -> bool:
        """Whether so much is open that runs compare for not telling."""
        return is_weak(len(self.labels), self.conditions)


def silence_of(runs: Sequence[Conditioned]) -> Silence:
    """Return what is not stated, and so not known to agree; nothing of runs of two kinds, which share no condition."""
    if not runs or len({type(each.conditions) for each in runs}) > 1:
        return Silence([], [0] * len(runs), 0)
    names = [each.name for each in fields(runs[0].conditions)]
    by_run = [[name for name in names if _is_unstated(name, each)] for each in runs]
    open_names = {name for unstated in by_run for name in unstated}
    labels = [NAMES[name] for name in names if name in open_names]
    return Silence(labels, [len(unstated) for unstated in by_run], len(names))


def value_text(name: str, value: Any) -> str:
    """Return a condition as people read it."""
    if value is None:
        return NOT_STATED
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(_part(each) for each in value)
    return _unit(name, value) or _number(value)


def _part(each: Any) -> str:
    return f"{each[0]} {units.decimal(each[1])}" if isinstance(each, tuple) else units.threshold(each)


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
