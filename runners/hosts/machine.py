"""This machine: its id, and the register's own files in the lab directory.

The host `local` is one machine, and a register may have workers on several.
"""

import hashlib
import os
import re
import uuid
from pathlib import Path

from django.conf import settings

from results.evidence.store import TooLargeError
from runners.errors import MachineUnknownError

MACHINE_ID = Path("/etc/machine-id")
WELL_FORMED = re.compile(rb"[0-9a-f]{32}\n?")
UNASSIGNED = ""  # the machine of a host `local` before the first worker polls it


def machine_id() -> str:
    """Return an id of this machine that stays the same after a restart; hashed, as machine-id(5) requires.

    Most containers have no machine id. There the data directory identifies the machine. Raise MachineUnknownError if an
    id exists but cannot be read: with another id, no worker would poll the runs of this machine.
    """
    return _hashed(_system_id() or _stored_id() or _stored_id(creates=True))


def known_machine_id() -> str:
    """Return the same without creating an id; empty if there is none yet. Raise MachineUnknownError."""
    found = _system_id() or _stored_id()
    return _hashed(found) if found else ""


def own_machine_ids() -> list[str]:
    """Return the values of `Host.machine_id` that stand for this machine; UNASSIGNED alone if it has no readable id."""
    try:
        return [UNASSIGNED, *filter(None, [known_machine_id()])]
    except MachineUnknownError:
        return [UNASSIGNED]


def is_this_machine(machine_id: str) -> bool:
    """Return whether a host with this `machine_id` is this machine, or is not assigned yet."""
    return machine_id == UNASSIGNED or machine_id in own_machine_ids()


def machine_id_error() -> str:
    """Return why this machine has no readable id; empty if it has one, or will have when it is created."""
    try:
        known_machine_id()
    except MachineUnknownError as error:
        return str(error)
    return ""


def _system_id() -> str:
    try:
        content = MACHINE_ID.read_bytes()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise MachineUnknownError(
            f"{MACHINE_ID}: cannot be read ({error.strerror}): expected a file that all users may read, with the 32 "
            f"hexadecimal digits of this machine's id; run `chmod 0444 {MACHINE_ID}` as root"
        ) from error
    return content.decode().strip() if WELL_FORMED.fullmatch(content) else ""  # "uninitialized", or empty in an image


def _hashed(identity: str) -> str:
    return hashlib.sha256(f"drivecert host {identity}".encode()).hexdigest()


def _stored_id(*, creates: bool = False) -> str:
    """Return the id stored in the data directory. If there is none yet, create one or return an empty text."""
    path = Path(settings.LAB_DIR) / "host-id"
    try:
        if creates:
            create_once(path, f"{uuid.uuid4().hex}\n".encode())
        return path.read_text().strip()
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not creates:
            return ""
        raise MachineUnknownError(
            f"{path}: cannot be read or made ({error.strerror}): expected the id of this machine, which has none of "
            "its own; give the register's account read and write access there"
        ) from error


def create_once(path: Path, content: bytes) -> None:
    """Create a file that only its owner can read, unless another process created it first.

    The file is written under a temporary name and linked: one of several processes wins, and no reader sees half of it.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.link(temporary, path)
    except FileExistsError:
        return
    finally:
        temporary.unlink()


def scratch_dir() -> Path:
    """Return the directory for unnamed temporary files. Create it if it is missing.

    Large files are on the disk of the data: /tmp may be memory.
    """
    path = Path(settings.LAB_DIR)
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def check_size(name: str, size_bytes: int) -> None:
    """Raise TooLargeError beyond the intake's limit: the register fetches no more than that from a host."""
    if size_bytes > settings.UPLOAD_MAX_BYTES:
        raise TooLargeError(f"{name}: expected at most {settings.UPLOAD_MAX_BYTES} bytes, found more")
