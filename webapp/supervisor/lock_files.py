"""Lock files that show which processes still run. The kernel keeps the locks, so no pid file is needed.

A lock belongs to the open file: it lasts until the last process that inherited the file has ended. A pid file could
name a pid that the kernel has since given to another process.
"""

import contextlib
import fcntl
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from webapp.supervisor.errors import CannotStartError

POLL_INTERVAL_S = 0.1
KILL_TIMEOUT_S = 30  # SIGKILL ends a process when it next gets a processor


def acquire(path: Path) -> int | None:
    """Return an open, locked file for `path`, or None if another process holds the lock."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    return fd


def acquire_when_free(path: Path, timeout_s: float) -> int:
    """Return the locked file when its holders have ended. After `timeout_s`, kill the holders.

    Raise CannotStartError if a holder cannot be killed: it hangs in the kernel, or belongs to another user.
    """
    fd = _acquire_within(path, timeout_s)
    if fd is not None:
        return fd
    for pid in lock_holders(path):
        with contextlib.suppress(
            ProcessLookupError
        ):  # ended meanwhile, as PostgreSQL's processes do after their parent
            os.kill(pid, signal.SIGKILL)
    fd = _acquire_within(path, KILL_TIMEOUT_S)
    if fd is not None:
        return fd
    raise CannotStartError(
        f"{path}: still locked by process {list(lock_holders(path))} of an earlier start. Stop that process first"
    )


def lock_holders(path: Path) -> Iterator[int]:
    """Yield the processes that have `path` open, except those that this user may not inspect."""
    for descriptors in Path("/proc").glob("[0-9]*/fd"):
        pid = int(descriptors.parent.name)
        if pid != os.getpid() and _has_open(descriptors, path.resolve()):
            yield pid


def _acquire_within(path: Path, timeout_s: float) -> int | None:
    deadline = time.monotonic() + timeout_s
    while (fd := acquire(path)) is None and time.monotonic() < deadline:
        time.sleep(POLL_INTERVAL_S)
    return fd


def _has_open(descriptors: Path, path: Path) -> bool:
    try:
        return any(link_target(link) == path for link in list(descriptors.iterdir()))
    except (PermissionError, FileNotFoundError, ProcessLookupError):
        return False  # another user's process, or one that has just ended


def processes_in(directory: Path) -> list[int]:
    """Return the processes that work in the directory, except those that this user may not inspect."""
    links = Path("/proc").glob("[0-9]*/cwd")
    return [int(link.parent.name) for link in links if link_target(link) == directory.resolve()]


def program_name(pid: int) -> str:
    """Return the file name of the program that a process runs, or an empty string if the process ended."""
    program = link_target(Path(f"/proc/{pid}/exe"))
    return program.name.removesuffix(" (deleted)") if program else ""


def link_target(link: Path) -> Path | None:
    """Return the target of a link in /proc, or None if it belongs to another user or no longer exists."""
    try:
        return link.readlink()
    except (PermissionError, FileNotFoundError, ProcessLookupError):
        return None
