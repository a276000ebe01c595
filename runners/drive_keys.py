"""The keys of drives: what binds a device, and what its drive was called by earlier versions of drivetest."""

FILE = "file:"
NUMBERS_COUNT = 2  # of the file system's device, and of the inode


def keys_of(now: str) -> frozenset[str]:
    """Return every key that a drive may have been bound by, of the one that it has now.

    Keys of files named no host once (file:DEVICE:INODE): machines that were cloned shared them.
    """
    parts = now.removeprefix(FILE).rsplit(":", NUMBERS_COUNT)
    names_host = now.startswith(FILE) and len(parts) > NUMBERS_COUNT
    return frozenset({now, FILE + ":".join(parts[1:])} if names_host else {now})
