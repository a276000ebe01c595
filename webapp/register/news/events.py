"""Queries for the public events that are news."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db.models import Count, Min, Q, QuerySet
from django.db.models.functions import TruncDate

from results.access.withholding import REEVALUATED
from results.catalogue.claims import CLAIM_CHANGED, CLAIMS_RECOMPUTED
from results.history import PUBLISHED, for_everyone
from results.models import Certificate, Event, Product, Run, Tier
from results.reevaluation.recompute import NOT_FOUND_AGAIN, SAME
from webapp.register.news.product_sentences import NEWS_KINDS

RUN, CERTIFICATE, PRODUCT = "run", "certificate", "product"  # types of subjects
RUN_KINDS = (
    *(PUBLISHED, REEVALUATED, NOT_FOUND_AGAIN, "run-superseded", "run-unsuperseded", "run-withdrawn", "run-reinstated"),
    *("run-annotated", "annotation-retracted", "run-corrected", "correction-taken-back", "run-changed"),
)
CERTIFICATE_KINDS = ("certificate-issued", "certificate-withdrawn", "certificate-reinstated")
CLAIM_KINDS = (CLAIMS_RECOMPUTED, CLAIM_CHANGED)


def public_changes() -> QuerySet[Event]:
    """Return the events that are news.

    An import of a catalogue publishes hundreds of results at once. The first event of a day stands for all of them. A
    re-evaluation with the same result is no news.
    """
    public = Run.objects.public().values("public_id")
    certificates = Certificate.objects.filter(product__in=Product.objects.public()).values("public_id")
    of_runs = Q(subject_type=RUN, kind__in=RUN_KINDS, subject_id__in=public)
    of_certificates = Q(subject_type=CERTIFICATE, kind__in=CERTIFICATE_KINDS, subject_id__in=certificates)
    imported = Q(pk__in=imported_results().values("pk"))
    firsts = Q(pk__in=_by_day(imported_results()).values("first"))
    of_products = Q(subject_type=PRODUCT, kind__in=NEWS_KINDS)
    wanted = of_runs & ~imported | firsts | of_certificates | of_products | Q(kind__in=CLAIM_KINDS)
    found = Event.objects.filter(wanted)
    # A subquery, because the comparison with a missing key is null, which would exclude the event.
    unchanged = Event.objects.filter(kind=REEVALUATED, details__kind=SAME)
    return for_everyone(found.exclude(pk__in=unchanged.values("pk")))


def newest_first(events: QuerySet[Event]) -> QuerySet[Event]:
    """Return events, the newest first; of one moment, the one that was recorded last."""
    return events.order_by("-at", "-pk")


def older_than(events: QuerySet[Event], last: Event) -> QuerySet[Event]:
    """Return the events of `newest_first` that follow one of them."""
    return events.filter(Q(at__lt=last.at) | Q(at=last.at, pk__lt=last.pk))


def imported_results() -> QuerySet[Event]:
    """Return the publications of results that came with a catalogue of published results."""
    published = Run.objects.public().filter(tier=Tier.PUBLISHED).values("public_id")
    return Event.objects.filter(kind=PUBLISHED, subject_type=RUN, subject_id__in=published)


def first_change() -> Event | None:
    """Return the first change of the register; None if it has none."""
    return public_changes().order_by("at", "pk").first()


@dataclass(frozen=True)
class CatalogueImport:
    """The results that were imported on one day: how many, and whether they are the first change of the register."""

    results_count: int
    is_opening: bool


def catalogue_imports(first: Event | None) -> dict[int, CatalogueImport]:
    """Return the imports by the id of the event that stands for each, from the first change and one query."""
    days = _by_day(imported_results()).values_list("first", "results_count")
    return {pk: CatalogueImport(count, first is not None and pk == first.pk) for pk, count in days}


def _by_day(events: QuerySet[Event]) -> QuerySet[Any, Any]:
    """Return the number and the lowest id of the events of each day in UTC."""
    days = events.order_by().annotate(day=TruncDate("at", tzinfo=UTC)).values("day")
    return days.annotate(first=Min("pk"), results_count=Count("pk"))


def between(events: QuerySet[Event], start: datetime, end: datetime) -> QuerySet[Event]:
    """Return the events from `start` on and before `end`."""
    return events.filter(at__gte=start, at__lt=end)
