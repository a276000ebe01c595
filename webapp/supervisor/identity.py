"""The identity under which PostgreSQL and Redis run: this user, or for root an identity without root's rights."""

import functools
import os
import pwd
import signal
import subprocess
import sys
from pathlib import Path

from webapp.supervisor.errors import CannotStartError

LAUNCH = Path(__file__).with_name("launch.py")
OVERFLOW_IDS = (Path("/proc/sys/kernel/overflowuid"), Path("/proc/sys/kernel/overflowgid"))


def launch_command(command: list[str], death_signal: signal.Signals, identity: str) -> list[str]:
    """Return a command that runs `command` under the identity and ends it when the calling process ends."""
    return [sys.executable, "-I", "-S", str(LAUNCH), str(os.getpid()), str(int(death_signal)), identity, *command]


@functools.cache
def server_identity() -> str:
    """Return the identity under which a server may run: PostgreSQL refuses root and users without a name.

    Prefer a user namespace: it works in a directory of mode 0700, because the server opens files as the user who
    started the register. If the kernel refuses namespaces, use an unprivileged account.
    """
    if os.geteuid() != 0 and any(entry.pw_uid == os.geteuid() for entry in pwd.getpwall()):
        return "same"
    account = _ordinary_account()
    ids = f"{account.pw_uid}:{account.pw_gid}"
    if _is_allowed(f"namespace:{ids}"):
        return f"namespace:{ids}"
    if os.geteuid() == 0:
        return f"account:{ids}"
    raise CannotStartError(
        f"user {os.geteuid()} has no entry in /etc/passwd and may not create a user namespace, so PostgreSQL refuses "
        "to run. Start as a named user, or set DATABASE_URL and REDIS_URL"
    )


def account_ids(identity: str) -> tuple[int, int] | None:
    """Return the uid and gid that must own the files of a server, or None if this user keeps them."""
    kind, _, ids = identity.partition(":")
    if kind != "account":
        return None
    uid, gid = ids.split(":")
    return int(uid), int(gid)


def _ordinary_account() -> pwd.struct_passwd:
    """Return an account that is neither root nor the overflow user.

    Inside a namespace, every user outside it appears as the overflow user. A server that ran as the overflow user
    would take all of them for itself.
    """
    excluded = {0, *(int(path.read_text()) for path in OVERFLOW_IDS)}
    for entry in sorted(pwd.getpwall(), key=lambda entry: entry.pw_uid):
        if entry.pw_uid not in excluded and entry.pw_gid not in excluded:
            return entry
    raise CannotStartError("/etc/passwd: no ordinary account can run PostgreSQL. Set DATABASE_URL and REDIS_URL")


def _is_allowed(identity: str) -> bool:
    command = launch_command(["true"], signal.SIGKILL, identity)
    return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0
