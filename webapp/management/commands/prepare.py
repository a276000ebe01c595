"""`manage.py prepare`: bring the database to where the processes can work on it."""

import secrets
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from results.evidence.store import DIRECTORY, StoreError, StoreUnavailableError, prepare_store
from results.models import Organisation, Product
from webapp.accounts.audit.trail import COMMAND, Kind, record
from webapp.accounts.models import Membership, Role
from webapp.deployment.migration import migrate
from webapp.register.drives.store.column_store import prepare_file
from webapp.supervisor.data_directory import write_private


class Command(BaseCommand):
    help = "Migrate, import the published catalogue into an empty register, create this machine's first user."

    def handle(self, *args: Any, **options: Any) -> None:
        migrate(settings.MIGRATION_LOCK_S, settings.MIGRATION_STATEMENT_S, self.stderr.write)
        if settings.PUBLISHED_CATALOGUE and not Product.objects.exists():
            call_command("import_catalogue")
        settings.DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
        settings.EMAIL_FILE_PATH.mkdir(mode=0o700, parents=True, exist_ok=True)  # links in mails open accounts
        try:
            prepare_store()
        except StoreUnavailableError as error:
            if settings.EVIDENCE_STORE != DIRECTORY:
                raise CommandError(str(error)) from error
            self.stderr.write(f"{error}. Until then, pages are served, and uploads are refused.")
        except StoreError as error:
            raise CommandError(str(error)) from error
        prepare_file()
        if not settings.PRODUCTION:
            ensure_first_staff(settings.DATA_DIR / "first-login.txt")


LOGIN = "admin"
LAB_SLUG, LAB_NAME = "this-lab", "This lab"


def ensure_first_staff(login_file: Path) -> None:
    """Create a reviewer and operator, with its random password in `login_file`, unless an operator exists."""
    users = get_user_model().objects
    if users.filter(is_operator=True).exists():
        return
    password = secrets.token_urlsafe(12)
    with transaction.atomic():
        # Written before the commit: a user with an unknown password would be worse than a file without its user.
        write_private(login_file, f"login: {LOGIN}\npassword: {password}\n")
        user = users.create_superuser(username=LOGIN, password=password)
        lab, _ = Organisation.objects.get_or_create(
            slug=LAB_SLUG,
            defaults={"name": LAB_NAME, "kind": Organisation.Kind.LAB, "confirmed_at": timezone.now()},
        )
        Membership.objects.create(user=user, organisation=lab, role=Role.OWNER)
        record(Kind.ACCOUNT_CREATED, COMMAND, user)
        record(Kind.MEMBER_JOINED, COMMAND, user, lab, role=Role.OWNER)
