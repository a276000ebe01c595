"""The identity of the release that this process runs."""

import hashlib
from functools import cache
from pathlib import Path

from django.conf import settings

SOURCES = ("webapp", "results", "static")


@cache
def release() -> str:
    """Return a text that identifies the release: a hash of the names, sizes and times of its files."""
    files = (path for name in SOURCES for path in sorted(Path(settings.BASE_DIR / name).rglob("*")) if path.is_file())
    read = [(path.relative_to(settings.BASE_DIR), path.stat()) for path in files if path.suffix != ".pyc"]
    parts = [(str(path), found.st_size, found.st_mtime_ns) for path, found in read]
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
