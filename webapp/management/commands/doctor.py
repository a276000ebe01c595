"""`manage.py doctor`: the register's settings and problems.

Its exit status is about the register: 1 if a part of it has a problem, else 0. Lab hosts do not count.
"""

import sys
from typing import Any

from django.core.management.base import BaseCommand

from webapp.doctor import effective_settings, examine


class Command(BaseCommand):
    help = (
        "Show the settings in force and whether each part answers, with a remedy if one does not. Exit status: 1 "
        "if a part of the register has a problem, else 0. A lab host that gets no work is only a warning."
    )
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        for name, value in effective_settings():
            self.stdout.write(f"{name:<24} {value}")
        self.stdout.write("")
        checks = list(examine())
        for check in checks:
            self.stdout.write(f"{check.word:<7} {check.part}: {check.found}")
            if check.remedy:
                self.stdout.write(f"        -> {check.remedy}")
        sys.exit(any(check.is_error for check in checks))
