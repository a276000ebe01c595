"""Drive keys: the key that binds a device, and the keys that earlier versions of drivetest gave to the same drive.

docs/reference/formats.md defines the grammar. crates/device/src/identity/drive.rs follows it too; both are tested with
tests/data/drive_keys.tsv.
"""

import re
from collections.abc import Iterable

# A device without an identity of its own is named after its machine: the host's name, and a mark of the machine's id.
# Source: runners/drivetest/crates/device/src/system.rs, machine_label().
MARKED = re.compile(r"((?:file|loop|zram|block):[^~]*)~[0-9a-f]{12}(:.*)", re.DOTALL)
# The host's name, then the numbers of the file system's device and of the inode.
FILE = re.compile(r"file:.+:([0-9]+:[0-9]+)", re.DOTALL)


def keys_of(now: str) -> frozenset[str]:
    """Return every key that a drive may have been bound by, given its current key.

    Earlier keys had no mark of the machine (file:HOST:DEVICE:INODE), and the first keys of files had no host either
    (file:DEVICE:INODE): cloned machines shared them.
    """
    file = FILE.fullmatch(now)
    return frozenset({now, unmarked(now)} | ({f"file:{file[1]}"} if file else set()))


def unmarked(now: str) -> str:
    """Return the key without the mark of the machine."""
    marked = MARKED.fullmatch(now)
    return marked[1] + marked[2] if marked else now


def is_same_drive(one: str, other: str) -> bool:
    """Return whether two keys belong to one drive, even if one of them is from an earlier drivetest."""
    return one in keys_of(other) or other in keys_of(one)


def is_among(key: str, others: Iterable[str]) -> bool:
    """Return whether a key belongs to the same drive as one of these."""
    return any(is_same_drive(key, other) for other in others)
