"""`manage.py import_dump DIRECTORY`: fill an empty register from a dump."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from webapp.register.dumps.importer import DumpError, import_dump


class Command(BaseCommand):
    help = "Take a dump into an empty register (migrated, and without the published catalogue), whole or not at all."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("directory", type=Path, help="where the files of the dump and its manifest are")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            imported = import_dump(options["directory"])
        except DumpError as error:
            raise CommandError(str(error)) from error
        for name, rows_count in imported.rows.items():
            self.stdout.write(f"{name}: {rows_count}")
        for sentence in imported.contradictions:
            self.stderr.write(sentence)
        if imported.contradictions:
            raise CommandError("taken in; these verdicts are not what their own shares give")
