"""Files and their names that are still on disk after a loss of power."""

import os
from pathlib import Path


def write_file(path: Path, content: bytes) -> None:
    """Write a file and wait until its bytes are on disk; sync_directory() does the same for its name."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync_directory(directory: Path) -> None:
    """Wait until the names in a directory are on disk."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_directory(directory: Path) -> None:
    """Create a directory and the ones above it, each safe on disk in the one above."""
    if directory.is_dir():
        return
    make_directory(directory.parent)
    directory.mkdir(mode=0o750, exist_ok=True)
    sync_directory(directory.parent)
