"""As whom PostgreSQL and Redis run: as ourselves, or without root's powers where we are root."""

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
    """Return the command that becomes `command` and ends when the calling process does."""
    return [sys.executable, "-I", "-S", str(LAUNCH), str(os.getpid()), str(int(death_signal)), identity, *command]


@functools.cache
def server_identity() -> str:
    """Return the identity under which a server may run: PostgreSQL refuses root and a user without a name.

    A user namespace comes first: it works in a directory of mode 0700, because files still open as those of the user
    who started us. Where the kernel refuses namespaces, an unprivileged account is taken.
    """
    if os.geteuid() != 0 and _has_name(os.geteuid()):
        return "same"
    account = _ordinary_account()
    ids = f"{account.pw_uid}:{account.pw_gid}"
    if _is_allowed(f"namespace:{ids}"):
        return f"namespace:{ids}"
    if os.geteuid() == 0:
        return f"account:{ids}"
    raise CannotStartError(
        f"user {os.geteuid()} has no entry in /etc/passwd and may not make a user namespace: PostgreSQL refuses to "
        "run. Start as a named user, or set DATABASE_URL and REDIS_URL"
    )


def account_ids(identity: str) -> tuple[int, int] | None:
    """Return uid and gid that must own the files of a server, None where the files stay ours."""
    kind, _, ids = identity.partition(":")
    if kind != "account":
        return None
    uid, gid = ids.split(":")
    return int(uid), int(gid)


def _has_name(uid: int) -> bool:
    return any(entry.pw_uid == uid for entry in pwd.getpwall())


def _ordinary_account() -> pwd.struct_passwd:
    """Return an account that is neither root nor the overflow user.

    All users outside a namespace look like the overflow user from inside: were the server that user, they would all
    look like itself.
    """
    unfit = {0, *(int(path.read_text()) for path in OVERFLOW_IDS)}
    for entry in sorted(pwd.getpwall(), key=lambda entry: entry.pw_uid):
        if entry.pw_uid not in unfit and entry.pw_gid not in unfit:
            return entry
    raise CannotStartError("/etc/passwd: no ordinary account to run PostgreSQL as. Set DATABASE_URL and REDIS_URL")


def _is_allowed(identity: str) -> bool:
    trial = launch_command(["true"], signal.SIGKILL, identity)
    return subprocess.run(trial, stderr=subprocess.DEVNULL, check=False).returncode == 0
