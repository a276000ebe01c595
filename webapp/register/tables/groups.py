"""The comparison group of a run, and the words for it in tables, charts and legends."""

from dataclasses import dataclass
from enum import StrEnum

from results.models import Run, Statistic
from results.rules.act.comparison_groups import ComparisonGroup, ReadTime, is_compressible, time_of_reads
from webapp.register.tables.columns import is_taken_as_one
from webapp.templatetags import units

TIME_WORDS = {
    ReadTime.SERVICE: "ACT 6.x: time in the drive",
    ReadTime.WITH_QUEUE: "ACT up to 5.3: time in the drive and in the queue",
    None: "ACT version not reported",
}
STATISTIC_WORDS = {
    Statistic.STEADY_AS_PUBLISHED: "as published",
    Statistic.WORST_SLICE: "worst slice",
    Statistic.OVERALL: "whole run",
}
WHY_SEPARATE = {
    ReadTime.SERVICE: "their shares count only the time that the drive took",
    ReadTime.WITH_QUEUE: "their shares also count waiting in the queue",
    None: "it is not known which time their shares count",
}
COMPRESSIBLE_WORDS = "compressible data"
TAKEN_AS_ONE = "Counted as one device, because the source states no number of devices."
WHY_COMPRESSIBLE = "a drive that compresses data writes less, so these results are not ranked"


class NotRanked(StrEnum):
    """Why a result is not ranked. The first reason that holds counts, in this order."""

    COMPRESSIBLE = "compressible"
    NO_VERSION = "no-version"
    NO_DEVICE_COUNT = "no-device-count"
    NO_SPEED = "no-speed"
    NO_SHARES = "no-shares"


NOT_RANKED_WORDS = {
    NotRanked.COMPRESSIBLE: "the test data was compressible",
    NotRanked.NO_VERSION: "the version of ACT is not reported",
    NotRanked.NO_DEVICE_COUNT: "the number of devices is not reported",
    NotRanked.NO_SPEED: "the speed is not reported",
    NotRanked.NO_SHARES: "its share of slow reads is not reported",
}  # each follows "because"
COMPRESSIBLE, UNRANKED = "compressible", "unknown"  # kinds of bands next to the two kinds of time
BAND_TITLES = {
    ReadTime.SERVICE: "ACT 6.x",
    ReadTime.WITH_QUEUE: "ACT up to 5.3",
    UNRANKED: "ACT version or number of devices not reported",
    COMPRESSIBLE: "Compressible data",
}
BAND_NOTES = {
    ReadTime.SERVICE: "ranked: shares count only the drive's time.",
    ReadTime.WITH_QUEUE: f"ranked separately: {WHY_SEPARATE[ReadTime.WITH_QUEUE]}.",
    UNRANKED: "not ranked: it is not known what their figures measure.",
    COMPRESSIBLE: "not ranked: a drive that compresses data writes less.",
}
STATISTIC_NOTES = {
    Statistic.STEADY_AS_PUBLISHED: "Shares are steady-state values, not the worst hour.",
    Statistic.WORST_SLICE: "Shares are those of the worst slice of each run, from stored logs.",
    Statistic.OVERALL: "Shares are over the whole run, not its worst slice, from stored logs.",
}


@dataclass(frozen=True)
class Band:
    """The rows of a table that are listed together: comparison groups with one statistic and one kind of time.

    Groups that differ only in their number of devices share a band. `note` follows the number of results.
    """

    statistic: str
    kind: str
    title: str
    note: str
    statistic_note: str

    @property
    def code(self) -> str:
        """Return the code of the band."""
        return f"{self.statistic}.{self.kind}"

    def title_line(self, results_count: int, *, is_first: bool) -> tuple[str, str]:
        """Return title and note of the band; the first band of a statistic also explains the statistic."""
        note = f"{units.counted(results_count, 'result')}, {self.note}"
        return f"{self.title}.", f"{note} {self.statistic_note}" if is_first else note


BANDS = tuple(
    Band(statistic, kind, f"{title}, {STATISTIC_WORDS[statistic]}", BAND_NOTES[kind], STATISTIC_NOTES[statistic])
    for statistic in STATISTIC_WORDS
    for kind, title in BAND_TITLES.items()
)


def band_code(group: ComparisonGroup) -> str:
    """Return the code of the band that lists a comparison group."""
    if group.is_compressible:
        return f"{group.statistic}.{COMPRESSIBLE}"
    return f"{group.statistic}.{group.time if group.is_ranked else UNRANKED}"


def group_of(run: Run) -> ComparisonGroup:
    """Return the comparison group of a run. A published drive without a number of devices counts as one device."""
    return ComparisonGroup(
        time_of_reads(run.tool, run.tool_version),
        run.statistic,
        is_compressible(run.compress_pct),
        run.device_count or (1 if is_taken_as_one(run) else None),
    )


def taken_as_one_sentence(run: Run) -> str:
    """Return why a published result counts as one device; empty for a result that states its number of devices."""
    return TAKEN_AS_ONE if is_taken_as_one(run) else ""


def group_label(group: ComparisonGroup) -> str:
    """Return the words for a group: what its shares measure, the statistic, the data and the devices."""
    devices = "devices not reported" if group.device_count is None else units.counted(group.device_count, "device")
    parts = [TIME_WORDS[group.time], STATISTIC_WORDS[Statistic(group.statistic)], devices]
    return ", ".join(parts + [COMPRESSIBLE_WORDS] * group.is_compressible)


def why_separate(group: ComparisonGroup) -> str:
    """Return why results of this group are not ranked with others."""
    return WHY_COMPRESSIBLE if group.is_compressible else WHY_SEPARATE[group.time]


def why_not_ranked(group: ComparisonGroup) -> NotRanked | None:
    """Return why no result of this group is ranked; None for a group that is ranked."""
    if group.is_compressible:
        return NotRanked.COMPRESSIBLE
    if group.time is None:
        return NotRanked.NO_VERSION
    return NotRanked.NO_DEVICE_COUNT if group.device_count is None else None
