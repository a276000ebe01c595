"""`manage.py link_maker SPELLING SLUG`: link a spelling of a vendor to the organisation that makes its drives."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from results.errors import ReviewRefusedError
from results.lifecycle.makers import link_spelling, unlink_spelling
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
        change = unlink_spelling if options["remove"] else link_spelling
        try:
            change(None, spelling, organisation)
        except ReviewRefusedError as refusal:
            raise CommandError(str(refusal)) from refusal
        done = "no longer linked" if options["remove"] else "linked"
        self.stdout.write(f"{spelling}: {done} to {organisation.slug}")
