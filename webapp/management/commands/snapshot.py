"""`manage.py snapshot`: bring the snapshot of the public pages in line with the register now."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from webapp.register.pagecache import updates as keeper


class Command(BaseCommand):
    help = "Write a snapshot of every public page and file where the one that stands is out of date."

    def handle(self, *args: Any, **options: Any) -> None:
        made = keeper.look()
        if made is None:
            raise CommandError("another process is writing a snapshot; try again when it is done")
        word = "written" if made.is_new else "up to date"
        told = f"snapshot {word}: {made.rendered} pages made, {made.kept} kept, {made.left_out} left out"
        self.stdout.write(told)
