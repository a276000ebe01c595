"""`manage.py doctor`: what this register runs with, and what ails it.

Its exit status is about the register: 1 where a part of it is ill, 0 where all are well, whatever its lab hosts are.
"""

import sys
from typing import Any

from django.core.management.base import BaseCommand

from webapp.doctor import effective_settings, examine


class Command(BaseCommand):
    help = (
        "Show the settings in force and whether each part answers, with a remedy where one does not. Exit status: 1 "
        "where a part of the register is ill, else 0; a lab host that gets no work is told by `warn`, and is no part."
    )
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        for name, value in effective_settings():
            self.stdout.write(f"{name:<24} {value}")
        self.stdout.write("")
        checks = list(examine())
        for check in checks:
            self.stdout.write(f"{check.word:<4} {check.part}: {check.found}")
            if check.remedy:
                self.stdout.write(f"     -> {check.remedy}")
        sys.exit(any(check.is_ill for check in checks))
