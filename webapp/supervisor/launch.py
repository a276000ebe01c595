"""Launcher of a program that ends with its parent. It uses only the standard library: it runs before any setup.

    python -I -S launch.py PARENT_PID DEATH_SIGNAL IDENTITY COMMAND...

The command finds its own pid in DRIVECERT_MAIN_PID, so that the processes that it starts can end with it.
IDENTITY is `same`, `namespace:UID:GID` (UID in a user namespace, without capabilities) or `account:UID:GID`.
This is a separate file and no `preexec_fn`: Python code between fork and exec may deadlock in a process with threads.
"""

import ctypes
import os
import signal
import sys
from pathlib import Path

CLONE_NEWUSER = 0x10000000  # linux/sched.h
PR_SET_PDEATHSIG = 1  # linux/prctl.h
PR_SET_NO_NEW_PRIVS = 38
CANNOT_LAUNCH = 71  # sysexits.h EX_OSERR
MAIN_PID = "DRIVECERT_MAIN_PID"

libc = ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: int) -> None:
    """Call a function of libc. Raise OSError with its name if it fails."""
    if getattr(libc, name)(*map(ctypes.c_ulong, arguments)) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")


def enter_namespace(uid: int, gid: int) -> None:
    """Map this user to `uid` in a new user namespace. Its capabilities end with exec, because `uid` is not 0."""
    outside_uid, outside_gid = os.geteuid(), os.getegid()
    call("unshare", CLONE_NEWUSER)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {outside_uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {outside_gid} 1")


def become_account(uid: int, gid: int) -> None:
    """Switch to an unprivileged account permanently."""
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)


def take_identity(identity: str) -> None:
    """Drop the rights that the program must not have. `same` keeps all rights, because the lab needs its devices."""
    kind, _, ids = identity.partition(":")
    if kind == "same":
        return
    uid, gid = (int(number) for number in ids.split(":"))
    {"namespace": enter_namespace, "account": become_account}[kind](uid, gid)
    call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def end_with_parent(death_signal: int, parent_pid: int) -> None:
    """Have the kernel send this process the signal when the thread that started it ends.

    Check the parent again afterwards: if it ended before the request, the kernel sends no signal.
    """
    call("prctl", PR_SET_PDEATHSIG, death_signal, 0, 0, 0)
    if os.getppid() != parent_pid:
        sys.exit(CANNOT_LAUNCH)


def end_with_main_program() -> None:
    """End this process with the supervised program that started it. Do nothing without a supervisor."""
    main_pid = int(os.environ.get(MAIN_PID, "0"))
    if main_pid not in (0, os.getpid()):
        end_with_parent(signal.SIGKILL, main_pid)


def main(parent_pid: int, death_signal: int, identity: str, command: list[str]) -> None:
    """Take the identity, arrange to end with the parent, and replace this process by the command."""
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    take_identity(identity)
    end_with_parent(death_signal, parent_pid)  # after the change of credentials, which clears it
    os.environ[MAIN_PID] = str(os.getpid())
    os.execvp(command[0], command)  # noqa: S606 - replacing the process is the purpose of this file


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:])
    except OSError as error:
        sys.stderr.write(f"cannot start {sys.argv[4]} as {sys.argv[3]}: {error}\n")
        sys.exit(CANNOT_LAUNCH)
