"""The directory of the servers' sockets: short enough for the kernel, closed to everybody else."""

import os
import stat
import tempfile
from pathlib import Path

# sockaddr_un holds 107 bytes; the longest name in the directory is PostgreSQL's lock beside its socket.
LONGEST_DIRECTORY_BYTES = 107 - len("/.s.PGSQL.5432.lock")


def private_socket_dir(note: Path, owner: tuple[int, int] | None) -> Path:
    """Return the directory that `note` names if it is still ours and closed, else a new one under /tmp.

    `owner` is uid and gid of the account under which the servers run, None where they run as ourselves.
    """
    uid = owner[0] if owner else os.geteuid()
    if note.exists():
        known = Path(note.read_text())
        if is_private(known, uid):
            return known
    new = _make(owner)
    note.write_text(str(new))
    return new


def remove_socket_dir(note: Path, owner: tuple[int, int] | None) -> None:
    """Remove the directory and what servers left in it; they must have ended."""
    if not note.exists():
        return
    directory = Path(note.read_text())
    if is_private(directory, owner[0] if owner else os.geteuid()):
        for entry in directory.glob("*"):
            entry.unlink()
        directory.rmdir()
    note.unlink()


def is_private(directory: Path, uid: int) -> bool:
    """Tell whether this is a real directory of that user which nobody else can enter."""
    try:
        status = directory.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISDIR(status.st_mode) and stat.S_IMODE(status.st_mode) == 0o700 and status.st_uid == uid


def _make(owner: tuple[int, int] | None) -> Path:
    parent = Path(tempfile.gettempdir())
    if len(os.fsencode(parent)) + len("/drivecert-xxxxxxxx") > LONGEST_DIRECTORY_BYTES:
        parent = Path("/tmp")  # noqa: S108 - mkdtemp makes an unpredictable name of mode 0700 in it
    directory = Path(tempfile.mkdtemp(prefix="drivecert-", dir=parent))
    if owner is not None:
        os.chown(directory, *owner)
    return directory
