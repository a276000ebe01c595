"""Stored files under the names from their sender: the reader recognises a companion by its name.

The names are links next to the store, created on demand and never removed: a worker that is killed leaves
nothing that would not be made again.
"""

import os
from contextlib import suppress
from pathlib import Path

from django.conf import settings

from results.evidence.store import open_evidence, path_of
from results.models import Evidence, Submission

NAME_BYTES = 200  # of the 255 that a file system allows: the end is kept, because it shows the kind of file
NAMES = "named"


def companion_paths(submission: Submission) -> list[Path]:
    """Return paths of what belongs to a submission's log: its companions, and the side file of a run of our lab.

    Raises EvidenceDamagedError if the bytes of one are missing.
    """
    companions = submission.companions.select_related("evidence")
    files = [(companion.evidence, companion.filename) for companion in companions]
    if submission.side_file is not None:
        files.append((submission.side_file, submission.side_file.filename))
    return [named_path(evidence, filename) for evidence, filename in files]


def named_path(evidence: Evidence, filename: str) -> Path:
    """Return a path that ends in a file's own name and leads to its bytes.

    Raises EvidenceDamagedError if the bytes are missing.
    """
    open_evidence(evidence).close()
    stored = path_of(evidence.sha256)
    directory = Path(settings.EVIDENCE_DIR) / NAMES / evidence.sha256
    directory.mkdir(mode=0o750, parents=True, exist_ok=True)
    link = directory / file_name(filename)
    with suppress(FileExistsError):  # the same bytes under the same name: an earlier attempt has made it
        link.symlink_to(os.path.relpath(stored, directory))
    return link


def file_name(filename: str) -> str:
    """Return a name that every file system takes; "." and ".." are none."""
    name = filename.replace("/", "_").encode(errors="replace")[-NAME_BYTES:].decode(errors="ignore")
    return name if name.strip(".") else "companion"
