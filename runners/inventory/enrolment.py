"""Enrolment of hosts: what the register pins of an SSH host, and what the operator of any remote host sets up there.

The same steps in reverse remove the set-up again.
"""

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

from results.history import record_event
from runners.errors import RequestRefusedError
from runners.hosts.drive_keys import is_among
from runners.hosts.ssh_connection import COMMAND, fingerprint, public_key
from runners.inventory.service_state import SUBJECT_ID_CHARS, OutOfServiceError, retired_message
from runners.models import LOST_UNCONFIRMED, Dispatch, Host
from runners.models.postgres import lock_host
from runners.models.states import LIVE

PROGRAM = "/usr/local/sbin/drivetest"
# A running sshd reads a new file only after it reloads its configuration.
RELOAD_SSHD = 'sshd -t && { systemctl reload ssh || kill -HUP "$(cat /run/sshd.pid)"; }'
SHA256 = re.compile(r"[0-9a-f]{64}")
USER = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
# If one of these changes, it may be another machine.
MACHINE_PINS = ("address", "port", "host_key")
ADDRESS = re.compile(r"[A-Za-z0-9.:_-]+")


@dataclass(frozen=True)
class Pins:
    """The pinned facts of a host: its address, the register's account there, its host key and its program."""

    address: str
    port: int
    user: str
    host_key: str
    program_sha256: str

    def objections(self) -> dict[str, str]:
        """Return what is wrong, by field; empty if a host can be enrolled with these pins."""
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
    """Add a host, or replace its pins. It gets work once a check finds no objection.

    Raise ValueError if `Pins.objections` is not empty, if the name belongs to another kind of host or a retired one,
    and while a run may be active there: a different machine would report that run as absent.
    """
    if wrong := pins.objections():
        raise ValueError("; ".join(f"{field}: {sentence}" for field, sentence in wrong.items()))
    other = Host.objects.filter(name=name).exclude(kind=Host.Kind.SSH).first()
    if other is not None:
        what = "is the register's own machine" if not other.is_remote else "has an agent"
        raise ValueError(f"{name}: {what}; choose another name")
    columns = vars(pins) | {"kind": Host.Kind.SSH, "objections": [], "checked_at": None}
    columns |= {"next_check_at": Now(), "silent_checks": 0}
    with transaction.atomic():
        if (before := Host.objects.filter(name=name).first()) is not None:
            check_replaceable(before)
            if any(getattr(before, pin) != getattr(pins, pin) for pin in MACHINE_PINS):
                columns |= {"health": {}}  # of another machine, with other drives
        host, is_new = Host.objects.update_or_create(name=name, defaults=columns)
        kind = "host-added" if is_new else "host-pinned-anew"
        record_event(actor, kind, ("host", name[:SUBJECT_ID_CHARS]), details=vars(pins))
    return host


def check_replaceable(host: Host) -> None:
    """Raise RequestRefusedError if a host is retired or a run may be active there.

    Lock it as a claim does: no run starts.
    """
    if host.retired_at is not None:
        raise OutOfServiceError(f"{host}: {retired_message(host)}; return it to service on its page first")
    lock_host(host.pk)
    may_run = Q(state__in=LIVE) | LOST_UNCONFIRMED
    there = Dispatch.objects.filter(Q(device__host=host) | Q(load_host=host)).filter(may_run).first()
    if there is not None:
        raise RequestRefusedError(
            f"{host}: {there} is {there.state} there and may still run; cancel it and wait for its end, "
            "or declare on its page that nothing of it runs",
            "run-active",
        )


def own_program_sha256() -> str:
    """Return the SHA-256 of this machine's drivetest, to be installed on hosts; empty if there is none."""
    path = Path(settings.DRIVETEST)
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""


def sudo_line(user: str) -> str:
    """Return the one sudo rule: this command without arguments, and nothing else."""
    return f"{user} ALL=(root) NOPASSWD: {PROGRAM} host"


def authorized_key() -> str:
    """Return the line for authorized_keys: the register's key allows one command, no shell and no tunnel."""
    return f'restrict,command="{COMMAND}" {public_key()}'


