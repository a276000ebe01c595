"""The register's query vocabulary: views and tasks read as sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

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


RATED_WORKLOAD = "act-storage"  # the workload of certificates, and of the tables that rank drives


class ProductQuerySet(models.QuerySet["Product"]):
    """Products by what the public may see of them."""

    def current(self) -> ProductQuerySet:
        """Return the products that are not historical."""
        return self.filter(historical=False)

    def historical(self) -> ProductQuerySet:
        """Return the products that are no longer recommended."""
        return self.filter(historical=True)

    def public(self) -> ProductQuerySet:
        """Return the products with a public run: an unreviewed run must not reveal its product."""
        return self.filter(Exists(apps.get_model("results", "Run").objects.public().filter(product=OuterRef("pk"))))


QueuedRow = TypeVar("QueuedRow", bound=models.Model)


class ReadingQuerySet(models.QuerySet[QueuedRow]):
    """Queries for readings that wait in the queue."""

    def unfinished(self) -> ReadingQuerySet[QueuedRow]:
        """Return the readings that are pending, or begun and not ended (the reader may have died)."""
        return self.filter(state__in=["pending", "reading"])

    def due(self) -> ReadingQuerySet[QueuedRow]:
        """Return the unfinished readings outside the pause after an attempt; one whose worker died has no pause."""
        has_waited = Q(next_attempt_at__isnull=True) | Q(next_attempt_at__lte=timezone.now())
        return self.unfinished().filter(has_waited)


class HistogramQuerySet(models.QuerySet["Histogram"]):
    """Queries for histograms by content."""

    def judged(self) -> HistogramQuerySet:
        """Return the histograms of reads that verdicts use; a reading without roles is of 6.x, and the name decides."""
        return self.filter(Q(role="reads") | Q(role="", name="reads"))


class SliceQuerySet(models.QuerySet["Slice"]):
    """Queries for slices with the counts of one histogram; those of all histograms may be a thousand times as many."""

    def of_histogram(self, ordinal: int | Subquery) -> SliceQuerySet:
        """Return the slices with one histogram of their run; `own_counts` is the row of its counts by bucket."""
        own = self.annotate(own_counts=_RowOf(F("counts"), ordinal)).defer("counts")
        return own.filter(own_counts__0__0__isnull=False)

    def of_judged(self) -> SliceQuerySet:
        """Return the slices with the reads that verdicts use."""
        judged = apps.get_model("results", "Histogram").objects.judged().filter(run=OuterRef("run"))
        return self.of_histogram(Subquery(judged.order_by("ordinal").values("ordinal")[:1]))


class _RowOf(models.Func):
    """An array of arrays with only the row at an offset from 0; PostgreSQL counts from 1."""

    arity = 2

    def _resolve_output_field(self) -> models.Field[Any, Any] | None:
        return self.get_source_fields()[0]

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, *_: Any, **__: Any) -> tuple[str, Any]:
        array, place = (compiler.compile(expression) for expression in self.get_source_expressions())
        sql = f"(({array[0]})[{place[0]} + 1:{place[0]} + 1])"
        return sql, (*array[1], *place[1], *place[1])


class RunQuerySet(models.QuerySet["Run"]):
    """Queries for runs by visibility, and by the table that lists them."""

    def public(self) -> RunQuerySet:
        """Return the public runs on physical devices, also superseded and withdrawn ones, which stay readable.

        Example runs are left out here, and so from every list, count, file, feed, ladder and certificate.
        """
        return self.filter(
            visibility__in=["public", "superseded", "withdrawn"],
            product__isnull=False,
            is_virtual=False,
            is_demo=False,
        )

    def examples(self) -> RunQuerySet:
        """Return the example runs that are shown at their own addresses, the lowest load first."""
        return self.filter(visibility="public", is_demo=True).order_by("nx_load", "pk")

    def withheld(self) -> RunQuerySet:
        """Return the runs with a sequestered or hidden log, side file or companion: no reader gets its content."""
        return self._with_a_file(Q(sequestered=True) | Q(hidden=True))

    def with_sequestered_file(self) -> RunQuerySet:
        """Return the runs with a log, side file or companion that is withheld for legal reasons."""
        return self._with_a_file(Q(sequestered=True))

    def _with_a_file(self, condition: Q) -> RunQuerySet:
        files = apps.get_model("results", "Evidence").objects.filter(condition).values("pk")
        companions = apps.get_model("results", "Companion").objects.filter(evidence__in=files)
        return self.filter(
            Q(reading__evidence__in=files)
            | Q(submission__log__in=files)
            | Q(submission__side_file__in=files)
            | Q(submission__in=companions.values("submission"))
        )

    def with_withheld_flag(self) -> RunQuerySet:
        """Add the column `has_withheld_attachment`: a file that came with the log is sequestered or hidden."""
        evidence = apps.get_model("results", "Evidence").objects.filter(Q(sequestered=True) | Q(hidden=True))
        companions = apps.get_model("results", "Companion").objects.filter(evidence__in=evidence.values("pk"))
        of_lab = Exists(evidence.filter(pk=OuterRef("submission__side_file")))
        of_sender = Exists(companions.filter(submission=OuterRef("submission")))
        return self.annotate(has_withheld_attachment=of_lab | of_sender)

    def listed(self) -> RunQuerySet:
        """Return the public runs that tables list: they are neither superseded nor withdrawn."""
        return self.public().filter(visibility="public")

    def not_sequestered(self) -> RunQuerySet:
        """Return the runs without those that a takedown withholds, also from their organisation and reviewers."""
        return self.exclude(visibility="sequestered")

    def embargoed(self) -> RunQuerySet:
        """Return the reviewed runs that are not public before the embargo of their submission ends."""
        return self.filter(visibility="embargoed")

    def rated(self) -> RunQuerySet:
        """Return the runs of the workload by which tables rank drives."""
        return self.filter(workload=RATED_WORKLOAD)

    def on_drives(self) -> RunQuerySet:
        """Return the runs without those on virtual devices, which the names of their devices reveal."""
        return self.exclude(is_on_no_drive=True)

    def of_act(self) -> RunQuerySet:
        """Return the runs that load devices directly. The tables of drives have columns for these."""
        return self.exclude(workload="ycsb")

    def of_ycsb(self) -> RunQuerySet:
        """Return the runs of YCSB through a database, with the rows that only these have."""
        return self.filter(workload="ycsb").select_related("ycsb").with_withheld_flag()

    def current(self) -> RunQuerySet:
        """Return the runs of products that are not historical."""
        return self.filter(product__historical=False)

    def historical(self) -> RunQuerySet:
        """Return the runs of products that are no longer recommended."""
        return self.filter(product__historical=True)

    def in_category(self, category: str) -> RunQuerySet:
        """Return the runs of the products of one table."""
        return self.filter(product__category=category)

    def within(self, limits: Iterable[Limit], *, is_own: bool = False) -> RunQuerySet:
        """Return the runs whose own statistic is within every limit. A run judged from its log must also have passed.

        With a reader's own limits, a log also counts if it fails only by shares over the profile's limits:
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
        """Return the runs with at most a percentage over a threshold, exact to nine places; one index answers it."""
        shares = apps.get_model("results", "Share").objects
        within = shares.filter(statistic=statistic, threshold_us=threshold_us, share_pct__lte=at_most_pct)
        return self.filter(pk__in=within.values("run"))

    def with_ranked_tps(self) -> RunQuerySet:
        """Add the column `ranked_tps`: the speed of one device, or of a system as a whole; null if unknown.

        A published result of a drive without a number of devices counts as one device. A log without one has no
        ranked speed.
        """
        is_of_a_drive = Q(device_count__gte=1) | Q(device_count=None, statistic="steady-as-published")
        by_device = F("tps") / Coalesce(F("device_count"), 1)
        ranked = Case(When(product__category__in=SYSTEMS, then=F("tps")), When(is_of_a_drive, then=by_device))
        return self.annotate(ranked_tps=ranked)

    def for_table(self) -> RunQuerySet:
        """Add everything that a table row shows, in a fixed number of queries."""
        verdicts = apps.get_model("results", "Verdict").objects.order_by("-created_at", "-id").defer("document")
        current = apps.get_model("results", "Annotation").objects.current()
        return (
            self.select_related("product", "superseded_by")
            .annotate(mark_reason=_mark_reason())
            .prefetch_related("shares", Prefetch("verdicts", verdicts), Prefetch("annotations", current))
        )


def _mark_reason() -> Case:
    """Return the reason of the newest event that superseded or withdrew a run; empty for a current run."""
    moves = apps.get_model("results", "Event").objects.filter(
        subject_type="run", subject_id=OuterRef("public_id"), kind=Concat(Value("run-"), OuterRef("visibility"))
    )
    newest = Subquery(moves.order_by("-at", "-id").values("reason")[:1])
    marked = When(visibility__in=["superseded", "withdrawn"], then=Coalesce(newest, Value("")))
    return Case(marked, default=Value(""), output_field=models.TextField())


def _shares_over(limits: Iterable[Limit]) -> models.QuerySet[models.Model]:
    """Return the shares of the outer run, in its own statistic, that are over one of the limits."""
    over = Q(pk__in=[])
    for limit in limits:
        over |= Q(threshold_us=limit.threshold_us, share_pct__gt=limit.limit_pct)
    own = Q(run=OuterRef("pk"), statistic=F("run__statistic"))
    return apps.get_model("results", "Share").objects.filter(own & over)
