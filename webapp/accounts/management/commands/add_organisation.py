"""`manage.py add_organisation SLUG NAME`: enter who sends results."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from results.models import Organisation


class Command(BaseCommand):
    help = "Add an organisation with a confirmed name; one that exists stays as it is."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("name")
        parser.add_argument("--kind", choices=Organisation.Kind.values, default=Organisation.Kind.VENDOR)

    def handle(self, *args: Any, **options: Any) -> None:
        if organisation := Organisation.objects.filter(slug=options["slug"]).first():
            self.stdout.write(f"{organisation.slug}: is there already, unchanged")
            return
        if Organisation.objects.filter(name=options["name"], confirmed_at__isnull=False).exists():
            raise CommandError(f"another organisation has the name {options['name']!r}")
        Organisation.objects.create(
            slug=options["slug"], name=options["name"], kind=options["kind"], confirmed_at=timezone.now()
        )
        self.stdout.write(f"{options['slug']}: added")
