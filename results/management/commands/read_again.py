"""`manage.py read_again SUBMISSION`: retry the failed reading of a log."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from results.ingest.queue import retry_reading
from results.models import Submission


class Command(BaseCommand):
    help = "Retry a failed reading with all attempts, after its cause is fixed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("submission", help="its public id, s-...")

    def handle(self, *args: Any, **options: Any) -> None:
        public_id = options["submission"]
        submission = Submission.objects.filter(public_id=public_id).first()
        if submission is None:
            raise CommandError(f"{public_id}: expected the id of a submission, as its page shows it")
        if not retry_reading(submission, None, {"by": "manage.py read_again"}):
            raise CommandError(f"{public_id}: expected a failed reading; the page of the submission shows its state")
        self.stdout.write(f"{public_id}: queued; the next sweep reads it")
