"""Making a machine a lab host over SSH: what is pinned about it, and what its operator has to do there."""

import hashlib
import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from results.models import Event
from runners.hosts.drive_keys import is_among
from runners.hosts.keys import fingerprint, public_key
from runners.hosts.ssh_connection import COMMAND
from runners.inventory.service_state import retired_words
from runners.locks import hold_host
from runners.models import UNCONFIRMED, Dispatch, Host
from runners.models.states import LIVE

PROGRAM = "/usr/local/sbin/drivetest"
# A daemon that was started before knows nothing of a new file until it is told to read its configuration again.
READ_AGAIN = 'sshd -t && { systemctl reload ssh || kill -HUP "$(cat /run/sshd.pid)"; }'
SHA256 = re.compile(r"[0-9a-f]{64}")
USER = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
# Where one of these changes it may be another machine.
OF_MACHINE = ("address", "port", "host_key")
ADDRESS = re.compile(r"[A-Za-z0-9.:_-]+")


@dataclass(frozen=True)
class Pins:
    """What a host is known by: where it is, who the register is there, its host key and its program."""

    address: str
    port: int
    user: str
    host_key: str
    program_sha256: str

    def objections(self) -> dict[str, str]:
        """Return what is wrong, by field; empty where a host can be enrolled with these."""
        wrong = {}
        if not ADDRESS.fullmatch(self.address):
            wrong["address"] = f"Expected a host name or an IP address, got {self.address!r}."
        if not USER.fullmatch(self.user) or self.user == "root":
            wrong["user"] = f"Expected an account of its own, not root, got {self.user!r}."
        if not SHA256.fullmatch(self.program_sha256):
            wrong["program_sha256"] = (
                f"Expected 64 hexadecimal digits, as sha256sum prints, got {self.program_sha256!r}."
            )
        try:
            fingerprint(self.host_key)
        except ValueError as error:
            wrong["host_key"] = f"{str(error)[:1].upper()}{str(error)[1:]}."
        return wrong


def enrol(name: str, pins: Pins, actor: AbstractBaseUser | None) -> Host:
    """Add a host, or pin it anew; it gets work once a check of what is pinned now has found nothing against it.

    Raises ValueError for pins that `Pins.objections` objects to, for the name of a host that is reached otherwise or is
    retired, and while something may run there: the machine that is pinned anew would say of it that it is absent.
    """
    if wrong := pins.objections():
        raise ValueError("; ".join(f"{field}: {sentence}" for field, sentence in wrong.items()))
    if Host.objects.filter(name=name).exclude(kind=Host.Kind.SSH).exists():
        raise ValueError(f"{name}: is the register's own machine; choose another name")
    columns = vars(pins) | {"kind": Host.Kind.SSH, "objections": [], "checked_at": None}
    columns |= {"next_check_at": Now(), "silent_checks": 0}
    with transaction.atomic():
        _check_in_service(name)
        _check_nothing_runs(name)
        if _is_other_machine(name, pins):
            columns |= {"health": {}}
        host, is_new = Host.objects.update_or_create(name=name, defaults=columns)
        Event.objects.create(
            actor_id=None if actor is None else actor.pk,
            kind="host-added" if is_new else "host-pinned-anew",
            subject_type="host",
            subject_id=name[:40],
            details=vars(pins),
        )
    return host


def _is_other_machine(name: str, pins: Pins) -> bool:
    """Tell whether these pins may lead to another machine than those of now: one with other drives."""
    before = Host.objects.filter(name=name).first()
    return before is not None and any(getattr(before, pin) != getattr(pins, pin) for pin in OF_MACHINE)


def _check_in_service(name: str) -> None:
    host = Host.objects.filter(name=name).first()
    if host is not None and host.retired_at is not None:
        raise ValueError(f"{name}: {retired_words(host)}; take it back into service on its page first")


def _check_nothing_runs(name: str) -> None:
    """The host is held as by a claim: none begins between this and the new pins."""
    host = Host.objects.filter(name=name).first()
    if host is None:
        return
    hold_host(host.pk)
    may_run = Q(state__in=LIVE) | UNCONFIRMED
    there = Dispatch.objects.filter(Q(device__host=host) | Q(load_host=host)).filter(may_run).first()
    if there is not None:
        raise ValueError(
            f"{name}: {there} is {there.state} there and may still run; cancel it and wait for its end, "
            "or say on its page how it is known that nothing of it runs"
        )


def own_program_sha256() -> str:
    """Return the SHA-256 of this machine's drivetest, the one to install on hosts; empty where there is none."""
    path = Path(settings.DRIVETEST)
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""


def sudo_line(user: str) -> str:
    """Return the one sudo rule: this command, without any argument, and nothing else."""
    return f"{user} ALL=(root) NOPASSWD: {PROGRAM} host"


def authorized_key() -> str:
    """Return the line for authorized_keys: whoever has the register's key gets the one command, no shell, no tunnel."""
    return f'restrict,command="{COMMAND}" {public_key()}'


def sshd_rule(user: str) -> str:
    """Return what sshd has to know: of this account the root-owned file counts alone, and of others nothing changes."""
    keys = f"AuthorizedKeysFile /etc/ssh/authorized/{user}"
    return f"Match User {user}\n  {keys}\n  AuthorizedKeysCommand none\nMatch all"


