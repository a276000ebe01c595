"""`manage.py add_host`: enrol a lab host over SSH, and print what its operator has to do there."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runners.hosts.keys import fingerprint
from runners.inventory.enrolment import Pins, enrol, own_program_sha256, set_up
from runners.models import Host


class Command(BaseCommand):
    """Enrolling again under the same name pins anew, where `--replace` says that this is meant."""

    help = "Enrol a lab host over SSH: pin its host key and its drivetest, and print what to install there."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take what is pinned."""
        parser.add_argument("name", help="what the register calls the host")
        parser.add_argument("--address", required=True, help="host name or IP address")
        parser.add_argument("--port", type=int, default=22)
        parser.add_argument("--user", default="drivecert", help="the register's account on the host, not root")
        parser.add_argument(
            "--host-key",
            required=True,
            help="as `cat /etc/ssh/ssh_host_ed25519_key.pub` prints it on the host itself, not over the network",
        )
        parser.add_argument("--replace", action="store_true", help="pin a host anew that is enrolled already")
        parser.add_argument("--sha256", default="", help="of the host's drivetest; that of this machine where left out")

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
        for number, (sentence, commands) in enumerate(set_up(host), start=1):
            self.stdout.write(f"\n{number}. {sentence}\n")
            # Not indented: the END of a here-document that is pasted stands at the beginning of its line.
            self.stdout.write(f"{commands}\n")
        self.stdout.write(f"\nThen: manage.py check_host {host}")


def _refuse_to_replace(name: str, pins: Pins) -> None:
    """A key pinned anew is trust in another machine: raises CommandError, with both, where a host has the name."""
    host = Host.objects.filter(name=name, kind=Host.Kind.SSH).first()
    if host is None or pins.objections():
        return
    raise CommandError(
        f"{name}: is enrolled already; nothing was changed\n"
        f"  pinned: {host.user}@{host.address} port {host.port}, host key {fingerprint(host.host_key)}, "
        f"drivetest {host.program_sha256}\n"
        f"  given:  {pins.user}@{pins.address} port {pins.port}, host key {fingerprint(pins.host_key)}, "
        f"drivetest {pins.program_sha256}\n"
        "compare the key with what the host itself prints; to pin it anew give --replace"
    )
