"""Which machine this is: the host `local` means one machine, and a register may have workers on several."""

import hashlib
import re
import uuid
from pathlib import Path

from django.conf import settings

from runners.made_once import make_once

MACHINE_ID = Path("/etc/machine-id")
WELL_FORMED = re.compile(r"[0-9a-f]{32}\n?")


def machine_id() -> str:
    """Return what tells this machine from others, the same after a restart; hashed, as machine-id(5) asks for.

    A container mostly has no machine id: there the data directory is the machine.
    """
    return hashlib.sha256(f"drivecert host {_given() or _own()}".encode()).hexdigest()


def _given() -> str:
    try:
        given = MACHINE_ID.read_text()
    except FileNotFoundError:
        return ""
    return given.strip() if WELL_FORMED.fullmatch(given) else ""  # "uninitialized", or empty in an image


def _own() -> str:
    """Return the id kept in the data directory, made by whoever asks first."""
    path = Path(settings.LAB_DIR) / "host-id"
    if not path.exists():
        make_once(path, f"{uuid.uuid4().hex}\n".encode())
    return path.read_text().strip()
