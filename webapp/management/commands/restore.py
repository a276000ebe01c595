"""`manage.py restore DIRECTORY`: the restore of a backup into an empty machine, with proof."""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from results.reader.process import ReaderBrokenError
from results.rules.plural import counted
from webapp.backup.encryption import read_identities
from webapp.backup.errors import BackupError
from webapp.backup.restoration import Options, Result, check_backup, restore
from webapp.supervisor.errors import CannotStartError


class Command(BaseCommand):
    help = (
        "Restore a backup into an empty data directory and an empty database, prove every hash and every verdict, and "
        "name what is missing. --check only hashes every file of the backup; --files-only restores evidence and keys "
        "alone. Exit status: 1 if something is missing, damaged or different, else 0."
    )
    requires_system_checks: list[str] = []  # there is no database yet

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("directory", type=Path, help="the repository of backups")
        parser.add_argument("--backup", default="", metavar="NAME", help="default: the newest")
        parser.add_argument("--identity", type=Path, help="a file with the private key, for an encrypted backup")
        only = parser.add_mutually_exclusive_group()
        only.add_argument("--check", action="store_true", help="check the files of the backup; restore nothing")
        only.add_argument("--files-only", action="store_true", help="restore evidence and keys, and no database")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            identities = read_identities(options["identity"]) if options["identity"] else ()
            order = Options(options["directory"], options["backup"], identities, options["files_only"])
            if options["check"]:
                self.check_files(order)
                return
            result = restore(order, self.report)
        except (BackupError, CannotStartError, ReaderBrokenError) as error:
            raise CommandError(str(error)) from error
        self.print_result(result, is_proven=not order.files_only)
        if result.problems:
            sys.exit(1)

    def report(self, text: str) -> None:
        """Show the operator a message at once."""
        self.stdout.write(text)
        self.stdout.flush()

    def check_files(self, order: Options) -> None:
        """Check the files of a backup, and end with status 1 if one is not whole."""
        manifest, faults = check_backup(order, self.report)
        lacks = [f"the backup lacks evidence {sha256}: it was damaged before" for sha256 in manifest.damaged]
        for sentence in lacks:
            self.stdout.write(sentence)
        files = counted(len(manifest.files) + manifest.evidence_count, "file")
        self.stdout.write(f"backup {manifest.name}: {files}, {counted(len(faults) + len(lacks), 'problem')}")
        if faults or lacks:
            sys.exit(1)

    def print_result(self, result: Result, *, is_proven: bool) -> None:
        """Print what was restored and proven, what is missing, and the time and the rate."""
        proof = result.verification
        for sentence in result.problems:
            self.stdout.write(f"ERROR   {sentence}")
        for sentence in result.unproven:
            self.stdout.write(f"WARNING {sentence} (judged by another version of drivetest)")
        self.stdout.write(
            f"restored backup {result.manifest.name}: {counted(result.evidence_count, 'file')} of evidence, "
            f"{result.evidence_bytes / 1e6:.1f} MB, every hash equal"
            if not result.problems
            else f"restored backup {result.manifest.name} with {counted(len(result.problems), 'problem')}"
        )
        if is_proven:
            self.stdout.write(
                f"read again: {counted(proof.logs_count, 'log')} with {counted(proof.runs_count, 'run')} and "
                f"{counted(proof.verdicts_count, 'verdict')}; {counted(len(proof.differences), 'difference')}"
            )
        else:
            self.stdout.write("no database was restored, and no verdict proven")
        rate = result.evidence_bytes / 1e6 / max(result.evidence_s, 0.001)
        self.stdout.write(f"done in {result.duration_s / 60:.1f} minutes; evidence at {rate:.1f} MB/s")
