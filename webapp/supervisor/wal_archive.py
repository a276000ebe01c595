"""Archiver of PostgreSQL's log, which the server runs for each segment. It uses only the standard library.

    python -I -S wal_archive.py DIRECTORY PATH NAME

A segment has its name in the archive when its bytes and the name are on disk. A segment that is there is never
replaced: PostgreSQL repeats the command after a crash, so the same bytes again are a success, and others an error.
"""

import filecmp
import os
import shutil
import sys
from pathlib import Path


def archive(directory: Path, source: Path, name: str) -> str:
    """Copy a segment into the archive. Return the problem, or an empty text."""
    target = directory / name
    temporary = directory / f".{name}.{os.getpid()}"
    try:
        with source.open("rb") as read, temporary.open("xb") as written:
            os.fchmod(written.fileno(), 0o600)
            shutil.copyfileobj(read, written, 1024 * 1024)
            written.flush()
            os.fsync(written.fileno())
        try:
            os.link(temporary, target)  # unlike a rename, a link never replaces a file
        except FileExistsError:
            if not filecmp.cmp(source, target, shallow=False):
                return f"{target}: expected no file or the same segment, found other bytes. Use an archive of its own"
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        os.fsync(descriptor)
        os.close(descriptor)
    except OSError as error:
        return f"{target}: not archived: {error.strerror}. PostgreSQL tries again, and keeps the segment until then"
    finally:
        temporary.unlink(missing_ok=True)
    return ""


if __name__ == "__main__":
    sys.exit(archive(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]) or 0)
