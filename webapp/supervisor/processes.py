"""What /proc tells of other processes."""

from pathlib import Path


def working_in(directory: Path) -> list[int]:
    """Return the processes whose working directory this is, as far as we may look."""
    found = []
    for link in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if link.readlink() == directory.resolve():
                found.append(int(link.parent.name))
        except (PermissionError, FileNotFoundError):
            continue  # another user's, or ended while we looked
    return found


def program_name(pid: int) -> str:
    """Return the file name of the program a process runs, empty where it ended."""
    try:
        return Path(f"/proc/{pid}/exe").readlink().name.removesuffix(" (deleted)")
    except (PermissionError, FileNotFoundError):
        return ""
