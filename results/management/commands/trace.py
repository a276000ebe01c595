"""`manage.py trace RUN`: every published number of a run back to log line, reader version and profile hash."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from results.models import Run
from results.provenance.trace import trace


class Command(BaseCommand):
    help = "Print where each published number of a run comes from."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", help="its public id, r-...")

    def handle(self, *args: Any, **options: Any) -> None:
        related = Run.objects.select_related("reading__evidence", "product")
        run = related.filter(public_id=options["run"]).first()
        if run is None:
            raise CommandError(f"{options['run']}: expected the id of a run, as its page shows it")
        for traced in trace(run):
            self.stdout.write(f"{traced.name}: {traced.value}\n    {traced.origin}")
