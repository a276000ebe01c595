"""`manage.py backup DIRECTORY`: a verified, incremental backup of the running register."""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from results.rules.plural import counted
from webapp.backup.creation import Options, Result, create_backup
from webapp.backup.errors import BackupError
from webapp.supervisor.errors import CannotStartError


class Command(BaseCommand):
    help = (
        "Add a backup of the database, the evidence and the keys to the repository in DIRECTORY. Only evidence that "
        "the repository does not have is copied. Exit status: 1 if the backup is missing or lacks evidence, else 0."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("directory", type=Path, help="the repository; a new one is created in an empty directory")
        parser.add_argument("--recipient", help="encrypt for this public key of age (age1...) or SSH")
        parser.add_argument("--keep", type=int, help="then remove all but this number of newest backups")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["keep"] is not None and options["keep"] < 1:
            raise CommandError(f"--keep: expected 1 or more, got {options['keep']}")
        order = Options(options["directory"], options["recipient"], options["keep"])
        try:
            result = create_backup(order, self.report)
        except (BackupError, CannotStartError) as error:
            raise CommandError(str(error)) from error
        self.print_result(result)
        if result.damaged:
            self.stderr.write(
                f"INCOMPLETE: the backup lacks {counted(len(result.damaged), 'file')} of evidence, named above. "
                "Restore them from an earlier backup, then repeat the backup (docs/how-to/back-up-and-restore.md)"
            )
            sys.exit(1)

    def report(self, text: str) -> None:
        """Show the operator a message at once."""
        self.stdout.write(text)
        self.stdout.flush()

    def print_result(self, result: Result) -> None:
        """Print what the backup contains, and the time and the rate."""
        manifest, seconds = result.manifest, max(result.duration_s, 0.001)
        rows = ", ".join(counted(count, label.removesuffix("s")) for label, count in manifest.rows.items())
        self.stdout.write(f"backup {manifest.name}: {rows}")
        held, copied = counted(manifest.evidence_count, "file"), counted(result.copied_count, "file")
        self.stdout.write(
            f"evidence: {held}, {manifest.evidence_bytes / 1e6:.1f} MB; copied and read back: {copied}, "
            f"{result.copied_bytes / 1e6:.1f} MB"
        )
        self.stdout.write(f"encrypted for: {manifest.recipient or 'nobody; let no other user read the repository'}")
        for name in result.missing_keys:
            self.stdout.write(f"no file {name}: if a setting or another place has this key, keep a copy of it yourself")
        for name in result.removed:
            self.stdout.write(f"removed backup {name}")
        if result.freed_bytes:
            self.stdout.write(f"removed evidence that no backup needs: {result.freed_bytes / 1e6:.1f} MB")
        rate = result.copied_bytes / 1e6 / seconds
        self.stdout.write(f"done in {seconds / 60:.1f} minutes ({rate:.1f} MB/s of evidence)")
