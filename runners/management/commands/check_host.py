"""`manage.py check_host`: check a lab host now, and say why it gets no work."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runners.inventory.health import check
from runners.inventory.service_state import retired_words
from runners.models import Host


class Command(BaseCommand):
    """The same check as the one on schedule."""

    help = "Check a lab host over SSH now; the exit status is 1 where it gets no work."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the host."""
        parser.add_argument("name")

    def handle(self, *args: Any, **options: Any) -> None:
        """Check, and print what the host told."""
        host = Host.objects.filter(name=options["name"], kind=Host.Kind.SSH).first()
        if host is None:
            raise CommandError(f"{options['name']}: expected a host over SSH, found none; see manage.py add_host")
        if retired := retired_words(host):
            raise CommandError(f"{host}: {retired}; take it back into service on its page first")
        objections = check(host)
        for name in ("hostname", "kernel", "program_version", "init", "clock_offset_s", "free_bytes"):
            if name in host.health:
                self.stdout.write(f"{name}: {host.health[name]}")
        if objections:
            raise CommandError(f"{host} gets no work: {'; '.join(objections)}")
        self.stdout.write(f"{host} takes work")
