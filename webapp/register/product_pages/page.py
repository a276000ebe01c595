"""Sections of a product page: certificates and attempts, and the history."""

from collections.abc import Collection, Iterable
from typing import Any

from django.db.models import Q

from results.access.withholding import attempt_sentences, visible_events
from results.history import event_label, for_everyone
from results.models import Certificate, Event, Product
from results.naming.addresses import all_slugs, own_slugs
from results.products.moves import MERGED
from webapp.register.news.product_sentences import change_words
from webapp.register.runs.page import HistoryLine, public_line
from webapp.templatetags import units


def certificates_of(product: Product) -> list[dict[str, Any]]:
    """Return the product's certificates with their runs and histories, the current ones first."""
    rows = list(product.certificates.select_related("profile").prefetch_related("runs").order_by("state", "-nx_load"))
    ids = [certificate.public_id for certificate in rows]
    histories: dict[str, list[Event]] = {public_id: [] for public_id in ids}
    for event in Event.objects.filter(subject_type="certificate", subject_id__in=ids):
        histories[event.subject_id].append(event)
    return [_view(certificate, histories[certificate.public_id]) for certificate in rows]


def _view(certificate: Certificate, events: list[Event]) -> dict[str, Any]:
    return {
        "certificate": certificate,
        "run_ids": [run.public_id for run in certificate.runs.all()],
        "present": [requirement["sentence"] for requirement in certificate.document["present"]],
        "reasons": certificate.document["reasons"],
        "history": [_line(event) for event in events],
    }


def _line(event: Event) -> str:
    reason = f": {event.reason}" if event.reason else ""
    return f"{units.moment(event.at)}: {event_label(event.kind)}{reason}"


def attempts_view(found: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return met and missing requirements for each number of devices, of the attempts of a product."""
    return [
        {
            "title": _title(attempt["device_count"], attempt["attempted_nx"]),
            "profile": attempt["profile"],
            **attempt_sentences(attempt),
        }
        for attempt in found
        if not attempt["is_certified"]
    ]


def _title(device_count: int, attempted_nx: str | None) -> str:
    devices = "one device" if device_count == 1 else f"{device_count} devices"
    at = f" at {attempted_nx}" if attempted_nx else ""
    return f"No certificate for {devices}{at} yet"


SHOWN_EVENTS = 50


def history_of(product: Product, run_ids: Collection[str]) -> dict[str, Any]:
    """Return the newest public events of a product, its certificates and its public runs, and the number of all."""
    certificates = list(product.certificates.values_list("public_id", flat=True))
    own, every = own_slugs(product), all_slugs(product)
    # For a merge, both products have an event; the history shows the one of the product itself.
    of_merged = Q(kind=MERGED) & ~Q(subject_id__in=own)
    of_product = Event.objects.exclude(of_merged).filter(
        Q(subject_type="product", subject_id__in=every)
        | Q(subject_type="certificate", subject_id__in=certificates)
        | Q(subject_type="run", subject_id__in=run_ids)
    )
    found = for_everyone(of_product)
    newest = list(found.order_by("-at", "-id")[:SHOWN_EVENTS])
    events = [(event, _history_line(event)) for event in visible_events(newest)]
    return {"events": events, "total": found.count()}


def _history_line(event: Event) -> HistoryLine:
    line = public_line(event)
    return line | {"details": change_words(event.kind, event.details)} if event.subject_type == "product" else line
