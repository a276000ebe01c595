"""`manage.py confirm_organisation SLUG`: confirm the name of an organisation, so that its results can be published."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from results.models import Organisation
from webapp.accounts import organisations
from webapp.accounts.audit.trail import COMMAND


class Command(BaseCommand):
    help = "Confirm the name of an organisation, so that its results can be published. Without SLUG, list what waits."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", nargs="?")
        parser.add_argument("--name", default="", help="correct the name before it is confirmed")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["slug"]:
            self._list()
            return
        organisation = Organisation.objects.filter(slug=options["slug"]).first()
        if organisation is None:
            raise CommandError(f"no organisation {options['slug']!r}; without SLUG, this command lists what waits")
        try:
            organisations.confirm(organisation, COMMAND, options["name"] or organisation.name)
        except organisations.OrganisationError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{organisation.slug}: confirmed")

    def _list(self) -> None:
        for organisation in organisations.waiting():
            self.stdout.write(f"{organisation.slug}: {organisation.name} ({organisation.kind}), {organisation.website}")
