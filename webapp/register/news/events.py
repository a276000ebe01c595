"""Queries for the public events that are news."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import (
    BigIntegerField,
    Count,
    DateTimeField,
    ExpressionWrapper,
    Func,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
)
from django.db.models.functions import TruncDate, TruncDay

from results.access.withholding import REEVALUATED
from results.catalogue.claims import CLAIM_CHANGED, CLAIMS_RECOMPUTED
from results.history import PUBLISHED, for_everyone
from results.models import Certificate, Event, Product, Run, Tier
from results.reevaluation.recompute import NOT_FOUND_AGAIN, SAME
from webapp.register.news import objection_sentences
from webapp.register.news.product_sentences import NEWS_KINDS

RUN, CERTIFICATE, PRODUCT = "run", "certificate", "product"  # types of subjects
RUN_KINDS = (
    *(PUBLISHED, REEVALUATED, NOT_FOUND_AGAIN, "run-superseded", "run-unsuperseded", "run-withdrawn", "run-reinstated"),
    *("run-annotated", "annotation-retracted", "run-corrected", "correction-taken-back", "run-changed"),
    *objection_sentences.NEWS_KINDS,
)
CERTIFICATE_KINDS = ("certificate-issued", "certificate-withdrawn", "certificate-reinstated")
CLAIM_KINDS = (CLAIMS_RECOMPUTED, CLAIM_CHANGED)


def public_changes() -> QuerySet[Event]:
    """Return the events that are news.

    An import of a catalogue publishes hundreds of results at once. The first event of a day stands for all of them. A
    re-evaluation with the same result is no news.
    """
    midnight = TruncDay("at", tzinfo=UTC)
    found = Event.objects.alias(
        midnight=midnight,
        next_midnight=ExpressionWrapper(midnight + timedelta(days=1), DateTimeField()),
        public_run=_of_subject(Run.objects.public()),
        public_certificate=_of_subject(Certificate.objects.filter(product__in=Product.objects.public())),
        imported_run=_of_subject(_published_runs()),
    )
    of_runs = Q(subject_type=RUN, kind__in=RUN_KINDS, public_run__isnull=False)
    of_certificates = Q(subject_type=CERTIFICATE, kind__in=CERTIFICATE_KINDS, public_certificate__isnull=False)
    imported = Q(subject_type=RUN, kind=PUBLISHED, imported_run__isnull=False)
    of_products = Q(subject_type=PRODUCT, kind__in=NEWS_KINDS)
    is_first = Q(pk=Subquery(_first_of_day()))
    wanted = of_runs & (~imported | is_first) | of_certificates | of_products | Q(kind__in=CLAIM_KINDS)
    return for_everyone(found.filter(wanted).exclude(kind=REEVALUATED, details__contains={"kind": SAME}))


def _of_subject(rows: QuerySet[Any]) -> Subquery:
    """Return the row that an event is about, null if it is not one of these rows.

    It is read for each event, so the newest events are found without reading all rows; a condition `in` reads them all.
    """
    return Subquery(rows.filter(public_id=OuterRef("subject_id")).values("pk")[:1])


def _first_of_day() -> QuerySet[Any, Any]:
    """Return the id of the first imported result of the day of an event, whose bounds in UTC are in two columns."""
    of_day = imported_results().filter(at__gte=OuterRef("midnight"), at__lt=OuterRef("next_midnight"))
    return of_day.order_by("at", "pk").values("pk")[:1]


def newest_first(events: QuerySet[Event]) -> QuerySet[Event]:
    """Return events, the newest first; of one moment, the one that was recorded last."""
    return events.order_by("-at", "-pk")


def older_than(events: QuerySet[Event], last: Event) -> QuerySet[Event]:
    """Return the events of `newest_first` that follow one of them."""
    return events.filter(Q(at__lt=last.at) | Q(at=last.at, pk__lt=last.pk))


def imported_results() -> QuerySet[Event]:
    """Return the publications of results that came with a catalogue of published results."""
    return Event.objects.filter(kind=PUBLISHED, subject_type=RUN, subject_id__in=_published_runs().values("public_id"))


def _published_runs() -> QuerySet[Run]:
    return Run.objects.public().filter(tier=Tier.PUBLISHED)


def first_change() -> Event | None:
    """Return the first change of the register; None if it has none."""
    return public_changes().order_by("at", "pk").first()


@dataclass(frozen=True)
class CatalogueImport:
    """The results that were imported on one day: how many, and whether they are the first change of the register."""

    results_count: int
    is_opening: bool


def catalogue_imports(first: Event | None, start: datetime, end: datetime) -> dict[int, CatalogueImport]:
    """Return the imports of the days from one moment to another by the id of the event that stands for each.

    One query; `first` is the first change of the register.
    """
    midnight = start.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    after = end.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    days = between(imported_results(), midnight, after).order_by().annotate(day=TruncDate("at", tzinfo=UTC))
    ids = ArrayAgg("pk", order_by=("at", "pk"))
    first_id = Func(ids, template="(%(expressions)s)[1]", output_field=BigIntegerField())
    counts = days.values("day").annotate(first=first_id, results_count=Count("pk"))
    return {
        pk: CatalogueImport(count, first is not None and pk == first.pk)
        for pk, count in counts.values_list("first", "results_count")
    }


def between(events: QuerySet[Event], start: datetime, end: datetime) -> QuerySet[Event]:
    """Return the events from `start` on and before `end`."""
    return events.filter(at__gte=start, at__lt=end)
