"""`manage.py add_organisation SLUG NAME`: enter who sends results."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from results.models import Organisation


class Command(BaseCommand):
    help = "Add an organisation; one that exists stays as it is."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("name")
        parser.add_argument("--kind", choices=Organisation.Kind.values, default=Organisation.Kind.VENDOR)

    def handle(self, *args: Any, **options: Any) -> None:
        defaults = {"name": options["name"], "kind": options["kind"]}
        organisation, is_new = Organisation.objects.get_or_create(slug=options["slug"], defaults=defaults)
        self.stdout.write(f"{organisation.slug}: {'added' if is_new else 'is there already, unchanged'}")
