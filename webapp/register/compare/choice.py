"""The runs to compare: the requested runs, or for each requested drive its fastest run that compares."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field

from django.db.models import F, Prefetch, Value, Window
from django.db.models.functions import Coalesce, RowNumber
from django.http import Http404

from results.models import Histogram, Product, Run, Verdict, YcsbOperation
from results.models.querysets import RunQuerySet
from results.rules.act.limits import Limit
from webapp.register.comparability.comparable import (
    RunConditions,
    are_all_comparable,
    are_comparable,
    conditions_of_runs,
)
from webapp.register.compare.query import FEWEST, MOST, Chosen
from webapp.register.tables.columns import product_of

CANDIDATES_MAX = 12  # runs of a drive that are considered in each statistic, fastest first
OFFERS_MAX = 6


@dataclass(frozen=True)
class Choice:
    """The runs to compare, in the requested order; `others` are further runs of the same drives."""

    runs: list[RunConditions]
    others: list[RunConditions] = field(default_factory=list)

    @property
    def is_comparable(self) -> bool:
        """Return whether every pair of the runs compares."""
        return are_all_comparable(self.runs)


def choose(chosen: Chosen, limits: Sequence[Limit]) -> Choice:
    """Return the runs to compare. Raises Http404 if a run or drive is not public."""
    return _runs(chosen.names) if chosen.kind == "run" else _of_drives(chosen.names, limits)


def runs_to_compare(runs: RunQuerySet) -> RunQuerySet:
    """Return runs with all that is compared, in a fixed number of queries, with their current verdict only."""
    order = (F("created_at").desc(), F("id").desc())
    newest = Window(RowNumber(), partition_by=F("run_id"), order_by=order)
    return (
        runs.with_withheld_flag()
        .select_related("product", "ycsb", "reading__evidence")
        .prefetch_related(
            "shares",
            "drives",
            Prefetch("histograms", Histogram.objects.defer("counts")),
            Prefetch("verdicts", Verdict.objects.select_related("profile").annotate(place=newest).filter(place=1)),
            Prefetch("ycsb__operations", YcsbOperation.objects.defer("percentiles", "returns")),
        )
    )


def _runs(names: Sequence[str]) -> Choice:
    found = {run.public_id: run for run in runs_to_compare(Run.objects.public().filter(public_id__in=names))}
    refuse_missing(names, found)
    runs = conditions_of_runs(found[name] for name in names)
    if are_all_comparable(runs):
        return Choice(runs)
    products = {run.product_id for run in found.values()}
    return Choice(runs, conditions_of_runs(_candidates(Run.objects.filter(product__in=products))))


def refuse_missing(names: Iterable[str], found: Container[str]) -> None:
    """Raise Http404 for the first run that is not public, with its name as the text to search for."""
    for name in names:
        if name not in found:
            raise Http404(f"No run is named {name}.", name)


def _candidates(runs: RunQuerySet) -> list[Run]:
    fastest_first = (Coalesce("is_on_no_drive", Value(False)).asc(), F("tps").desc(nulls_last=True), F("pk").asc())
    of_a_drive = Window(RowNumber(), partition_by=[F("product_id"), F("statistic")], order_by=fastest_first)
    fastest = runs.listed().annotate(place=of_a_drive).filter(place__lte=CANDIDATES_MAX)
    return list(runs_to_compare(Run.objects.filter(pk__in=fastest.values("pk"))).order_by(*fastest_first))


def _of_drives(names: Sequence[str], limits: Sequence[Limit]) -> Choice:
    products = {product.slug: product for product in Product.objects.public().filter(slug__in=names)}
    missing = [name for name in names if name not in products]
    if missing:
        raise Http404(f"No drive is named {missing[0]}.", missing[0])
    candidates = _candidates(Run.objects.rated().filter(product__in=products.values()))
    within = set(Run.objects.filter(pk__in=[run.pk for run in candidates]).within(limits).values_list("pk", flat=True))
    ordered = sorted(candidates, key=lambda run: run.pk not in within)  # each part stays fastest first
    runs = conditions_of_runs(ordered)
    by_drive = []
    for name in names:
        own = [each for each in runs if product_of(each.run).slug == name] or _other_runs(products[name])
        # Runs on virtual devices are compared only if the drive has no others.
        by_drive.append([each for each in own if not each.run.is_on_no_drive] or own)
    others = [each for runs in by_drive for each in runs]
    return Choice(_best_set(by_drive) or [runs[0] for runs in by_drive], others)


def _other_runs(product: Product) -> list[RunConditions]:
    """Return the newest public run of a drive without a current result: of another workload, or a withdrawn one."""
    newest = Run.objects.public().filter(product=product).order_by(F("visibility").asc(), "-created_at", "-pk")
    return conditions_of_runs(runs_to_compare(Run.objects.filter(pk__in=list(newest.values_list("pk", flat=True)[:1]))))


def _best_set(by_drive: Sequence[Sequence[RunConditions]]) -> list[RunConditions] | None:
    """Return one run of each drive so that all compare, the first as fast as possible; None if there is no such set."""
    fastest = [runs[:CANDIDATES_MAX] for runs in by_drive]
    sets = (_with_comparable(first, fastest[1:]) for first in fastest[0])
    return next((found for found in sets if len(found) == len(by_drive)), None)


def _with_comparable(first: RunConditions, options: Iterable[Sequence[RunConditions]]) -> list[RunConditions]:
    """Return a run, and of each of the options the first run that compares with all before it."""
    found = [first]
    for runs in options:
        found += next(([each] for each in runs if all(are_comparable(each, other) for other in found)), [])
    return found


def offers_of(choice: Choice) -> list[list[Run]]:
    """Return sets of runs that compare: of the requested runs, then of other runs of the same drives."""
    if choice.is_comparable:
        return []
    among = [_with_comparable(first, [[each] for each in choice.runs if each is not first]) for first in choice.runs]
    beyond = [_one_of_each_drive(first, choice) for first in choice.runs]
    sets = [found for found in (*among, *beyond) if len(found) >= FEWEST]
    distinct = {frozenset(each.run.public_id for each in found): found for found in sets}
    return [[each.run for each in found] for found in list(distinct.values())[:OFFERS_MAX]]


def _one_of_each_drive(first: RunConditions, choice: Choice) -> list[RunConditions]:
    """Return a run, and of each other drive the fastest run that compares with those before.

    If all runs are of one drive, return the runs that compare with the first.
    """
    drives = dict.fromkeys(each.run.product_id for each in choice.runs)
    if len(drives) == 1:
        return _with_comparable(first, [[each] for each in choice.others if each.run.pk != first.run.pk])[:MOST]
    others = [product_id for product_id in drives if product_id != first.run.product_id]
    return _with_comparable(first, [[each for each in choice.others if each.run.product_id == of] for of in others])
