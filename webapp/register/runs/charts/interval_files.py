"""Cache of the intervals of large side files on disk, so that the side file of a 24-hour run is parsed only once.

The files can be made again from the evidence: they may be removed at any time, and a backup does not need them.
"""

import logging
import secrets
from contextlib import suppress
from pathlib import Path

from django.conf import settings

FORMAT = 1  # of the contents: a change of Intervals.packed() or of QUANTITIES needs a new number

logger = logging.getLogger(__name__)


def path_of(sha256: str) -> Path:
    """Return where the intervals of a side file are, given the hash of its bytes."""
    return Path(settings.TELEMETRY_DIR) / sha256[:2] / f"{sha256}.{FORMAT}"


def load(sha256: str) -> bytes | None:
    """Return the packed intervals of a side file; None if it has not been parsed yet."""
    try:
        return path_of(sha256).read_bytes()
    except OSError:
        return None


def save(sha256: str, packed: bytes) -> None:
    """Store packed intervals. Without room on the disk, the next page parses the side file again."""
    path = path_of(sha256)
    temporary = path.with_suffix(f".{secrets.token_hex(8)}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary.write_bytes(packed)
        temporary.replace(path)
    except OSError as error:
        logger.warning("%s: cannot be written: %s", path, error)
        with suppress(OSError):
            temporary.unlink()
