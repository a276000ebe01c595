"""Which machine this is: the host `local` means one machine, and a register may have workers on several."""

import hashlib
import os
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from results.evidence.store import TooLargeError
from runners.errors import MachineUnknownError

MACHINE_ID = Path("/etc/machine-id")
WELL_FORMED = re.compile(rb"[0-9a-f]{32}\n?")
NOBODY = ""  # the machine of a host `local` that no worker has looked at yet: whoever comes first


def machine_id() -> str:
    """Return what tells this machine from others, the same after a restart; hashed, as machine-id(5) asks for.

    A container mostly has no machine id: there the data directory is the machine. Raises MachineUnknownError where an
    id is there and cannot be read: with another one in its place the runs of this machine would be left to a stranger.
    """
    return _hashed(_given() or _own())


def known_machine_id() -> str:
    """Return the same, and make nothing: empty where no id was made yet. Raises MachineUnknownError."""
    found = _given() or _kept()
    return _hashed(found) if found else ""


def own_names() -> list[str]:
    """Return what `Host.machine_id` may be of a host that this machine is; NOBODY alone where that cannot be told."""
    try:
        return [NOBODY, *filter(None, [known_machine_id()])]
    except MachineUnknownError:
        return [NOBODY]


def is_here(told: str) -> bool:
    """Tell whether a host whose `machine_id` is `told` is this machine, or nobody's yet."""
    return told == NOBODY or told in own_names()


def why_unknown() -> str:
    """Say why this machine cannot be told from others; empty where it can, or will once its id is made."""
    try:
        known_machine_id()
    except MachineUnknownError as error:
        return str(error)
    return ""


def _given() -> str:
    try:
        given = MACHINE_ID.read_bytes()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise MachineUnknownError(
            f"{MACHINE_ID}: cannot be read ({error.strerror}): expected a file that everybody may read, with 32 "
            f"hexadecimal digits, by which this machine is told from others; `chmod 0444 {MACHINE_ID}` as root"
        ) from error
    return given.decode().strip() if WELL_FORMED.fullmatch(given) else ""  # "uninitialized", or empty in an image


def _hashed(identity: str) -> str:
    return hashlib.sha256(f"drivecert host {identity}".encode()).hexdigest()


def _own() -> str:
    """Return the id kept in the data directory, made by whoever asks first."""
    return _kept() or _made()


def _kept() -> str:
    """Return the id kept in the data directory; empty where none was made yet."""
    with _told_why(path := _path()):
        try:
            return path.read_text().strip()
        except FileNotFoundError:
            return ""


def _made() -> str:
    with _told_why(path := _path()):
        make_once(path, f"{uuid.uuid4().hex}\n".encode())
        return path.read_text().strip()


def _path() -> Path:
    return Path(settings.LAB_DIR) / "host-id"


@contextmanager
def _told_why(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise MachineUnknownError(
            f"{path}: cannot be read or made ({error.strerror}): expected the id of this machine, which has none of "
            "its own; let the register's account read and write there"
        ) from error


def make_once(path: Path, content: bytes) -> None:
    """Write beside and link: of two that make it at once one wins, and nobody reads half of it. Only its owner may."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.link(beside, path)
    except FileExistsError:
        return
    finally:
        beside.unlink()


def scratch_dir() -> Path:
    """Return the directory for files without a name, made where it is missing."""
    path = Path(settings.LAB_DIR)
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def check_size(name: str, size_bytes: int) -> None:
    """Raise TooLargeError beyond what the one door takes: no more than that is brought here from a host."""
    if size_bytes > settings.UPLOAD_MAX_BYTES:
        raise TooLargeError(f"{name}: expected at most {settings.UPLOAD_MAX_BYTES} bytes, found more")
