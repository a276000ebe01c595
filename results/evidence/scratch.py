"""Temporary directories of this machine for files that drivetest reads.

Each is removed at the end of its block. If its process is killed before, the next block of any process removes it.
"""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "drivecert-unstored-"
# A directory has no lock between its creation and the next statement. An older one without a lock is a leftover.
LEFTOVER_AGE_S = 60


@contextmanager
def scratch_directory() -> Iterator[Path]:
    """Provide a temporary directory, and remove it at the end, also after errors.

    The directory is locked meanwhile, so that other processes do not take it for a leftover.
    """
    remove_leftovers()
    with tempfile.TemporaryDirectory(prefix=PREFIX) as name:
        lock = os.open(name, os.O_RDONLY | os.O_DIRECTORY)  # a reader does not inherit it
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield Path(name)
        finally:
            os.close(lock)


def remove_leftovers() -> None:
    """Remove the directories of processes that were killed. The kernel has released their locks."""
    oldest = time.time() - LEFTOVER_AGE_S
    for directory in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):  # another process removes it at the same moment, or it is another user's
            found = directory.lstat()
            if found.st_uid == os.geteuid() and found.st_mtime < oldest:
                _remove_unlocked(directory)


def _remove_unlocked(directory: Path) -> None:
    lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(directory)
    finally:
        os.close(lock)