def sshd_rule(user: str) -> str:
    """Return the rule for sshd: only the root-owned file counts for this account; other accounts are not affected."""
    keys = f"AuthorizedKeysFile /etc/ssh/authorized/{user}"
    return f"Match User {user}\n  {keys}\n  AuthorizedKeysCommand none\nMatch all"


def join_commands(code: str) -> str:
    """Return the commands with which a host fetches drivetest from the register and lets its agent join with a code."""
    # sudo does not search /usr/local/sbin on every distribution. By default it removes the variables of proxies.
    return (
        f"curl -fsSo drivetest {settings.PUBLIC_URL}/api/v1/agents/program/ &&\n"
        f"sudo install -o root -g root -m 0755 drivetest {PROGRAM} &&\n"
        f"sudo --preserve-env={','.join(PROXY_VARIABLES)} \\\n  {PROGRAM} agent join {settings.PUBLIC_URL} {code}"
    )


def setup_steps(host: Host, code: str = "") -> list[tuple[str, str]]:
    """Return the operator's setup steps: sentences with their commands.

    On an agent host the first step needs a join code, which is shown only once; it is left out without a code.
    """
    if host.kind != Host.Kind.AGENT:
        return [*_ssh_setup_steps(host), _listing_step(host)]
    join = (
        "Install drivetest and let its agent join. The code is valid for one hour and works once.",
        join_commands(code),
    )
    return [*([join] if code else []), _listing_step(host)]


def _ssh_setup_steps(host: Host) -> list[tuple[str, str]]:
    """Return the steps that give the register access to one command over SSH."""
    return [
        (
            f"Install drivetest for root, the program with SHA-256 {host.program_sha256}; "
            f"the register's own is {settings.DRIVETEST} on its machine.",
            f"install -o root -g root -m 0755 drivetest {PROGRAM}\nsha256sum {PROGRAM}",
        ),
        (
            "Create an account without a password for the register.",
            f"useradd --system --create-home --shell /bin/sh --password '*' {host.user}",
        ),
        (
            "Allow the register's key to run one command.",
            f"install -d -o root -g root -m 0755 /etc/ssh/authorized\n"
            f"cat > /etc/ssh/authorized/{host.user} <<'END'\n{authorized_key()}\nEND\n"
            f"cat > /etc/ssh/sshd_config.d/drivecert.conf <<'END'\n{sshd_rule(host.user)}\nEND\n"
            f"{RELOAD_SSHD}",
        ),
        (
            "Allow that account to run the command as root: one line in /etc/sudoers.d/drivecert, mode 0440.",
            f"echo '{sudo_line(host.user)}' > /etc/sudoers.d/drivecert\nchmod 0440 /etc/sudoers.d/drivecert\nvisudo -c",
        ),
    ]


def _listing_step(host: Host) -> tuple[str, str]:
    """Return the step in which the operator lists the drives. Repeating it removes no drive and adds only chosen ones.

    On an agent host, the same file has the programs to which the agent may update itself.
    """
    allowed, others = _lines(host)
    listing = "".join([*(f"  {line}\n" for line in allowed), *(f"  # {line}\n" for line in others)])
    is_agent = host.kind == Host.Kind.AGENT
    updates, keep = (UPDATES_LINE, " Keep the line updates if the file has one.") if is_agent else ("", "")
    return (
        "List the drives that may be loaded. A load destroys all data on them. No other drive is ever loaded. "
        f"{_which_drives(allowed, others)}{keep}",
        f"{PROGRAM} identify   # lists the drives of this host, each with its drive_key\n"
        "install -d -m 0755 /etc/drivecert\n"
        f"cat > /etc/drivecert/host.toml <<'END'\ndrives = [\n{listing}]\n{_state_dir_line(host)}{updates}END",
    )


def _which_drives(allowed: list[str], others: list[str]) -> str:
    if others:
        return (
            "The lines without # list the drives that the operator listed at the last check. Lines that start with # "
            "are the other drives of the host: remove the first # from those that may be loaded."
        )
    if allowed:
        return "The lines below list the drives that the operator listed at the last check."
    return "Write the drive_key of each, in quotes and with a comma, between the brackets."


