"""`manage.py link_maker SPELLING SLUG`: link a spelling of a vendor to the organisation that makes its drives."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from results.history import record_event
from results.models import Maker, Organisation


class Command(BaseCommand):
    help = "Link a spelling of a vendor to an organisation: its members approve no result of the vendor's drives."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("spelling", nargs="?", help="the vendor as products state it; without it, list all links")
        parser.add_argument("slug", nargs="?", help="slug of the organisation")
        parser.add_argument("--remove", action="store_true", help="remove the link")

    def handle(self, *args: Any, **options: Any) -> None:
        spelling, slug = options["spelling"], options["slug"]
        if not spelling:
            for maker in Maker.objects.select_related("organisation"):
                self.stdout.write(f"{maker.spelling}: {maker.organisation.slug}")
            return
        organisation = Organisation.objects.filter(slug=slug).first()
        if organisation is None:
            raise CommandError(f"expected the slug of an organisation, got {slug!r}")
        with transaction.atomic():
            self._change(spelling, organisation, is_removed=options["remove"])

    def _change(self, spelling: str, organisation: Organisation, *, is_removed: bool) -> None:
        links = Maker.objects.filter(spelling__iexact=spelling, organisation=organisation)
        if is_removed != links.exists():
            found = "is not linked" if is_removed else "is linked already"
            raise CommandError(f"{spelling}: {found} to {organisation.slug}. Nothing was changed.")
        if is_removed:
            links.delete()
        else:
            Maker.objects.create(spelling=spelling, organisation=organisation)
        kind, done = ("maker-unlinked", "no longer linked") if is_removed else ("maker-linked", "linked")
        record_event(None, kind, ("organisation", organisation.slug), "", {"spelling": spelling})
        self.stdout.write(f"{spelling}: {done} to {organisation.slug}")
