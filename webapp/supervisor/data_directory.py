"""The directory of one register's servers: lock files, logs, secrets, sockets, and the addresses of what runs."""

import json
import os
import secrets
import stat
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from webapp.supervisor.identity import account_ids, server_identity

DEFAULT_DATA_DIR = Path(__file__).resolve().parents[2] / "var"
ADDRESS_FILE = "addresses.json"
# sockaddr_un holds 107 bytes; the longest name in the directory is the lock file of PostgreSQL's socket.
LONGEST_DIRECTORY_BYTES = 107 - len("/.s.PGSQL.5432.lock")


def report_nothing(_message: str) -> None:
    """Discard a progress message."""


@dataclass(frozen=True)
class DataDirectory:
    """The directory of one register's servers, and the identity under which they run.

    `durable` is false for a temporary cluster. `report` shows the operator a progress message. `wal_archive` is where
    PostgreSQL copies its log for a recovery to any moment; None: nowhere.
    """

    path: Path
    durable: bool = True
    identity: str = field(default_factory=server_identity)
    report: Callable[[str], None] = report_nothing
    wal_archive: Path | None = None

    @property
    def run_dir(self) -> Path:
        """Return the directory of the lock files."""
        return self.path / "run"

    @property
    def log_dir(self) -> Path:
        """Return the directory of the logs."""
        return self.path / "log"

    def create(self) -> None:
        """Create the directories, closed to other users. Directories above the data directory are not changed."""
        for directory in (self.path, self.run_dir, self.log_dir):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if account_ids(self.identity) is not None:
            self.path.chmod(0o711)  # the unprivileged account must reach its own directory inside

    def socket_dir(self) -> Path:
        """Return the private directory of the sockets. It stays the same until it is removed."""
        return private_socket_dir(self.run_dir / "sockets", account_ids(self.identity))

    def remove_sockets(self) -> None:
        """Remove the directory of the sockets after the servers have ended."""
        remove_socket_dir(self.run_dir / "sockets", account_ids(self.identity))

    def write_server_file(self, name: str, text: str) -> Path:
        """Write a file that holds a password into the socket directory, readable only by the server and its owner."""
        path = write_private(self.socket_dir() / name, text)
        self.chown_to_server(path)
        return path

    def chown_to_server(self, path: Path) -> None:
        """Make the server's account the owner of the path and its contents, if another account owns it."""
        uid = (account_ids(self.identity) or (os.geteuid(),))[0]
        if path.stat().st_uid == uid:
            return
        for entry in [path, *path.rglob("*")]:
            os.chown(entry, uid, -1, follow_symlinks=False)

    def secret(self, name: str) -> str:
        """Return a secret of this data directory, and create it at its first use."""
        path = self.path / "secrets" / name
        if not path.exists():
            path.parent.mkdir(mode=0o700, exist_ok=True)
            write_private(path, secrets.token_urlsafe(32))
        return path.read_text()


def write_private(path: Path, text: str) -> Path:
    """Write a file that only this user can read, in place of an earlier one: whole or not at all."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    new.touch(mode=0o600, exist_ok=False)
    new.write_text(text)
    return new.rename(path)


def write_addresses(run_dir: Path, environment: dict[str, str]) -> None:
    """Write the addresses of the servers to a file that only this user can read."""
    write_private(run_dir / ADDRESS_FILE, json.dumps(environment))


def remove_addresses(run_dir: Path) -> None:
    """Remove the file, because the servers are about to stop."""
    (run_dir / ADDRESS_FILE).unlink(missing_ok=True)


def missing_addresses(environment: dict[str, str]) -> dict[str, str]:
    """Return the variables that the environment lacks to reach the register that runs on its data directory, if any."""
    data_dir = Path(environment.get("DRIVECERT_DATA") or DEFAULT_DATA_DIR)
    path = data_dir / "run" / ADDRESS_FILE
    if not os.access(path, os.R_OK):
        return {}
    addresses: dict[str, str] = json.loads(path.read_text())
    return {name: value for name, value in addresses.items() if not environment.get(name)}


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
