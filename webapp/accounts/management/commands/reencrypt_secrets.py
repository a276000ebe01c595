"""`manage.py reencrypt_secrets`: encrypt the secrets in the database with the newest key."""

from typing import Any

from allauth.mfa.models import Authenticator
from django.apps import apps
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from webapp.accounts.encryption import UnknownKeyError, decrypt, encrypt

ENCRYPTED = ("secret", "seed")  # of authenticator apps, and of recovery codes


class Command(BaseCommand):
    help = "Encrypt all secrets with the first of ENCRYPTION_KEYS. Afterwards the other keys can be removed."

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        changed = 0
        for authenticator in Authenticator.objects.select_for_update().exclude(type=Authenticator.Type.WEBAUTHN):
            try:
                new = {name: encrypt(decrypt(text)) for name, text in authenticator.data.items() if name in ENCRYPTED}
            except UnknownKeyError as error:
                remedy = f"Add the key, or run reset_second_factor {authenticator.user}"
                raise CommandError(f"a secret of {authenticator.user} is {error}. {remedy}") from error
            authenticator.data |= new
            authenticator.save(update_fields=["data"])
            changed += len(new)
        for webhook in apps.get_model("webhooks", "Webhook").objects.select_for_update().filter(ended_at=None):
            try:
                webhook.encrypted_secret = encrypt(decrypt(webhook.encrypted_secret))
            except UnknownKeyError as error:
                raise CommandError(f"the secret of {webhook} is {error}. Add the key, or end the webhook") from error
            webhook.save(update_fields=["encrypted_secret"])
            changed += 1
        self.stdout.write(f"{changed} secrets encrypted with the newest key")
