"""Cache of the intervals of large side files on disk, so that the side file of a 24-hour run is parsed only once.

The name of a file ends with a hash of the quantities that it has: other quantities have other files.

The files can be made again from the evidence: they may be removed at any time, and a backup does not need them.
"""

import hashlib
import logging
import secrets
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from django.conf import settings

FORMAT = 1  # of the contents: a change of Intervals.packed(), or of what a quantity means, needs a new number
LEFTOVER_AGE_S = 3600  # no process takes so long to write a file

logger = logging.getLogger(__name__)


def path_of(sha256: str, codes: Sequence[str]) -> Path:
    """Return where the intervals of a side file are, given the hash of its bytes and the codes of the quantities."""
    layout = hashlib.sha256(" ".join([str(FORMAT), *codes]).encode()).hexdigest()[:12]
    return Path(settings.TELEMETRY_DIR) / sha256[:2] / f"{sha256}.{layout}"


def load(sha256: str, codes: Sequence[str]) -> bytes | None:
    """Return the packed intervals of a side file; None if it has not been parsed yet."""
    try:
        return path_of(sha256, codes).read_bytes()
    except OSError:
        return None


def save(sha256: str, codes: Sequence[str], packed: bytes) -> None:
    """Store packed intervals. Without room on the disk, the next page parses the side file again."""
    path = path_of(sha256, codes)
    temporary = path.with_suffix(f".{secrets.token_hex(8)}")
    try:
        _remove_leftovers(path.suffix)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary.write_bytes(packed)
        temporary.replace(path)
    except OSError as error:
        logger.warning("%s: cannot be written: %s", path, error)
        with suppress(OSError):
            temporary.unlink()


def _remove_leftovers(suffix: str) -> None:
    """Remove old files with another suffix: those of processes that were killed, and those of other quantities."""
    oldest = time.time() - LEFTOVER_AGE_S
    for path in Path(settings.TELEMETRY_DIR).glob("*/*"):
        with suppress(OSError):  # another process removes it at the same moment
            if path.suffix != suffix and path.stat().st_mtime < oldest:
                path.unlink()
