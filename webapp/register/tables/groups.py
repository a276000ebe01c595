"""The comparison group of a run, and the words for it in tables, charts and legends."""

from results.models import Run, Statistic
from results.rules.act.comparison_groups import ComparisonGroup, ReadTime, is_compressible, time_of_reads
from webapp.register.tables.columns import is_taken_as_one
from webapp.templatetags import units

TIME_WORDS = {
    ReadTime.SERVICE: "ACT 6.x: service time",
    ReadTime.WITH_QUEUE: "ACT up to 5.3: with queue time",
    None: "ACT version not reported",
}
STATISTIC_WORDS = {
    Statistic.STEADY_AS_PUBLISHED: "as published",
    Statistic.WORST_SLICE: "worst slice",
    Statistic.OVERALL: "whole run",
}
WHY_APART = {
    ReadTime.SERVICE: "their shares count only the time that the drive took",
    ReadTime.WITH_QUEUE: "their shares also count waiting in the queue",
    None: "it is not known which time their shares count",
}
COMPRESSIBLE_WORDS = "compressible data"
WHY_COMPRESSIBLE = "a drive that compresses data writes less, so these results are not ranked"


def group_of(run: Run) -> ComparisonGroup:
    """Return the comparison group of a run. A published drive without a number of devices counts as one device."""
    return ComparisonGroup(
        time_of_reads(run.tool, run.tool_version),
        run.statistic,
        is_compressible(run.compress_pct),
        run.device_count or (1 if is_taken_as_one(run) else None),
    )


def group_label(group: ComparisonGroup) -> str:
    """Return the words for a group: what its shares measure, the statistic, the data and the devices."""
    devices = "devices not reported" if group.device_count is None else units.counted(group.device_count, "device")
    parts = [TIME_WORDS[group.time], STATISTIC_WORDS[Statistic(group.statistic)], devices]
    return ", ".join(parts + [COMPRESSIBLE_WORDS] * group.is_compressible)


def why_apart(group: ComparisonGroup) -> str:
    """Return why results of this group are not ranked with others."""
    return WHY_COMPRESSIBLE if group.is_compressible else WHY_APART[group.time]
