"""`manage.py serve PART`: become one process of the register, under another supervisor than `manage.py up`."""

import os
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from webapp.deployment.servers import BEAT, LAB, PARTS, WEB, WITHOUT_CHECKS, WORKER, command_of, remove_old_spool
from webapp.monitoring.page_times import remove_counts
from webapp.supervisor.address import Address
from webapp.supervisor.errors import CannotStartError


class Command(BaseCommand):
    help = (
        "Become one process of the register: web (pages and API), live (clients that wait), worker (reads logs), "
        "lab (polls lab hosts), beat (schedules tasks). web and live listen at HOST and PORT. For containers and "
        "services; `manage.py up` starts all of them."
    )
    requires_system_checks: list[str] = []  # they run in `manage.py prepare`

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("part", choices=PARTS)

    def handle(self, *args: Any, **options: Any) -> None:
        part = options["part"]
        try:
            command = command_of(part, None if part in {WORKER, LAB, BEAT} else Address.from_environment())
        except CannotStartError as error:
            raise CommandError(str(error)) from error
        if part == WEB:
            remove_old_spool()
            remove_counts(settings.METRICS_DIR)
        if part in {WORKER, LAB, BEAT}:
            os.environ.update(WITHOUT_CHECKS)
        os.execv(command[0], command)  # noqa: S606 - the process becomes the program, so that signals reach it
