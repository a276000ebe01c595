"""The heads of a comparison: the run of each column, and what its shares measure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase

from results.models import YCSB, Run, Statistic
from results.rules.act.comparison_groups import DRIVETEST, ComparisonGroup, ReadTime
from webapp.register.comparability.comparable import RunConditions, grey_flags
from webapp.register.tables.columns import is_taken_as_one
from webapp.register.tables.groups import COMPRESSIBLE_WORDS, STATISTIC_WORDS, group_of
from webapp.register.tables.sentences import run_name
from webapp.templatetags import units

TIME_WORDS = {
    ReadTime.SERVICE: "time in the drive",
    ReadTime.WITH_QUEUE: "time in the drive and in the queue",
    None: "time not reported",
}


@dataclass(frozen=True)
class Trait:
    """One property of what a column measures; `differs` if not all columns have it."""

    text: str
    differs: bool


@dataclass(frozen=True)
class Head:
    """One column: its letter, its run, its properties, and whether it does not compare with the columns before it."""

    letter: str
    name: str
    run: Run
    traits: list[Trait]
    is_grey: bool


def heads_of(runs: Sequence[RunConditions]) -> list[Head]:
    """Return the heads of the columns."""
    texts = [_traits(each) for each in runs]
    differs = [len(set(column)) > 1 for column in zip(*texts, strict=True)]
    differs[0] = differs[1]  # a version matters only by the time that it measures
    lettered = zip(ascii_uppercase, runs, texts, grey_flags(runs), strict=False)
    return [
        Head(
            letter,
            run_name(each.run),
            each.run,
            [Trait(text, unlike) for text, unlike in zip(own, differs, strict=True) if text],
            is_grey,
        )
        for letter, each, own, is_grey in lettered
    ]


def compared_group(each: RunConditions) -> ComparisonGroup:
    """Return the group of the shares that a comparison shows: of ACT 5.x those of the devices, without the queue."""
    group, time = group_of(each.run), getattr(each.conditions, "time", None)
    known = {kind.value: kind for kind in ReadTime}
    return replace(group, time=known.get(time or "", group.time))


def _traits(each: RunConditions) -> tuple[str, ...]:
    """Return version, time, statistic, devices and data of a run; empty texts for what does not apply."""
    run = each.run
    if run.workload == YCSB:
        return f"{run.tool} {run.tool_version}".strip(), "", "whole run", "", ""
    group = compared_group(each)
    return (
        _version(run),
        TIME_WORDS[group.time],
        STATISTIC_WORDS[Statistic(run.statistic)],
        _devices(run),
        f"{COMPRESSIBLE_WORDS} ({run.compress_pct} %)" if group.is_compressible else "",
    )


def _version(run: Run) -> str:
    if not run.tool_version:
        return "version not reported"
    return f"{DRIVETEST if run.tool == DRIVETEST else 'ACT'} {run.tool_version}"


def _devices(run: Run) -> str:
    if is_taken_as_one(run):
        return "1 device assumed"
    return units.counted(run.device_count, "device") or "devices not reported"
