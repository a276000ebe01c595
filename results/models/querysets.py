"""The register's query vocabulary: views and tasks read as sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.db import models
from django.db.models import Case, Exists, F, OuterRef, Prefetch, Q, Subquery, Value, When
from django.db.models.functions import Coalesce, Concat
from django.utils import timezone

from results.models.categories import SYSTEMS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from decimal import Decimal

    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.models.sql.compiler import SQLCompiler

    from results.models import Histogram, Product, Reading, Run, Slice  # noqa: F401 - named in the type arguments below
    from results.rules.act.limits import Limit


class ProductQuerySet(models.QuerySet["Product"]):
    """Products by what the public may see of them."""

    def current(self) -> ProductQuerySet:
        """Leave out what is historical."""
        return self.filter(historical=False)

    def historical(self) -> ProductQuerySet:
        """Only what is no longer recommended."""
        return self.filter(historical=True)

    def public(self) -> ProductQuerySet:
        """Only products with a run that everyone may see: an unreviewed run must not give its product away."""
        return self.filter(Exists(apps.get_model("results", "Run").objects.public().filter(product=OuterRef("pk"))))


class ReadingQuerySet(models.QuerySet["Reading"]):
    """Readings by what the sweeper has to do."""

    def unfinished(self) -> ReadingQuerySet:
        """Pending, or begun and not ended (the reader may have died)."""
        return self.filter(state__in=["pending", "reading"])

    def due(self) -> ReadingQuerySet:
        """Unfinished and not in the pause after an attempt; one whose worker died has no pause."""
        has_waited = Q(next_attempt_at__isnull=True) | Q(next_attempt_at__lte=timezone.now())
        return self.unfinished().filter(has_waited)


class HistogramQuerySet(models.QuerySet["Histogram"]):
    """Histograms by what they hold."""

    def judged(self) -> HistogramQuerySet:
        """The reads that verdicts are about; a reading without roles is of 6.x, where their name says it."""
        return self.filter(Q(role="reads") | Q(role="", name="reads"))


class SliceQuerySet(models.QuerySet["Slice"]):
    """Slices by the histogram that is looked at: the counts of all of them may be a thousand times its own."""

    def of_histogram(self, ordinal: int | Subquery) -> SliceQuerySet:
        """Slices that hold a histogram of their run; `own_counts` is the one row of its counts by bucket."""
        own = self.annotate(own_counts=_RowOf(F("counts"), ordinal)).defer("counts")
        return own.filter(own_counts__0__0__isnull=False)

    def of_judged(self) -> SliceQuerySet:
        """Slices that hold the reads which verdicts are about."""
        judged = apps.get_model("results", "Histogram").objects.judged().filter(run=OuterRef("run"))
        return self.of_histogram(Subquery(judged.order_by("ordinal").values("ordinal")[:1]))


class _RowOf(models.Func):
    """An array of arrays with nothing but the row in a place from 0 on; PostgreSQL counts from 1."""

    arity = 2

    def _resolve_output_field(self) -> models.Field[Any, Any] | None:
        return self.get_source_fields()[0]

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, *_: Any, **__: Any) -> tuple[str, Any]:
        array, place = (compiler.compile(expression) for expression in self.get_source_expressions())
        sql = f"(({array[0]})[{place[0]} + 1:{place[0]} + 1])"
        return sql, (*array[1], *place[1], *place[1])


class RunQuerySet(models.QuerySet["Run"]):
    """Runs by who may see them, and by the table they stand in."""

    def public(self) -> RunQuerySet:
        """Published runs, those superseded or withdrawn since included: they stay readable, marked. Of drives only."""
        return self.filter(
            visibility__in=["public", "superseded", "withdrawn"], product__isnull=False, is_virtual=False
        )

    def withheld(self) -> RunQuerySet:
        """Runs with a sequestered log, side file or companion; its content is hidden from everyone."""
        sequestered = apps.get_model("results", "Evidence").objects.filter(sequestered=True).values("pk")
        companions = apps.get_model("results", "Companion").objects.filter(evidence__in=sequestered)
        return self.filter(
            Q(reading__evidence__in=sequestered)
            | Q(submission__log__in=sequestered)
            | Q(submission__side_file__in=sequestered)
            | Q(submission__in=companions.values("submission"))
        )

    def with_withheld_flag(self) -> RunQuerySet:
        """With `has_withheld_attachment`: whether a file that came with the log is sequestered."""
        evidence = apps.get_model("results", "Evidence").objects.filter(sequestered=True)
        companions = apps.get_model("results", "Companion").objects.filter(evidence__sequestered=True)
        of_lab = Exists(evidence.filter(pk=OuterRef("submission__side_file")))
        of_sender = Exists(companions.filter(submission=OuterRef("submission")))
        return self.annotate(has_withheld_attachment=of_lab | of_sender)

    def standing(self) -> RunQuerySet:
        """Published, and neither superseded nor withdrawn."""
        return self.public().filter(visibility="public")

    def embargoed(self) -> RunQuerySet:
        """Reviewed, and not public before the embargo of their submission ends."""
        return self.filter(visibility="embargoed")

    def withdrawn(self) -> RunQuerySet:
        """Published and withdrawn since."""
        return self.public().filter(visibility="withdrawn")

    def superseded(self) -> RunQuerySet:
        """Published, and replaced by another run of the product."""
        return self.public().filter(visibility="superseded")

    def rated(self) -> RunQuerySet:
        """Runs of the workload that the tables of drives rate by."""
        return self.filter(workload="act-storage")

    def on_drives(self) -> RunQuerySet:
        """Runs but those on devices that are no drives by their names, which show nothing of a drive."""
        return self.exclude(is_on_no_drive=True)

    def of_act(self) -> RunQuerySet:
        """Runs that load devices directly: what the tables of drives have columns for."""
        return self.exclude(workload="ycsb")

    def of_ycsb(self) -> RunQuerySet:
        """Runs of YCSB through a database, with what only those have."""
        return self.filter(workload="ycsb").select_related("ycsb").with_withheld_flag()

    def current(self) -> RunQuerySet:
        """Runs of products that are not historical."""
        return self.filter(product__historical=False)

    def historical(self) -> RunQuerySet:
        """Runs of products that are no longer recommended."""
        return self.filter(product__historical=True)

    def in_category(self, category: str) -> RunQuerySet:
        """Runs of the products of one table."""
        return self.filter(product__category=category)

    def within(self, limits: Iterable[Limit], *, is_own: bool = False) -> RunQuerySet:
        """Runs whose own statistic keeps within every limit; one judged from its log must have passed.

        Where the limits are a reader's own, a log also counts that fails by shares over the profile's limits alone:
        webapp/register/limits/reader_limits.py, passes_limits().
        """
        verdicts = (
            apps.get_model("results", "Verdict").objects.filter(run=OuterRef("pk")).order_by("-created_at", "-id")
        )
        latest = self.annotate(latest_outcome=Subquery(verdicts.values("outcome")[:1]))
        judged = Q(statistic="steady-as-published", latest_outcome__isnull=True) | Q(latest_outcome="pass")
        if is_own:
            latest = latest.annotate(is_decided_by_limits=Subquery(verdicts.values("is_decided_by_limits")[:1]))
            judged |= Q(is_decided_by_limits=True)
        return latest.filter(judged).exclude(Exists(_shares_over(limits)))

    def holding(self, threshold_us: int, at_most_pct: Decimal, statistic: str = "worst-slice") -> RunQuerySet:
        """Runs with at most so many percent over a threshold, exact to nine places; one index answers it."""
        shares = apps.get_model("results", "Share").objects
        within = shares.filter(statistic=statistic, threshold_us=threshold_us, share_pct__lte=at_most_pct)
        return self.filter(pk__in=within.values("run"))

    def with_ranked_tps(self) -> RunQuerySet:
        """With the speed that runs are ranked by: of one device, of a system as a whole; null where unknown.

        A published result of a drive that states no number of devices is taken as one; a log that states none reports
        nothing.
        """
        is_of_a_drive = Q(device_count__gte=1) | Q(device_count=None, statistic="steady-as-published")
        by_device = F("tps") / Coalesce(F("device_count"), 1)
        ranked = Case(When(product__category__in=SYSTEMS, then=F("tps")), When(is_of_a_drive, then=by_device))
        return self.annotate(ranked_tps=ranked)

    def for_table(self) -> RunQuerySet:
        """With everything that a row shows, in a fixed number of queries."""
        verdicts = apps.get_model("results", "Verdict").objects.order_by("-created_at", "-id").defer("document")
        standing = apps.get_model("results", "Annotation").objects.standing()
        return (
            self.select_related("product", "superseded_by")
            .annotate(mark_reason=_mark_reason())
            .prefetch_related("shares", Prefetch("verdicts", verdicts), Prefetch("annotations", standing))
        )


def _mark_reason() -> Case:
    """Why a run was superseded or withdrawn, by the newest event that made it so; empty for a current one."""
    moves = apps.get_model("results", "Event").objects.filter(
        subject_type="run", subject_id=OuterRef("public_id"), kind=Concat(Value("run-"), OuterRef("visibility"))
    )
    newest = Subquery(moves.order_by("-at", "-id").values("reason")[:1])
    marked = When(visibility__in=["superseded", "withdrawn"], then=Coalesce(newest, Value("")))
    return Case(marked, default=Value(""), output_field=models.TextField())


def _shares_over(limits: Iterable[Limit]) -> models.QuerySet[models.Model]:
    """Shares of the outer run, in its own statistic, that are over one of the limits."""
    over = Q(pk__in=[])
    for limit in limits:
        over |= Q(threshold_us=limit.threshold_us, share_pct__gt=limit.limit_pct)
    own = Q(run=OuterRef("pk"), statistic=F("run__statistic"))
    return apps.get_model("results", "Share").objects.filter(own & over)