def set_up(host: Host) -> list[tuple[str, str]]:
    """Return what the host's operator does, as sentences with the commands that go with them."""
    return [
        (
            f"Install drivetest for root, the program with SHA-256 {host.program_sha256}; "
            f"the register's own is {settings.DRIVETEST} on its machine.",
            f"install -o root -g root -m 0755 drivetest {PROGRAM}\nsha256sum {PROGRAM}",
        ),
        (
            "Make an account for the register, which has no password.",
            f"useradd --system --create-home --shell /bin/sh --password '*' {host.user}",
        ),
        (
            "Let the register's key in, for one command.",
            f"install -d -o root -g root -m 0755 /etc/ssh/authorized\n"
            f"cat > /etc/ssh/authorized/{host.user} <<'END'\n{authorized_key()}\nEND\n"
            f"cat > /etc/ssh/sshd_config.d/drivecert.conf <<'END'\n{sshd_rule(host.user)}\nEND\n"
            f"{READ_AGAIN}",
        ),
        (
            "Let that account run the command as root: one line in /etc/sudoers.d/drivecert, mode 0440.",
            f"echo '{sudo_line(host.user)}' > /etc/sudoers.d/drivecert\nchmod 0440 /etc/sudoers.d/drivecert\nvisudo -c",
        ),
        (
            "List the drives that may be loaded, and thereby lose everything on them; no other drive ever is. "
            f"{_which_drives(host)}",
            f"{PROGRAM} identify   # lists the drives of this host, each with its drive_key\n"
            "install -d -m 0755 /etc/drivecert\n"
            f"cat > /etc/drivecert/host.toml <<'END'\ndrives = [\n{_listing(host)}]\nEND",
        ),
    ]


def _which_drives(host: Host) -> str:
    let_in, others = _lines(host)
    if others:
        return (
            "Below are those that are listed or bound here, and with a # before them the others that the host told: "
            "take the first # off the lines of those that you mean."
        )
    if let_in:
        return "Below are those that are listed or bound here."
    return "Write the drive_key of each, in quotes and with a comma, between the brackets."


def _listing(host: Host) -> str:
    """Return the lines of the list: pasted again it loses no drive, and lets in none that nobody chose."""
    let_in, others = _lines(host)
    return "".join(f"  {line}\n" for line in let_in) + "".join(f"  # {line}\n" for line in others)


def _lines(host: Host) -> tuple[list[str], list[str]]:
    """Return the lines of drives that are listed or bound, and of the others that the host told at its last check."""
    found = host.health.get("found") or []
    # What an earlier version kept was not checked: a drive without a key cannot be listed.
    paths = {drive["drive_key"]: drive["path"] for drive in found if isinstance(drive["drive_key"], str)}
    let_in = list(host.health.get("drives") or [])
    bound = host.devices.filter(retired_at=None).order_by("pk")
    let_in += [device.drive_key for device in bound if not is_among(device.drive_key, let_in)]
    others = [key for key in paths if not is_among(key, let_in)]
    return [_line(key, paths) for key in let_in], [_line(key, paths) for key in others]


def _line(drive_key: str, paths: Mapping[str, str]) -> str:
    """Return one line of a TOML array, the path as a comment; a basic string of TOML is escaped as one of JSON."""
    path = paths.get(drive_key)
    return f"{json.dumps(drive_key, ensure_ascii=False)},{f' # {path}' if path else ''}"


STATE_DIR = "/var/lib/drivecert"  # of a host that never told


def undo(host: Host) -> list[tuple[str, str]]:
    """Return what is undone on a host, as sentences with the commands that go with them; the register's way in first.

    The state directory is what the host told: of that only what has the names of runs and locks is removed.
    """
    kept_in = shlex.quote(str(host.health.get("state_dir", STATE_DIR)))
    return [
        (
            "Take the register's key out, and with it its way in.",
            f"rm /etc/ssh/authorized/{host.user} /etc/ssh/sshd_config.d/drivecert.conf\n{READ_AGAIN}",
        ),
        ("Take back the sudo rule.", "rm /etc/sudoers.d/drivecert\nvisudo -c"),
        ("Remove the account.", f"userdel --remove {host.user}"),
        ("Remove the list of drives that may be loaded.", "rm /etc/drivecert/host.toml"),
        (
            "Remove the run directories and the drives' locks, once nothing in them is needed.",
            f"rm -r {kept_in}/d-* {kept_in}/locks",
        ),
        ("Remove drivetest, unless something else there uses it.", f"rm {PROGRAM}"),
    ]


def state_place(host: Host, region: str, zone: str, actor: AbstractBaseUser) -> bool:
    """Keep region and zone of a host, empty where they are not stated, and tell whether that changed anything.

    Runs that were handed in before keep what was stated then.
    """
    with transaction.atomic():
        held = Host.objects.select_for_update().get(pk=host.pk)
        changes = {"region": [held.region, region], "zone": [held.zone, zone]}
        changes = {name: values for name, values in changes.items() if values[0] != values[1]}
        if changes:
            Host.objects.filter(pk=host.pk).update(region=region, zone=zone)
            Event.objects.create(
                actor_id=actor.pk,
                kind="host-place-stated",
                subject_type="host",
                subject_id=host.name[:40],
                details={"changes": changes},
            )
    return bool(changes)
