"""`manage.py snapshot`: bring the snapshot of the public pages in line with the register now."""

import logging
import time
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import close_old_connections

from results.errors import contained
from webapp.register.dumps.writer import write_due
from webapp.register.snapshots import updates

logger = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Write a snapshot of every public page and file if the current one is out of date."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--keep",
            action="store_true",
            help="keep the snapshot and the dumps of this machine up to date until the process is ended",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        while options["keep"]:
            keep_once()
            time.sleep(settings.SNAPSHOT_PERIOD_S)
        result = updates.update_snapshot()
        if result is None:
            raise CommandError("another process is writing a snapshot; try again when it is done")
        state = "written" if result.is_new else "up to date"
        pages = f"{result.rendered} pages rendered, {result.reused} reused, {result.left_out} left out"
        self.stdout.write(f"snapshot {state}: {pages}")


def keep_once() -> None:
    """Update the snapshot and the dumps of this machine. An error is logged; the next round tries again."""
    for name, update in (("snapshot", updates.update_snapshot), ("dump", write_due)):
        with contained(logger, "the %s of this machine could not be updated", name):
            update()
        close_old_connections()
