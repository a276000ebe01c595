"""Plain files that serve as devices: ACT is told their size, in whole MiB."""

MIB_BYTES = 1024 * 1024


def is_plain_file(path: str) -> bool:
    """Tell whether a device is a file, which ACT needs to be told the size of; nodes of devices live in /dev."""
    return not path.startswith("/dev/")
