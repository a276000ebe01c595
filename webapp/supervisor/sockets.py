"""The private directory of the servers' sockets, with a path that is short enough for the kernel."""

import os
import stat
import tempfile
from pathlib import Path

# sockaddr_un holds 107 bytes; the longest name in the directory is the lock file of PostgreSQL's socket.
LONGEST_DIRECTORY_BYTES = 107 - len("/.s.PGSQL.5432.lock")


def private_socket_dir(path_file: Path, owner: tuple[int, int] | None) -> Path:
    """Return the directory that `path_file` names if it is still private to `owner`, or else a new one under /tmp.

    `owner` is uid and gid of the account under which the servers run, or None if they run as this user.
    """
    uid = owner[0] if owner else os.geteuid()
    if path_file.exists():
        existing = Path(path_file.read_text())
        if is_private(existing, uid):
            return existing
    new = _make(owner)
    path_file.write_text(str(new))
    return new


def remove_socket_dir(path_file: Path, owner: tuple[int, int] | None) -> None:
    """Remove the directory and its files. The servers must have ended."""
    if not path_file.exists():
        return
    directory = Path(path_file.read_text())
    if is_private(directory, owner[0] if owner else os.geteuid()):
        for entry in directory.glob("*"):
            entry.unlink()
        directory.rmdir()
    path_file.unlink()


def is_private(directory: Path, uid: int) -> bool:
    """Return whether the path is a real directory that belongs to the user and that no other user can enter."""
    try:
        status = directory.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISDIR(status.st_mode) and stat.S_IMODE(status.st_mode) == 0o700 and status.st_uid == uid


def _make(owner: tuple[int, int] | None) -> Path:
    parent = Path(tempfile.gettempdir())
    if len(os.fsencode(parent)) + len("/drivecert-xxxxxxxx") > LONGEST_DIRECTORY_BYTES:
        parent = Path("/tmp")  # noqa: S108 - mkdtemp creates a directory of mode 0700 with a random name
    directory = Path(tempfile.mkdtemp(prefix="drivecert-", dir=parent))
    if owner is not None:
        os.chown(directory, *owner)
    return directory
