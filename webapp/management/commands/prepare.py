"""`manage.py prepare`: bring the database to where the processes can work on it."""

from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand

from results.models import Product
from webapp.supervisor.first_staff import ensure_first_staff


class Command(BaseCommand):
    help = "Migrate, import the published catalogue into an empty register, create this machine's first staff user."

    def handle(self, *args: Any, **options: Any) -> None:
        call_command("migrate", interactive=False, verbosity=1)
        if settings.PUBLISHED_CATALOGUE and not Product.objects.exists():
            call_command("import_catalogue")
        if not settings.PRODUCTION:
            settings.DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
            ensure_first_staff(settings.DATA_DIR / "first-login.txt")
