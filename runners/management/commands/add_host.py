"""`manage.py add_host`: enrol a lab host, by its agent or over SSH, and print what its operator has to do there."""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_slug
from django.db import transaction

from runners.hosts.ssh_connection import fingerprint
from runners.inventory.agents import enrol_agent_host, pin_program
from runners.inventory.enrolment import Pins, enrol, own_program_sha256, setup_steps
from runners.models import Host


class Command(BaseCommand):
    """Enrol a host. With `--replace`, another machine or program may take the place of an enrolled one."""

    help = (
        "Enrol a lab host and print what to run there. --agent: the host connects to the register, with a code that "
        "is valid once. Otherwise the register connects over SSH: pin the host key and the drivetest."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the pins as arguments."""
        parser.add_argument("name", help="name of the host in the register")
        parser.add_argument("--agent", action="store_true", help="the host connects to the register; needs no address")
        parser.add_argument("--address", help="host name or IP address, for a host over SSH")
        parser.add_argument("--port", type=int, default=22)
        parser.add_argument("--user", default="drivecert", help="the register's account on the host, not root")
        parser.add_argument(
            "--host-key",
            help="as `cat /etc/ssh/ssh_host_ed25519_key.pub` prints it on the host itself, not over the network",
        )
        parser.add_argument(
            "--replace", action="store_true", help="replace the pins or the agent of a host that is enrolled already"
        )
        parser.add_argument(
            "--sha256",
            default="",
            help="SHA-256 of the host's drivetest (default: that of this machine; with --agent, the one that joins)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Enrol, and print what was pinned and the steps."""
        code = ""
        try:
            if options["agent"]:
                host, code = _enrol_agent_host(options)
                self.stdout.write(f"{host} waits for its agent to join")
            else:
                host = _enrol_ssh_host(options)
                self.stdout.write(f"{host} is enrolled: {host.user}@{host.address} port {host.port}")
                self.stdout.write(f"host key pinned: {fingerprint(host.host_key)}")
                self.stdout.write(f"drivetest pinned: SHA-256 {host.program_sha256}\n")
        except ValueError as error:
            raise CommandError(str(error)) from error
        for number, (sentence, commands) in enumerate(setup_steps(host, code), start=1):
            self.stdout.write(f"\n{number}. {sentence}\n")
            # Not indented: the END of a here-document must be at the beginning of its line.
            self.stdout.write(f"{commands}\n")
        self.stdout.write(f"\nThen: manage.py check_host {host}")


def _enrol_ssh_host(options: dict[str, Any]) -> Host:
    """Enrol an SSH host. Raise CommandError if an option is missing or has a host of this name, else ValueError."""
    missing = [name for name in ("address", "host_key") if not options[name]]
    if missing:
        names = " and ".join(f"--{name.replace('_', '-')}" for name in missing)
        raise CommandError(f"expected --agent, or {names} for a host over SSH, got neither")
    given = {name: options[name] for name in ("address", "port", "user", "host_key")}
    pins = Pins(**given, program_sha256=options["sha256"] or own_program_sha256())
    if not options["replace"]:
        _refuse_to_replace(options["name"], pins)
    return enrol(options["name"], pins, None)


def _enrol_agent_host(options: dict[str, Any]) -> tuple[Host, str]:
    """Enrol an agent host and return it with its join code. Raise CommandError for options of SSH, else ValueError."""
    if options["address"] or options["host_key"]:
        raise CommandError("expected --agent or the options of a host over SSH, got both")
    name = options["name"]
    try:
        validate_slug(name)
    except ValidationError as error:
        raise CommandError(f"expected a name of letters, digits, - and _, got {name!r}") from error
    if not options["replace"] and Host.objects.filter(name=name, kind=Host.Kind.AGENT).exists():
        raise CommandError(
            f"{name}: is enrolled already; nothing was changed\n"
            "to let another agent join in place of the present one, add --replace"
        )
    with transaction.atomic():
        host, code = enrol_agent_host(name, None)
        if options["sha256"]:
            pin_program(host, options["sha256"], None)
    return host, code


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
