"""The nearest comparable runs: what to show next to a run that does not compare, and the example of an empty page."""

from collections.abc import Iterable, Sequence
from decimal import Decimal

from django.db.models import F, Q
from django.db.models.functions import Abs

from results.models import YCSB, Category, Product, Run, Tier
from results.models.querysets import RunQuerySet
from results.rules.act.comparison_groups import DRIVETEST, ReadTime
from results.rules.act.limits import Limit
from webapp.register.comparability.comparable import RunConditions, are_comparable, conditions_of_runs
from webapp.register.compare.choice import Choice, runs_to_compare
from webapp.register.compare.heads import compared_group
from webapp.register.drives.limit_check import LimitCheck
from webapp.register.drives.store.column_store import current_store
from webapp.register.drives.store.encoded_columns import ColumnStore, flags_of
from webapp.register.drives.store.ranking import current_rows, fastest_rows, on_drives, speeds_of
from webapp.register.limits.reader_limits import read_limits
from webapp.register.tables.columns import product_of

NEAREST_MAX = 24  # runs that are considered, the nearest in speed first
EXAMPLE_CATEGORY = Category.NVME_FLASH
SERVICE_VERSION = r"^([6-9]|[1-9][0-9]+)(\.|$)"


def nearest_to(together: Sequence[RunConditions], replaced: Run, avoided: Iterable[Product]) -> RunConditions | None:
    """Return the run that is nearest to a run, and that compares with all of some others; None without such a run.

    Another capacity of the same model is nearest, then the run with the nearest speed.
    """
    first = together[0]
    found = _runs_like(first, product_of(replaced).category).exclude(product__in=list(avoided))
    workload = first.run.workload
    speed = "ycsb__throughput_ops_per_s" if workload == YCSB else "tps"
    distance = Abs(F(speed) - (_speed(replaced, workload) or _speed(first.run, workload) or 0))
    ids = found.annotate(distance=distance).order_by("distance", "pk").values_list("pk", flat=True)[:NEAREST_MAX]
    place = {pk: number for number, pk in enumerate(ids)}
    model = _model(replaced)
    candidates = sorted(
        conditions_of_runs(runs_to_compare(Run.objects.filter(pk__in=place))),
        key=lambda each: (_model(each.run) != model, place[each.run.pk]),
    )
    group = compared_group(first)
    return next(
        (
            each
            for each in candidates
            if compared_group(each) == group and all(are_comparable(each, other) for other in together)
        ),
        None,
    )


def _speed(run: Run, workload: str) -> Decimal | None:
    """Return the speed of a run of a workload: the throughput of YCSB, otherwise the tps; None for another workload."""
    if run.workload != workload:
        return None
    return run.ycsb.throughput_ops_per_s if workload == YCSB else run.tps


def _model(run: Run) -> tuple[str, str]:
    return product_of(run).vendor, product_of(run).model


def _runs_like(first: RunConditions, category: str) -> RunQuerySet:
    """Return current runs of a category that may be in the comparison group of a run."""
    runs = Run.objects.listed().filter(workload=first.run.workload, statistic=first.run.statistic)
    if first.run.workload != YCSB:
        runs = runs.filter(tps__gt=0)
    runs = runs.on_drives().current().in_category(category)
    is_log, time = ~Q(tier=Tier.PUBLISHED), compared_group(first).time  # the verdict of a log has its time
    is_of_service_time = Q(tool=DRIVETEST) | Q(tool_version__regex=SERVICE_VERSION)
    if time is None:
        return runs
    return runs.filter(is_log | (is_of_service_time if time is ReadTime.SERVICE else ~is_of_service_time))


def nearest_comparable(first: RunConditions, count: int) -> list[Product]:
    """Return the drives of at most `count` other models that compare with a run, the nearest in speed first."""
    own, found = product_of(first.run), list[Product]()
    avoided = list(Product.objects.filter(vendor=own.vendor, model=own.model))
    while len(found) < count and (nearest := nearest_to([first], first.run, [*avoided, *found])) is not None:
        found.append(product_of(nearest.run))
    return found


def nearest_sets(runs: Sequence[RunConditions], flags: Sequence[bool]) -> list[list[Run]]:
    """Return sets of runs that compare, each with some of these runs and the nearest runs in place of the others.

    `flags` are true for the runs that do not compare with those before them.
    """
    avoided = [product_of(each.run) for each in runs]
    together = [each for each, is_grey in zip(runs, flags, strict=True) if not is_grey]
    others = [each for each, is_grey in zip(runs, flags, strict=True) if is_grey]
    found = []
    for each in others[:1]:
        for remaining, replaced in ((together, each.run), ([each], together[0].run)):
            if (nearest := nearest_to(remaining, replaced, avoided)) is not None:
                found.append([*(other.run for other in remaining), nearest.run])
    return found


def example_choice(limits: Sequence[Limit]) -> Choice | None:
    """Return the fastest drive of a category within the limits, with the fastest of another maker; None without such.

    Both are of one comparison group that can be ranked.
    """
    store = current_store()
    fastest = Run.objects.filter(public_id__in=[store.runs[row] for row in _fastest_rows(store, limits)])
    ordered = fastest.with_ranked_tps().order_by(F("ranked_tps").desc(nulls_last=True), "pk")
    place = {pk: number for number, pk in enumerate(ordered.values_list("pk", flat=True)[:NEAREST_MAX])}
    found = conditions_of_runs(runs_to_compare(Run.objects.filter(pk__in=place)))
    found.sort(key=lambda each: place[each.run.pk])
    for number, first in enumerate(found):
        if compared_group(first).is_ranked:
            for second in found[number + 1 :]:
                is_other = product_of(second.run).vendor != product_of(first.run).vendor
                if is_other and compared_group(second) == compared_group(first) and are_comparable(first, second):
                    return Choice([first, second])
    return None


def _fastest_rows(store: ColumnStore, limits: Sequence[Limit]) -> list[int]:
    """Return the fastest rows of the example's category within the limits, and those as fast as the last of them."""
    category, historical = store.columns["category"].of(EXAMPLE_CATEGORY), store.columns["historical"].of("yes")
    passing = LimitCheck(store, read_limits({}, limits)).passes_profile
    wanted = category & ~historical & current_rows(store) & on_drives(store) & passing
    flags, speeds = flags_of(wanted, store.count), speeds_of(store)
    found: list[int] = []
    for row in fastest_rows(store):
        if not speeds[row] or (len(found) >= NEAREST_MAX and speeds[row] < speeds[found[-1]]):
            break
        if flags[row]:
            found.append(row)
    return found
