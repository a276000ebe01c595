"""What the page of a comparison says: whether the runs compare and why not, and the aligned table."""

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from django.urls import reverse
from django.utils.http import urlencode
from django.utils.text import capfirst

from results.ingest.act import YCSB
from results.models import Category, Run
from results.rules.plural import counted
from webapp.register.comparability.comparable import Condition, Silence, condition_rows, silence_of
from webapp.register.compare.choice import Choice, Offer, offers_of
from webapp.register.compare.curves import Chart, charts_of
from webapp.register.compare.figures import Line, lines_of_drives, lines_of_runs, told_by_any
from webapp.register.limits.reader_limits import YourLimits, changes_sentence
from webapp.register.limits.virtual_devices import NOT_ON_DRIVES, SAYS_NOTHING
from webapp.register.runs.limits import as_limits
from webapp.register.tables.categories import CLOUD_CAUTION
from webapp.register.tables.columns import product_of
from webapp.register.tables.evaluation import evaluate_limits
from webapp.register.tables.sentences import run_name


@dataclass(frozen=True)
class Head:
    """One column: its letter, and the run that stands in it."""

    letter: str
    name: str
    run: Run


@dataclass(frozen=True)
class OfferLine:
    """Runs that compare, as a link."""

    text: str
    address: str


@dataclass(frozen=True)
class Comparison:
    """A comparison, ready for its template; no figures and no charts where the runs do not compare."""

    heads: list[Head]
    is_comparable: bool
    differing: list[Condition]
    conditions: list[Condition]
    silence: Silence
    drives: list[Line]
    figures: list[Line]
    charts: list[Chart]
    offers: list[OfferLine]
    limits_sentence: str = ""

    @property
    def curves_sentence(self) -> str:
        """What the lines of the charts are."""
        if self.heads[0].run.workload == YCSB:
            return "Each line is the sweep that a run belongs to."
        return (
            "By load, a line is all runs of a drive that compare with the one in the table; by time, the slices of "
            "that run. An open square is over the limit."
        )

    @property
    def is_weak(self) -> bool:
        """Whether they compare, but for the greater part by not telling how they were run."""
        return self.is_comparable and self.silence.is_weak

    @property
    def title(self) -> str:
        """The head of the page."""
        if not self.is_comparable:
            return "Not comparable"
        return "Weak comparison" if self.is_weak else "Side by side"

    @property
    def sentence(self) -> str:
        """The answer, to be quoted alone."""
        names = _listed(_told_apart(self.heads))
        if self.is_comparable and self.silence.labels:
            return f"{self._open_words} {names}: no condition that all of them state differs. {self.silence_by_run}"
        if self.is_comparable:
            return f"{names} compare: no condition differs."
        labels = _listed([condition.label.lower() for condition in self.differing])
        return f"{names} do not compare: {labels} {'differs' if len(self.differing) == 1 else 'differ'}."

    @property
    def _open_words(self) -> str:
        count = f"{len(self.silence.labels)} of {self.silence.conditions} conditions not stated"
        return f"Weak: {count}." if self.is_weak else f"{count}."

    @property
    def instances_sentence(self) -> str:
        """Which columns are cloud instances, and of how many of their devices each run is; nothing without one."""
        clouds = [head for head in self.heads if product_of(head.run).category == Category.CLOUD]
        told = [f"{head.letter} with {_devices(head.run)}" for head in clouds]
        return f"Measured on a cloud instance: {_listed(told)}." if told else ""

    @property
    def caution(self) -> str:
        """How results of cloud instances are to be read; nothing without one."""
        return CLOUD_CAUTION if self.instances_sentence else ""

    @property
    def no_drives_sentence(self) -> str:
        """Which columns were not measured on drives alone; nothing where all were, as far as their logs tell."""
        letters = [head.letter for head in self.heads if head.run.is_on_no_drive]
        return f"{capfirst(NOT_ON_DRIVES)}: {_listed(letters)}." if letters else ""

    @property
    def no_drives_caution(self) -> str:
        """How such a run is to be read."""
        return f"{capfirst(SAYS_NOTHING)}, and never certifies."

    @property
    def silence_by_run(self) -> str:
        """Say who leaves how many conditions open."""
        told = (f"{head.letter} {number}" for head, number in zip(self.heads, self.silence.by_run, strict=True))
        return f"Not stated by {', by '.join(told)}."


def comparison_of(choice: Choice, own: YourLimits) -> Comparison:
    """Return what is shown of runs that were chosen, held against a reader's limits or, where these are none, theirs.

    `limits_sentence` says how many runs pass; it is empty where the runs have nothing that limits are of.
    """
    runs = [each.run for each in choice.runs]
    conditions = condition_rows(choice.runs)
    heads = [Head(letter, run_name(run), run) for letter, run in zip(ascii_uppercase, runs, strict=False)]
    limits = as_limits(own)
    results = [evaluate_limits(f"{head.name} ({head.letter})", head.run, own) for head in heads]
    is_judged = choice.is_comparable and runs[0].workload != YCSB
    return Comparison(
        heads=heads,
        is_comparable=choice.is_comparable,
        differing=[condition for condition in conditions if condition.differs],
        conditions=conditions,
        silence=silence_of(choice.runs),
        drives=told_by_any(lines_of_drives(runs)),
        figures=told_by_any(lines_of_runs(runs, own, results)) if choice.is_comparable else [],
        charts=charts_of(choice.runs, choice.others, limits) if choice.is_comparable else [],
        offers=[_offer(offer) for offer in offers_of(choice)],
        limits_sentence=changes_sentence(own, results) if is_judged else "",
    )


def _devices(run: Run) -> str:
    return "a number of devices that is not stated" if run.device_count is None else counted(run.device_count, "device")


def _told_apart(heads: Sequence[Head]) -> list[str]:
    """Return what runs are called in a sentence: runs of one drive by their ids."""
    names = [head.name for head in heads]
    if len(set(names)) == len(names):
        return names
    ids = [f"{head.run.public_id} ({head.letter})" for head in heads]
    return [f"Runs {ids[0]}", *ids[1:]]


def _offer(offer: Offer) -> OfferLine:
    query = urlencode([("run", run.public_id) for run in offer.runs])
    text = _listed([f"{run_name(run)} (run {run.public_id})" for run in offer.runs])
    return OfferLine(text, f"{reverse('compare')}?{query}")


def _listed(names: Sequence[str]) -> str:
    return " and ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else "".join(names)
