"""`manage.py check_host`: check a lab host now, and print why it gets no work."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runners.inventory.health import check
from runners.inventory.service_state import retired_message
from runners.models import Host


class Command(BaseCommand):
    """Run the scheduled check of a host now."""

    help = "Check a remote lab host now; the exit status is 1 if it gets no work."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the host's name as an argument."""
        parser.add_argument("name")

    def handle(self, *args: Any, **options: Any) -> None:
        """Check the host, and print its report."""
        host = Host.objects.filter(name=options["name"], kind__in=Host.REMOTE_KINDS).first()
        if host is None:
            raise CommandError(f"{options['name']}: expected a remote host, found none; see manage.py add_host")
        if retired := retired_message(host):
            raise CommandError(f"{host}: {retired}; return it to service on its page first")
        objections = check(host)
        for name in ("hostname", "kernel", "program_version", "init", "clock_offset_s", "free_bytes"):
            if name in host.health:
                self.stdout.write(f"{name}: {host.health[name]}")
        if objections:
            raise CommandError(f"{host} gets no work: {'; '.join(objections)}")
        self.stdout.write(f"{host} takes work")
