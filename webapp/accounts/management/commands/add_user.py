"""`manage.py add_user USERNAME --organisation SLUG`: add a person as a member of an organisation."""

import secrets
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from results.models import Organisation
from webapp.accounts.models import Membership, User


class Command(BaseCommand):
    help = "Add a person with a random password, which is printed once; one that exists only gains the membership."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--organisation", required=True, help="slug, see add_organisation")
        parser.add_argument("--staff", action="store_true", help="may review and run the lab")

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        organisation = Organisation.objects.filter(slug=options["organisation"]).first()
        if organisation is None:
            raise CommandError(
                f"--organisation: no organisation {options['organisation']!r}; add_organisation makes it"
            )
        user = User.objects.filter(username=options["username"]).first() or self._create(options)
        Membership.objects.get_or_create(user=user, organisation=organisation)
        self.stdout.write(f"{user.username} acts for {organisation.slug}")

    def _create(self, options: dict[str, Any]) -> User:
        password = secrets.token_urlsafe(12)
        user = User.objects.create_user(options["username"], password=password, is_staff=options["staff"])
        self.stdout.write(f"{user.username}: password {password}")
        return user
