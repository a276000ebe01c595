"""`manage.py reset_second_factor USERNAME`: remove the second factors of a person who lost them."""

import logging
from argparse import ArgumentParser
from typing import Any

from allauth.mfa.models import Authenticator
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from webapp.accounts.audit.trail import COMMAND, Kind, record
from webapp.accounts.models import User

log = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Remove the authenticator app, passkeys and recovery codes of a person. Their password stays as it is."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["username"]).first()
        if user is None:
            raise CommandError(f"no user has the name {options['username']!r}")
        with transaction.atomic():
            removed, _ = Authenticator.objects.filter(user=user).delete()
            record(Kind.SECOND_FACTORS_RESET, COMMAND, user, removed=removed)
        log.warning("the second factors of %s were reset by a command (%d removed)", user, removed)
        self.stdout.write(f"{user.username}: removed {removed} (app, passkeys, recovery codes)")
