"""`manage.py add_host`: enrol a lab host over SSH, and print what its operator has to do there."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runners.hosts.ssh_connection import fingerprint
from runners.inventory.enrolment import Pins, enrol, own_program_sha256, setup_steps
from runners.models import Host


class Command(BaseCommand):
    """Enrol a host. With `--replace`, replace the pins of a host that is enrolled already."""

    help = "Enrol a lab host over SSH: pin its host key and its drivetest, and print what to install there."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the pins as arguments."""
        parser.add_argument("name", help="name of the host in the register")
        parser.add_argument("--address", required=True, help="host name or IP address")
        parser.add_argument("--port", type=int, default=22)
        parser.add_argument("--user", default="drivecert", help="the register's account on the host, not root")
        parser.add_argument(
            "--host-key",
            required=True,
            help="as `cat /etc/ssh/ssh_host_ed25519_key.pub` prints it on the host itself, not over the network",
        )
        parser.add_argument(
            "--replace", action="store_true", help="replace the pins of a host that is enrolled already"
        )
        parser.add_argument(
            "--sha256", default="", help="SHA-256 of the host's drivetest (default: that of this machine)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Enrol, and print the fingerprint and the steps."""
        given = {name: options[name] for name in ("address", "port", "user", "host_key")}
        pins = Pins(**given, program_sha256=options["sha256"] or own_program_sha256())
        try:
            if not options["replace"]:
                _refuse_to_replace(options["name"], pins)
            host = enrol(options["name"], pins, None)
        except ValueError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{host} is enrolled: {host.user}@{host.address} port {host.port}")
        self.stdout.write(f"host key pinned: {fingerprint(host.host_key)}")
        self.stdout.write(f"drivetest pinned: SHA-256 {host.program_sha256}\n")
        for number, (sentence, commands) in enumerate(setup_steps(host), start=1):
            self.stdout.write(f"\n{number}. {sentence}\n")
            # Not indented: the END of a here-document must be at the beginning of its line.
            self.stdout.write(f"{commands}\n")
        self.stdout.write(f"\nThen: manage.py check_host {host}")


def _refuse_to_replace(name: str, pins: Pins) -> None:
    """Raise CommandError with both keys if a host has the name: a new key means trust in another machine."""
    host = Host.objects.filter(name=name, kind=Host.Kind.SSH).first()
    if host is None or pins.objections():
        return
    raise CommandError(
        f"{name}: is enrolled already; nothing was changed\n"
        f"  pinned: {host.user}@{host.address} port {host.port}, host key {fingerprint(host.host_key)}, "
        f"drivetest {host.program_sha256}\n"
        f"  given:  {pins.user}@{pins.address} port {pins.port}, host key {fingerprint(pins.host_key)}, "
        f"drivetest {pins.program_sha256}\n"
        "compare the key with the one that the host itself prints; to replace the pins, add --replace"
    )
