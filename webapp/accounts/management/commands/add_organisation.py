"""`manage.py add_organisation SLUG NAME`: enter who sends results."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from results.models import Organisation
from webapp.accounts.audit.trail import COMMAND, Kind, record


class Command(BaseCommand):
    help = "Add an organisation with a confirmed name; one that exists stays as it is."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("name")
        parser.add_argument("--kind", choices=Organisation.Kind.values, default=Organisation.Kind.VENDOR)

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        if organisation := Organisation.objects.filter(slug=options["slug"]).first():
            self.stdout.write(f"{organisation.slug}: is there already, unchanged")
            return
        if Organisation.objects.filter(name=options["name"], confirmed_at__isnull=False).exists():
            raise CommandError(f"another organisation has the name {options['name']!r}")
        organisation = Organisation.objects.create(
            slug=options["slug"], name=options["name"], kind=options["kind"], confirmed_at=timezone.now()
        )
        record(Kind.ORGANISATION_CREATED, COMMAND, organisation=organisation)
        record(Kind.ORGANISATION_CONFIRMED, COMMAND, organisation=organisation)
        self.stdout.write(f"{options['slug']}: added")
