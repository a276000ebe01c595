"""What became of a product: everything that was done to its runs and certificates, the newest first."""

from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Q

from results.access.history import for_everyone
from results.access.redaction import events_told
from results.models import Event, Product
from webapp.register.runs.lifecycle import HistoryLine, told_line

SHOWN_EVENTS = 50


@dataclass(frozen=True)
class ProductEvent:
    """One event, and the run or certificate that it is about; both are empty where it is the product itself."""

    line: HistoryLine
    run_id: str
    certificate_id: str


@dataclass(frozen=True)
class ProductHistory:
    """The newest events of a product, and how many there are in all."""

    events: list[ProductEvent]
    total: int


def history_of(product: Product, run_ids: Collection[str]) -> ProductHistory:
    """Return what was done to a product and to the runs of it that everyone may see."""
    certificates = list(product.certificates.values_list("public_id", flat=True))
    of_product = Event.objects.filter(
        Q(subject_type="product", subject_id=product.slug)
        | Q(subject_type="certificate", subject_id__in=certificates)
        | Q(subject_type="run", subject_id__in=run_ids)
    )
    found = for_everyone(of_product)
    newest = list(found.order_by("-at", "-id")[:SHOWN_EVENTS])
    return ProductHistory([_told(event) for event in events_told(newest)], found.count())


def _told(event: Event) -> ProductEvent:
    is_run, is_certificate = event.subject_type == "run", event.subject_type == "certificate"
    return ProductEvent(told_line(event), event.subject_id * is_run, event.subject_id * is_certificate)