def _lines(host: Host) -> tuple[list[str], list[str]]:
    """Return the lines of drives that the operator listed, and of all others that are bound or were found.

    Only the operator lists drives: a register that an intruder controls could bind any drive.
    """
    found = host.health.get("found") or []
    # Earlier versions did not check what they stored: a drive without a key cannot be listed.
    paths = {drive["drive_key"]: drive["path"] for drive in found if isinstance(drive["drive_key"], str)}
    allowed = list(host.health.get("drives") or [])
    others: list[str] = []
    bound = host.devices.filter(retired_at=None).order_by("pk").values_list("drive_key", flat=True)
    for key in (*bound, *paths):
        if not is_among(key, [*allowed, *others]):
            others.append(key)
    return [_line(key, paths) for key in allowed], [_line(key, paths) for key in others]


def _state_dir_line(host: Host) -> str:
    """Return the line for a state directory that the host reported and that is not the default; empty otherwise."""
    state_dir = str(host.health.get("state_dir", STATE_DIR))
    return "" if state_dir == STATE_DIR else f"state_dir = {json.dumps(state_dir, ensure_ascii=False)}\n"


def _line(drive_key: str, paths: Mapping[str, str]) -> str:
    """Return one line of a TOML array, with the path as a comment. TOML basic strings are escaped like JSON."""
    path = paths.get(drive_key)
    return f"{json.dumps(drive_key, ensure_ascii=False)},{f' # {path}' if path else ''}"


STATE_DIR = "/var/lib/drivecert"  # of a host that never reported one
# Of a lab that reaches the register only by a proxy, or with roots of its own.
PROXY_VARIABLES = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE")
UPDATES_LINE = "# updates = []   # SHA-256 of each drivetest to which the agent may update itself\n"


def teardown_steps(host: Host) -> list[tuple[str, str]]:
    """Return the steps to remove the setup of a host, sentences with their commands; the register's access first.

    The host reported its state directory. Only the names of runs and locks are removed from it.
    """
    state_dir = shlex.quote(str(host.health.get("state_dir", STATE_DIR)))
    return [
        *(_agent_teardown_steps() if host.kind == Host.Kind.AGENT else _ssh_teardown_steps(host)),
        ("Remove the list of drives that may be loaded.", "rm /etc/drivecert/host.toml"),
        (
            "Remove the run directories and the drive locks when nothing in them is needed.",
            f"rm -r {state_dir}/d-* {state_dir}/locks",
        ),
        ("Remove drivetest, unless something else there uses it.", f"rm {PROGRAM}"),
    ]


def _agent_teardown_steps() -> list[tuple[str, str]]:
    return [
        (
            "Stop the agent and remove its secret, and with it the register's access; also remove its proxies. Loads "
            "continue to their end.",
            "systemctl disable --now drivecert-agent.service\n"
            "rm /etc/systemd/system/drivecert-agent.service /etc/drivecert/agent.toml\n"
            "rm -f /etc/drivecert/agent.env\nsystemctl daemon-reload",
        ),
    ]


def _ssh_teardown_steps(host: Host) -> list[tuple[str, str]]:
    return [
        (
            "Remove the register's key, and with it its access.",
            f"rm /etc/ssh/authorized/{host.user} /etc/ssh/sshd_config.d/drivecert.conf\n{RELOAD_SSHD}",
        ),
        ("Remove the sudo rule.", "rm /etc/sudoers.d/drivecert\nvisudo -c"),
        ("Remove the account.", f"userdel --remove {host.user}"),
    ]


def set_location(host: Host, region: str, zone: str, actor: AbstractBaseUser) -> bool:
    """Store region and zone of a host, empty if not stated, and return whether anything changed.

    Runs that were submitted before are not changed.
    """
    with transaction.atomic():
        locked = Host.objects.select_for_update().get(pk=host.pk)
        changes = {"region": [locked.region, region], "zone": [locked.zone, zone]}
        changes = {name: values for name, values in changes.items() if values[0] != values[1]}
        if changes:
            Host.objects.filter(pk=host.pk).update(region=region, zone=zone)
            subject = ("host", host.name[:SUBJECT_ID_CHARS])
            record_event(actor, "host-place-stated", subject, details={"changes": changes})
    return bool(changes)
