"""Import what was published before this register: results, and the figures and claims of YCSB briefs."""

import argparse
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from results.catalogue.claims import import_claims, import_figures
from results.catalogue.importer import PUBLISHED_CATALOGUE, import_catalogue
from results.catalogue.rows import CatalogueError


class Command(BaseCommand):
    help = "Import the published results; a second import changes nothing."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("path", nargs="?", type=Path, default=PUBLISHED_CATALOGUE, help="the CSV file")

    def handle(self, *, path: Path, **options: Any) -> None:
        try:
            counts = import_catalogue(path)
        except (CatalogueError, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"YCSB briefs: {import_figures()} figures and {import_claims()} claims added.")
        summary = ("added", len(counts.added)), ("changed", len(counts.changed)), ("unchanged", len(counts.unchanged))
        self.stdout.write("Published results: " + ", ".join(f"{number} {word}" for word, number in summary) + ".")
        for public_id in counts.no_longer_named:
            self.stderr.write(f"{public_id}: no longer in {path}; it stays published until a reviewer withdraws it.")
