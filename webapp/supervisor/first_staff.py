"""The first person who can sign in on this machine."""

import os
import secrets
from pathlib import Path

from django.contrib.auth import get_user_model
from django.db import transaction

from results.models import Organisation
from webapp.accounts.models import Membership

LOGIN = "admin"
LAB_SLUG, LAB_NAME = "this-lab", "This lab"


def ensure_first_staff(note: Path) -> None:
    """Create a staff user with a random password, written to `note`, where nobody could sign in as staff yet."""
    users = get_user_model().objects
    if users.filter(is_staff=True).exists():
        return
    password = secrets.token_urlsafe(12)
    with transaction.atomic():
        # Written before the commit: a user whose password nobody knows would be worse than a note without its user.
        write_note(note, LOGIN, password)
        user = users.create_superuser(username=LOGIN, password=password)
        lab, _ = Organisation.objects.get_or_create(
            slug=LAB_SLUG, defaults={"name": LAB_NAME, "kind": Organisation.Kind.LAB}
        )
        Membership.objects.create(user=user, organisation=lab)


def write_note(note: Path, login: str, password: str) -> None:
    """Write login and password to a file that only we can read."""
    note.unlink(missing_ok=True)
    descriptor = os.open(note, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(f"login: {login}\npassword: {password}\n")
