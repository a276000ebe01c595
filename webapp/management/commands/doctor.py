"""`manage.py doctor`: what this register runs with, and what ails it."""

import sys
from typing import Any

from django.core.management.base import BaseCommand

from webapp.doctor import effective_settings, examine


class Command(BaseCommand):
    help = "Show the settings in force and whether each part answers, with a remedy where one does not."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        for name, value in effective_settings():
            self.stdout.write(f"{name:<24} {value}")
        self.stdout.write("")
        checks = list(examine())
        for check in checks:
            self.stdout.write(f"{'ill ' if check.remedy else 'well'} {check.part}: {check.found}")
            if check.remedy:
                self.stdout.write(f"     -> {check.remedy}")
        sys.exit(any(check.remedy for check in checks))
