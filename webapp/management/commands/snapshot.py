"""`manage.py snapshot`: bring the snapshot of the public pages in line with the register now."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from webapp.register.snapshots import updates


class Command(BaseCommand):
    help = "Write a snapshot of every public page and file if the current one is out of date."

    def handle(self, *args: Any, **options: Any) -> None:
        result = updates.update_snapshot()
        if result is None:
            raise CommandError("another process is writing a snapshot; try again when it is done")
        state = "written" if result.is_new else "up to date"
        pages = f"{result.rendered} pages rendered, {result.reused} reused, {result.left_out} left out"
        self.stdout.write(f"snapshot {state}: {pages}")
