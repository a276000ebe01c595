"""A submission's runs next to comparable results, for reviewers: earlier results of the drive, and outlier hints."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import QuerySet

from results.models import Run, Share, Statistic, Verdict
from results.rules.act.outliers import OutlierTest, outlier_test
from webapp.register.tables.groups import group_of
from webapp.templatetags import units

SHOWN_RESULTS = 20


@dataclass(frozen=True)
class ComparedResult:
    """Another result in a table: its speed of one device, its worst shares, and its newest verdict."""

    run: Run
    tps: Decimal | None
    shares: Sequence[Share]
    verdict: Verdict | None


@dataclass(frozen=True)
class OutlierHint:
    """A figure that is far from those of comparable drives."""

    run_id: str
    figure: str
    test: OutlierTest

    @property
    def sentence(self) -> str:
        """Return the hint in words."""
        others = f"the median of {units.counted(self.test.others, 'comparable result')}"
        return f"{self.figure} is {self.test.factor:.2g} times {others} (robust score {self.test.score:.1f})."


def comparison_part(runs: Sequence[Run]) -> dict[str, Any]:
    """Return the comparison of a submission's runs for its page."""
    return {
        "outlier_hints": outlier_hints(runs),
        "earlier_results": earlier_results(runs),
        "similar_results": similar_results(runs),
    }


def earlier_results(runs: Iterable[Run]) -> list[ComparedResult]:
    """Return the other results of the drives of some runs, published or not, the newest first."""
    own = list(runs)
    products = {run.product_id for run in own if run.product_id}
    others = Run.objects.not_sequestered().filter(product__in=products).exclude(pk__in=[run.pk for run in own])
    return _compared(others.order_by("-created_at", "-pk"))


def similar_results(runs: Iterable[Run]) -> list[ComparedResult]:
    """Return current public results of other drives of the same group, those of the nearest capacity first."""
    run = next((run for run in runs if run.product_id and run.tps), None)
    if run is None or run.product is None:
        return []
    capacity = run.product.capacity_gb or 0
    group = [other for other in _group(run) if other.product_id != run.product_id]
    nearest = sorted(group, key=lambda other: (abs((other.product.capacity_gb or 0) - capacity), other.pk))  # type: ignore[union-attr]
    shown = [other.pk for other in nearest[:SHOWN_RESULTS]]
    found = _compared(Run.objects.filter(pk__in=shown))
    return sorted(found, key=lambda result: shown.index(result.run.pk))


def outlier_hints(runs: Iterable[Run]) -> list[OutlierHint]:
    """Return the figures of some runs that are outliers among comparable results: speeds and worst shares."""
    found = []
    for run in runs:
        if not run.product_id or run.tps is None:
            continue
        group = [other for other in _group(run) if other.product_id != run.product_id]
        tested = {"The speed of one device": (_speed(run), [_speed(other) for other in group])}
        for share in run.shares.filter(statistic=Statistic.WORST_SLICE):
            others = Share.objects.filter(
                run__in=[other.pk for other in group], statistic=share.statistic, threshold_us=share.threshold_us
            )
            name = f"The worst share over {units.threshold(share.threshold_us)}"
            tested[name] = (share.share_pct, list(others.values_list("share_pct", flat=True)))
        for name, (figure, figures) in tested.items():
            test = outlier_test(float(figure or 0), [float(each) for each in figures if each])
            if test is not None and test.is_outlier:
                found.append(OutlierHint(run.public_id, name, test))
    return found


def _group(run: Run) -> list[Run]:
    """Return the current public results of the run's category and comparison group."""
    assert run.product is not None  # noqa: S101 - both callers check it; for the type checker
    same = Run.objects.listed().rated().filter(product__category=run.product.category, statistic=run.statistic)
    rows = same.exclude(pk=run.pk).select_related("product").defer("facts", "source_row")
    return [other for other in rows if group_of(other) == group_of(run)]


def _speed(run: Run) -> Decimal | None:
    return None if run.tps is None else run.tps / (run.device_count or 1)


def _compared(runs: QuerySet[Run]) -> list[ComparedResult]:
    rows = runs.select_related("product").prefetch_related("shares", "verdicts")[:SHOWN_RESULTS]
    return [
        ComparedResult(
            run,
            _speed(run),
            [share for share in run.shares.all() if share.statistic == run.statistic],
            next(iter(run.verdicts.all()), None),
        )
        for run in rows
    ]
