"""`manage.py add_user USERNAME`: add a person, with a membership, roles of the register, and an address."""

import secrets
import sys
from argparse import ArgumentParser, BooleanOptionalAction
from typing import Any

from allauth.account.forms import default_token_generator
from allauth.account.models import EmailAddress
from allauth.account.utils import user_pk_to_url_str
from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_email
from django.db import transaction
from django.urls import reverse

from results.models import Organisation
from webapp.accounts.audit.trail import COMMAND, Kind, record
from webapp.accounts.models import Role, User
from webapp.accounts.permissions import RegisterRole


class Command(BaseCommand):
    help = (
        "Add a person with a random password, which is printed once, or with --link or --password-stdin. One that "
        "exists keeps the password; only the stated roles and address change. No mail is sent."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        first = parser.add_mutually_exclusive_group()
        first.add_argument(
            "--link", action="store_true", help="print a link that sets the password once, not a password"
        )
        first.add_argument(
            "--password-stdin", action="store_true", help="read the password of a new person from the standard input"
        )
        parser.add_argument("--organisation", help="slug, see add_organisation")
        parser.add_argument(
            "--role", choices=Role.values, default=Role.OWNER, help="in the organisation, for a new member"
        )
        parser.add_argument("--reviewer", action=BooleanOptionalAction, help="reviews results")
        parser.add_argument("--operator", action=BooleanOptionalAction, help="runs the lab, confirms organisations")
        parser.add_argument("--staff", action="store_true", help="the same as --reviewer --operator")
        parser.add_argument("--email", help="address of the person, which counts as verified; else they enter one")

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["username"]).first() or self._create(options)
        self._set_register_roles(user, options)
        if options["organisation"]:
            self._join(user, options["organisation"], Role(options["role"]))
        if options["email"]:
            self._verify_address(user, options["email"].lower())
        if options["link"]:
            self._print_link(user)

    def _create(self, options: dict[str, Any]) -> User:
        password = None if options["link"] else secrets.token_urlsafe(12)
        if options["password_stdin"]:
            password = read_password()
        user = User.objects.create_user(options["username"], password=password)
        record(Kind.ACCOUNT_CREATED, COMMAND, user)
        if password and not options["password_stdin"]:
            self.stdout.write(f"{user.username}: password {password}")
        return user

    def _print_link(self, user: User) -> None:
        """Print the link after the address was set: a change of the address makes earlier links useless."""
        key = f"{user_pk_to_url_str(user)}-{default_token_generator.make_token(user)}"
        path = reverse("account_reset_password_from_key", args=key.split("-", 1))
        hours = settings.PASSWORD_RESET_TIMEOUT // 3600
        self.stdout.write(f"{user.username}: set the password within {hours} hours: {settings.PUBLIC_URL}{path}")

    def _set_register_roles(self, user: User, options: dict[str, Any]) -> None:
        for role in RegisterRole:
            has = True if options["staff"] else options[role]
            if has is not None:
                if has != getattr(user, f"is_{role}"):
                    record(Kind.REGISTER_ROLE_GRANTED if has else Kind.REGISTER_ROLE_ENDED, COMMAND, user, role=role)
                setattr(user, f"is_{role}", has)
                self.stdout.write(f"{user.username} is {'now' if has else 'no longer'} {role}")
        user.save(update_fields=["is_reviewer", "is_operator"])

    def _join(self, user: User, slug: str, role: Role) -> None:
        organisation = Organisation.objects.filter(slug=slug).first()
        if organisation is None:
            raise CommandError(f"--organisation: no organisation {slug!r}; add_organisation makes it")
        membership, is_new = user.memberships.get_or_create(organisation=organisation, defaults={"role": role})
        if is_new:
            record(Kind.MEMBER_JOINED, COMMAND, user, organisation, role=role)
        self.stdout.write(f"{user.username} acts for {organisation.slug} as {membership.role}")

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
        record(Kind.ADDRESS_VERIFIED, COMMAND, user)
        self.stdout.write(f"{user.username}: address {email}")


def read_password() -> str:
    """Return the first line of the standard input. Raise CommandError if it is no acceptable password."""
    password = sys.stdin.readline().rstrip("\n")
    try:
        validate_password(password)
    except ValidationError as error:
        raise CommandError(f"--password-stdin: {' '.join(error.messages)} Nothing was changed") from error
    return password
