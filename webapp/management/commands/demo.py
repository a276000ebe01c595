"""`manage.py demo`: show the register's example runs, or remove them from the site."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse

from results.demonstration import examples
from results.evidence.store import StoreError
from results.reader.process import ReaderBrokenError

REMOVED = "removed with `manage.py demo --remove`"


class Command(BaseCommand):
    help = (
        "Show the example runs: complete runs on a loop device, at their own addresses and in no list. "
        "--remove removes them from the site and keeps their evidence."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        which = parser.add_mutually_exclusive_group()
        which.add_argument(
            "--remove", action="store_true", help="remove the example runs; a later call shows them again"
        )
        which.add_argument("--once", action="store_true", help="do nothing if the register ever had all example runs")

    def handle(self, *args: Any, remove: bool, once: bool, **options: Any) -> None:
        if remove:
            self._remove()
        elif once and examples.was_created():
            self.stdout.write("The register has had its example runs; nothing was changed.")
        else:
            self._create()

    def _create(self) -> None:
        try:
            runs = examples.create()
        except (examples.ExampleError, StoreError, ReaderBrokenError) as error:
            raise CommandError(f"The example runs are not shown. {error}") from error
        shown = ", ".join(run.public_id for run in runs)
        self.stdout.write(f"Shown as examples: {shown}. Address: {reverse('run-detail', args=[examples.MAIN.run_id])}")

    def _remove(self) -> None:
        runs = examples.remove(REMOVED)
        removed = ", ".join(run.public_id for run in runs)
        self.stdout.write(
            f"Removed from the site: {removed}. Their evidence is stored." if runs else "No example run is shown."
        )
