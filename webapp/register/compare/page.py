"""The page of a comparison: whether the runs compare, the reasons if not, and the aligned tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from django.urls import reverse
from django.utils.http import urlencode
from django.utils.text import capfirst, get_text_list

from results.models import YCSB, Category, Run
from webapp.register.comparability.comparable import Condition, Unreported, condition_rows, unreported_conditions
from webapp.register.compare.choice import Choice, offers_of
from webapp.register.compare.curves import Chart, charts_of
from webapp.register.compare.figures import Line, lines_of_drives, lines_of_runs, reported_lines
from webapp.register.limits.reader_limits import YourLimits, changes_sentence
from webapp.register.limits.virtual_devices import VIRTUAL_DEVICE_MARK, VIRTUAL_DEVICE_REASON
from webapp.register.tables.categories import CLOUD_CAUTION
from webapp.register.tables.columns import product_of
from webapp.register.tables.evaluation import evaluate_limits
from webapp.register.tables.sentences import run_name
from webapp.templatetags import units


@dataclass(frozen=True)
class Head:
    """One column: its letter, and its run."""

    letter: str
    name: str
    run: Run


@dataclass(frozen=True)
class Comparison:
    """A comparison, ready for its template; without figures and charts if the runs do not compare."""

    heads: list[Head]
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
            "In charts by load, a line has all runs of a drive that compare with its run in the table. In charts by "
            "time, a line has the slices of one run. An open square is over the limit."
        )

    @property
    def is_weak(self) -> bool:
        """Return whether the runs compare mainly because conditions are not reported."""
        return self.is_comparable and self.unreported.is_weak

    @property
    def title(self) -> str:
        """Return the heading of the page."""
        if not self.is_comparable:
            return "Not comparable"
        return "Weak comparison" if self.is_weak else "Side by side"

    @property
    def sentence(self) -> str:
        """Return the result of the comparison as one sentence, to be quoted."""
        names = get_text_list(_distinct_names(self.heads), "and")
        if self.is_comparable and self.unreported.labels:
            missing, total = len(self.unreported.labels), self.unreported.conditions
            start = "The comparison is weak: for" if self.is_weak else "For"
            count = f"{start} {missing} of {total} conditions, at least one run reports no value."
            return f"{count} {names} can be compared: all reported conditions match. {self.unreported_by_run}"
        if self.is_comparable:
            return f"{names} can be compared: all conditions match."
        labels = get_text_list([condition.label.lower() for condition in self.differing], "and")
        return f"{names} cannot be compared: {labels} {'differs' if len(self.differing) == 1 else 'differ'}."

    @property
    def cautions(self) -> Iterator[tuple[str, str]]:
        """Yield what to consider: the columns with virtual devices and with cloud instances, each with the reason."""
        if letters := [head.letter for head in self.heads if head.run.is_on_no_drive]:
            reason = f"{capfirst(VIRTUAL_DEVICE_REASON)} and cannot certify one."
            yield f"{capfirst(VIRTUAL_DEVICE_MARK)}: {get_text_list(letters, 'and')}.", reason
        unknown = "an unknown number of devices"
        if devices := [
            f"{head.letter} with {units.counted(head.run.device_count, 'device') or unknown}"
            for head in self.heads
            if product_of(head.run).category == Category.CLOUD
        ]:
            yield f"Measured on a cloud instance: {get_text_list(devices, 'and')}.", CLOUD_CAUTION

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
    heads = [Head(letter, run_name(run), run) for letter, run in zip(ascii_uppercase, runs, strict=False)]
    limits = own.limits
    results = [evaluate_limits(f"{head.name} ({head.letter})", head.run, own) for head in heads]
    has_limits = choice.is_comparable and runs[0].workload != YCSB
    return Comparison(
        heads=heads,
        is_comparable=choice.is_comparable,
        differing=[condition for condition in conditions if condition.differs],
        conditions=conditions,
        unreported=unreported_conditions(choice.runs),
        drives=reported_lines(lines_of_drives(runs)),
        figures=reported_lines(lines_of_runs(runs, own, results)) if choice.is_comparable else [],
        charts=charts_of(choice.runs, choice.others, limits) if choice.is_comparable else [],
        offers=[_offer(runs) for runs in offers_of(choice)],
        limits_sentence=changes_sentence(own, results) if has_limits else "",
    )


def _distinct_names(heads: Sequence[Head]) -> list[str]:
    """Return the names of runs for a sentence; runs of the same drive are named by their ids."""
    names = [head.name for head in heads]
    if len(set(names)) == len(names):
        return names
    ids = [f"{head.run.public_id} ({head.letter})" for head in heads]
    return [f"Runs {ids[0]}", *ids[1:]]


def _offer(runs: Sequence[Run]) -> tuple[str, str]:
    """Return text and address of the link to a comparison of runs."""
    query = urlencode([("run", run.public_id) for run in runs])
    return get_text_list(
        [f"{run_name(run)} (run {run.public_id})" for run in runs], "and"
    ), f"{reverse('compare')}?{query}"
