"""`manage.py add_user USERNAME --organisation SLUG --email ADDRESS`: add a person as a member of an organisation."""

import secrets
from argparse import ArgumentParser
from typing import Any

from allauth.account.models import EmailAddress
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_email
from django.db import transaction

from results.models import Organisation
from webapp.accounts.models import Membership, User


class Command(BaseCommand):
    help = (
        "Add a person with a random password, which is printed once; one that exists only gains the membership and the "
        "address."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--organisation", required=True, help="slug, see add_organisation")
        parser.add_argument("--staff", action="store_true", help="may review and run the lab")
        parser.add_argument("--email", help="address of the person, which counts as verified; else they enter one")

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        organisation = Organisation.objects.filter(slug=options["organisation"]).first()
        if organisation is None:
            raise CommandError(
                f"--organisation: no organisation {options['organisation']!r}; add_organisation makes it"
            )
        user = User.objects.filter(username=options["username"]).first() or self._create(options)
        Membership.objects.get_or_create(user=user, organisation=organisation)
        if options["email"]:
            self._verify_address(user, options["email"].lower())
        self.stdout.write(f"{user.username} acts for {organisation.slug}")

    def _create(self, options: dict[str, Any]) -> User:
        password = secrets.token_urlsafe(12)
        user = User.objects.create_user(options["username"], password=password, is_staff=options["staff"])
        self.stdout.write(f"{user.username}: password {password}")
        return user

    def _verify_address(self, user: User, email: str) -> None:
        try:
            validate_email(email)
        except ValidationError as error:
            raise CommandError(f"--email: expected a mail address, got {email!r}") from error
        if EmailAddress.objects.filter(email=email, verified=True).exclude(user=user).exists():
            raise CommandError(f"--email: another account has verified {email}")
        address, _ = EmailAddress.objects.get_or_create(user=user, email=email)
        address.set_verified()
        address.set_as_primary()
        # The old address must not reset the password any more: it may belong to another person now.
        EmailAddress.objects.filter(user=user).exclude(pk=address.pk).delete()
        self.stdout.write(f"{user.username}: address {email}")
