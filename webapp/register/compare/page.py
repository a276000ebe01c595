"""The page of a comparison: its result, why runs do not compare, and the aligned tables, bars and curves."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.urls import reverse
from django.utils.http import urlencode
from django.utils.text import capfirst

from results.models import YCSB, Category, Run
from results.rules.act.limits import Limit
from results.rules.plural import listed
from webapp.register.comparability.comparable import Condition, Unreported, condition_rows, unreported_conditions
from webapp.register.compare.answer import (
    conditions_sentence,
    differs_sentence,
    endurance_sentences,
    result_sentence,
)
from webapp.register.compare.bars import BarChart, bar_charts
from webapp.register.compare.choice import Choice, offers_of
from webapp.register.compare.curves import Chart, charts_of
from webapp.register.compare.figures import Line, lines_of_drives, lines_of_runs, reported_lines
from webapp.register.compare.heads import Head, heads_of
from webapp.register.compare.nearest import nearest_sets
from webapp.register.compare.pictures import Picture, picture_of
from webapp.register.limits.reader_limits import YourLimits, changes_sentence
from webapp.register.limits.virtual_devices import VIRTUAL_DEVICE_MARK, VIRTUAL_DEVICE_REASON
from webapp.register.tables.categories import CLOUD_CAUTION
from webapp.register.tables.columns import product_of
from webapp.register.tables.evaluation import evaluate_limits
from webapp.register.tables.prices import PricedDrive, priced_drives
from webapp.register.tables.sentences import run_name
from webapp.templatetags import units

OFFERS_MAX = 4


@dataclass(frozen=True)
class Comparison:
    """A comparison, ready for its template. Figures that mislead are grey; curves need runs that compare."""

    heads: list[Head]
    limits: Sequence[Limit]
    is_comparable: bool
    differing: list[Condition]
    conditions: list[Condition]
    unreported: Unreported
    drives: list[Line]
    figures: list[Line]
    charts: list[Chart]
    offers: list[tuple[str, str]]
    limits_sentence: str = ""

    @property
    def curves_sentence(self) -> str:
        """Return the caption that explains the lines of the charts."""
        if self.heads[0].run.workload == YCSB:
            return "Each line shows all thread counts of the sweep that a run belongs to."
        return (
            "In charts by load, a line has all runs of a drive that are comparable with its run in the table. In "
            "charts by time, a line has the slices of one run. An open square is over the limit."
        )

    @property
    def pictures(self) -> list[Picture]:
        """Return the charts as pictures that need no script."""
        return [picture_of(chart) for chart in self.charts]

    @property
    def bars(self) -> list[BarChart]:
        """Return the bars of speed, slow reads, endurance and speed per TB."""
        return bar_charts(self.heads, self.limits)

    @property
    def is_weak(self) -> bool:
        """Return whether the runs compare mainly because conditions are not reported."""
        return self.is_comparable and self.unreported.is_weak

    @property
    def title(self) -> str:
        """Return the heading of the page."""
        return listed(list(dict.fromkeys(head.name for head in self.heads)))

    @property
    def sentence(self) -> str:
        """Return the result of the comparison, to be quoted."""
        if self.is_comparable:
            return result_sentence(self.heads, self.limits)
        return differs_sentence(self.heads, self.differing, self.limits)

    @property
    def conditions_sentence(self) -> str:
        """Return how many conditions agree, differ and are unknown."""
        return conditions_sentence(self.conditions, self.unreported)

    @property
    def grey_sentence(self) -> str:
        """Return which columns are grey; empty if all compare. The reason is in the result of the comparison."""
        names = [f"{head.name} ({head.letter})" for head in self.heads if head.is_grey]
        return f"{listed(names)} {'is' if len(names) == 1 else 'are'} shown in grey." if names else ""

    @property
    def endurance(self) -> list[tuple[Head, str]]:
        """Return the endurance of each rated drive in words."""
        return endurance_sentences(self.heads)

    @property
    def priced_drives(self) -> list[PricedDrive]:
        """Return the drives that the reader may enter prices for."""
        return priced_drives(head.run for head in self.heads)

    @property
    def slugs(self) -> list[str]:
        """Return the drives of the columns, each once, in their order."""
        return list(dict.fromkeys(product_of(head.run).slug for head in self.heads))

    @property
    def cautions(self) -> Iterator[tuple[str, str]]:
        """Yield what to consider: the columns with virtual devices and with cloud instances, each with the reason."""
        if letters := [head.letter for head in self.heads if head.run.is_on_no_drive]:
            reason = f"{capfirst(VIRTUAL_DEVICE_REASON)} and cannot certify one."
            yield f"{capfirst(VIRTUAL_DEVICE_MARK)}: {listed(letters)}.", reason
        unknown = "an unknown number of devices"
        if devices := [
            f"{head.letter} with {units.counted(head.run.device_count, 'device') or unknown}"
            for head in self.heads
            if product_of(head.run).category == Category.CLOUD
        ]:
            yield f"Measured on a cloud instance: {listed(devices)}.", CLOUD_CAUTION

    @property
    def unreported_by_run(self) -> str:
        """Return the number of conditions that each run does not report, as a sentence."""
        counts = (f"{number} by {head.letter}" for head, number in zip(self.heads, self.unreported.by_run, strict=True))
        return f"Number of conditions not reported: {', '.join(counts)}."


def comparison_of(choice: Choice, own: YourLimits) -> Comparison:
    """Return the comparison of selected runs under a reader's limits.

    `limits_sentence` is empty for runs without shares, which limits do not apply to.
    """
    runs = [each.run for each in choice.runs]
    conditions = condition_rows(choice.runs)
    heads = heads_of(choice.runs)
    limits = own.limits
    results = [evaluate_limits(f"{head.name} ({head.letter})", head.run, own) for head in heads]
    with_shares = [result for result, run in zip(results, runs, strict=True) if run.workload != YCSB]
    return Comparison(
        heads=heads,
        limits=limits,
        is_comparable=choice.is_comparable,
        differing=[condition for condition in conditions if condition.differs],
        conditions=conditions,
        unreported=unreported_conditions(choice.runs),
        drives=reported_lines(lines_of_drives(runs)),
        figures=reported_lines(lines_of_runs(runs, own, results)),
        charts=charts_of(choice.runs, choice.others, limits) if choice.is_comparable else [],
        offers=[] if choice.is_comparable else _offers(choice, heads, own),
        limits_sentence=changes_sentence(own, with_shares) if with_shares else "",
    )


def _offers(choice: Choice, heads: Sequence[Head], own: YourLimits) -> list[tuple[str, str]]:
    """Return text and address of the nearest comparisons: first of the same drives, then with another drive."""
    sets = [*offers_of(choice), *nearest_sets(choice.runs, [head.is_grey for head in heads])]
    distinct = {tuple(run.public_id for run in runs): runs for runs in sets}
    return [_offer(runs, own) for runs in list(distinct.values())[:OFFERS_MAX]]


def _offer(runs: Sequence[Run], own: YourLimits) -> tuple[str, str]:
    query = urlencode([*(("run", run.public_id) for run in runs), *own.parameters.items()])
    return listed([f"{run_name(run)} (run {run.public_id})" for run in runs]), f"{reverse('compare')}?{query}"
