"""`manage.py up`: the whole register on this machine."""

import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from webapp.supervisor.address import Address
from webapp.supervisor.errors import CannotStartError
from webapp.supervisor.supervisor import Supervisor


class Command(BaseCommand):
    help = "Start PostgreSQL and Redis unless given, the web server, the Celery worker and beat; Ctrl-C stops them."
    requires_system_checks: list[str] = []  # they run in `manage.py prepare`, once there is a database

    def handle(self, *args: Any, **options: Any) -> None:
        supervisor = Supervisor(settings.DATA_DIR, Address.from_environment(), self.report)
        try:
            supervisor.run()
        except CannotStartError as error:
            raise CommandError(str(error)) from error

    def report(self, text: str) -> None:
        self.stdout.write(text)
        sys.stdout.flush()
