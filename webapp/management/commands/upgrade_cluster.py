"""`manage.py upgrade_cluster`: another major version of PostgreSQL for the cluster of `manage.py up`."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from webapp.embedded import find_postgres
from webapp.supervisor.data_directory import DataDirectory
from webapp.supervisor.errors import CannotStartError
from webapp.supervisor.major_upgrade import ClusterUpgrade


class Command(BaseCommand):
    help = (
        "Upgrade the cluster in the data directory to another major version of PostgreSQL. The register must be "
        "stopped. The old cluster is copied and kept; if the upgrade fails, it is unchanged."
    )
    requires_system_checks: list[str] = []  # no database runs

    def add_arguments(self, parser: CommandParser) -> None:
        old = "the programs of the version that created the cluster, for example /usr/lib/postgresql/15/bin"
        parser.add_argument("--old-programs", type=Path, required=True, metavar="DIR", help=old)
        parser.add_argument("--new-programs", type=Path, metavar="DIR", help="default: those of the installed wheel")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            new = options["new_programs"] or find_postgres()
            directory = DataDirectory(Path(settings.DATA_DIR), report=self.report)
            kept = ClusterUpgrade(directory, options["old_programs"], new, self.report).run()
        except CannotStartError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"The cluster is upgraded. The old one is {kept}.")
        self.stdout.write(f"Start the register with `make run`. If its pages show your data: rm -r {kept}")

    def report(self, text: str) -> None:
        """Show the operator a message at once."""
        self.stdout.write(text)
        self.stdout.flush()
