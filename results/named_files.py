"""Stored bytes under the names that their sender gave them: what a companion is, its name tells the reader.

The names are links beside the store, made when they are asked for and never removed: a worker that is killed leaves
nothing that would not be made again.
"""

import os
from contextlib import suppress
from pathlib import Path

from django.conf import settings

from results.evidence_store import open_evidence, path_of
from results.models import Companion

NAME_BYTES = 200  # of the 255 that a file system takes: the end is kept, which tells the kind
NAMES = "named"


def named_path(companion: Companion) -> Path:
    """Return a path that ends in the companion's own name and leads to its bytes.

    Raises EvidenceDamagedError where the bytes are missing.
    """
    open_evidence(companion.evidence).close()
    stored = path_of(companion.evidence.sha256)
    directory = Path(settings.EVIDENCE_DIR) / NAMES / companion.evidence.sha256
    directory.mkdir(mode=0o750, parents=True, exist_ok=True)
    link = directory / file_name(companion.filename)
    with suppress(FileExistsError):  # the same bytes under the same name: an earlier attempt has made it
        link.symlink_to(os.path.relpath(stored, directory))
    return link


def file_name(filename: str) -> str:
    """Return a name that every file system takes; "." and ".." are none."""
    kept = filename.replace("/", "_").encode(errors="replace")[-NAME_BYTES:].decode(errors="ignore")
    return kept if kept.strip(".") else "companion"
