"""`manage.py dump`: write a dump of the public register now."""

from typing import Any

from django.core.management.base import BaseCommand

from webapp.register.dumps.store import read_dump
from webapp.register.dumps.writer import write_dump


class Command(BaseCommand):
    help = "Write the public register as CSV, JSON and Parquet with checksums, in place of an earlier dump of today."

    def handle(self, *args: Any, **options: Any) -> None:
        directory = write_dump()
        dump = read_dump(directory)
        size_bytes = sum(file.size_bytes for file in dump.files) if dump else 0
        self.stdout.write(f"{directory}: {len(dump.files) if dump else 0} files, {size_bytes} bytes")
