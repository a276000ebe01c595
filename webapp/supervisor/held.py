"""Files that processes hold locked while they live: who is still there is asked of the kernel, never of a pid file.

A lock belongs to the open file, so it lasts until the last process that inherited it has ended, and a pid that was
given to somebody else since then means nothing.
"""

import contextlib
import fcntl
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from webapp.supervisor.errors import CannotStartError
from webapp.supervisor.processes import target_of

LOOK_EVERY_S = 0.1
KILLED_PATIENCE_S = 30  # SIGKILL ends a process when it next gets a processor


def hold(path: Path) -> int | None:
    """Return an open, locked file for `path`, or None where another process holds it."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    return fd


def hold_when_free(path: Path, patience_s: float) -> int:
    """Return the locked file once those who held it have ended; after `patience_s` they are killed.

    Raises CannotStartError where a holder cannot be ended (it hangs in the kernel, or belongs to another user).
    """
    fd = _hold_within(path, patience_s)
    if fd is not None:
        return fd
    for pid in holders(path):
        with contextlib.suppress(ProcessLookupError):  # ended since it was seen, as PostgreSQL's do after their parent
            os.kill(pid, signal.SIGKILL)
    fd = _hold_within(path, KILLED_PATIENCE_S)
    if fd is not None:
        return fd
    raise CannotStartError(
        f"{path}: still held by process {list(holders(path))}, left by an earlier start. End it first"
    )


def holders(path: Path) -> Iterator[int]:
    """Yield the processes that have `path` open, as far as we may look."""
    for descriptors in Path("/proc").glob("[0-9]*/fd"):
        pid = int(descriptors.parent.name)
        if pid != os.getpid() and _has_open(descriptors, path.resolve()):
            yield pid


def _hold_within(path: Path, patience_s: float) -> int | None:
    deadline = time.monotonic() + patience_s
    while (fd := hold(path)) is None and time.monotonic() < deadline:
        time.sleep(LOOK_EVERY_S)
    return fd


def _has_open(descriptors: Path, path: Path) -> bool:
    try:
        return any(target_of(link) == path for link in list(descriptors.iterdir()))
    except (PermissionError, FileNotFoundError, ProcessLookupError):
        return False  # another user's, or ended while we looked
