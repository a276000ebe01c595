"""The metrics of each workload side by side, each gain in the direction in which its metric is better."""

from collections.abc import Sequence
from dataclasses import dataclass

from results.rules.ycsb.gains import Better, better, gain
from webapp.register.ycsb.figures import Figure, Figures
from webapp.register.ycsb.numbers import percent
from webapp.register.ycsb.publications import metric_name, workload_note
from webapp.templatetags import units

DIRECTIONS = {Better.HIGHER: "higher is better", Better.LOWER: "lower is better", None: "better neither high nor low"}
OF_MANY = 3  # from so many metrics on a workload has a summary; fewer are told among the single figures


@dataclass(frozen=True)
class MetricRow:
    """One metric of two drives as printed, and the gain."""

    metric: str
    unit: str
    direction: str
    drive: str
    base: str
    gain: str
    remark: str


@dataclass(frozen=True)
class WorkloadSummary:
    """One workload."""

    letter: str
    note: str
    threads: str
    rows: Sequence[MetricRow]


def summaries(figures: Figures) -> list[WorkloadSummary]:
    """Return the workloads that a publication states several metrics of for both drives."""
    found = [_summary(figures, letter) for letter in figures.workloads if letter]
    return [each for each in found if len(each.rows) >= OF_MANY]


def _summary(figures: Figures, letter: str) -> WorkloadSummary:
    drives = figures.drives[:2]
    by_drive = [_by_metric(figures.of(letter, drive)) for drive in drives]
    both = [metric for metric in by_drive[0] if len(by_drive) > 1 and metric in by_drive[1]]
    rows = [_row(figures.publication, by_drive[0][metric], by_drive[1][metric]) for metric in both]
    threads = next((each.row.threads_count for each in figures.of(letter) if each.row.threads_count), None)
    return WorkloadSummary(letter, workload_note(figures.publication, letter), units.counted(threads, "thread"), rows)


def _by_metric(figures: Sequence[Figure]) -> dict[str, Figure]:
    """Return what is stated once and of the whole run; sweeps and fixed levels have tables of their own."""
    single = [each for each in figures if each.row.at_ops_per_s is None]
    metrics = [each.row.metric for each in single]
    return {each.row.metric: each for each in single if metrics.count(each.row.metric) == 1}


def _row(publication: str, drive: Figure, base: Figure) -> MetricRow:
    direction = better(drive.row.metric, publication)
    by_whom = " by this publication" if direction and better(drive.row.metric) is None else ""
    return MetricRow(
        metric_name(drive.row.metric),
        drive.row.unit,
        DIRECTIONS[direction] + by_whom,
        _number(drive.row.value),
        _number(base.row.value),
        percent(gain(drive.exact, base.exact, direction)),
        drive.remark,
    )


def _number(printed: str) -> str:
    """Return printed digits with thousands separated."""
    whole, point, decimals = printed.partition(".")
    return f"{int(whole):,d}{point}{decimals}"
