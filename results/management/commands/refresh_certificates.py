"""`manage.py refresh_certificates`: compute every product's certificates again, after their rules have changed."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.db import transaction

from results.certification.certificates import refresh_certificates
from results.models import Event, Product


class Command(BaseCommand):
    help = "Issue and withdraw certificates by the current rules, each with an event; --dry-run only prints."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="print only; nothing is written")

    def handle(self, *args: Any, **options: Any) -> None:
        for product in Product.objects.order_by("pk").iterator():
            for event in _refresh(product, is_dry=options["dry_run"]):
                self.stdout.write(f"{product.slug}: {event.kind} {event.subject_id}: {event.reason}")


def _refresh(product: Product, *, is_dry: bool) -> list[Event]:
    """Refresh one product in a transaction of its own and return the events of it."""
    with transaction.atomic():
        before = Event.objects.filter(subject_type="certificate").order_by("-pk").values_list("pk", flat=True).first()
        refresh_certificates([product.pk])
        events = list(Event.objects.filter(subject_type="certificate", pk__gt=before or 0))
        transaction.set_rollback(is_dry)
    return events
