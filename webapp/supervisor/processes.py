"""Facts about other processes, from /proc."""

from pathlib import Path


def processes_in(directory: Path) -> list[int]:
    """Return the processes that work in the directory, except those that this user may not inspect."""
    links = Path("/proc").glob("[0-9]*/cwd")
    return [int(link.parent.name) for link in links if link_target(link) == directory.resolve()]


def program_name(pid: int) -> str:
    """Return the file name of the program that a process runs, or an empty string if the process ended."""
    program = link_target(Path(f"/proc/{pid}/exe"))
    return program.name.removesuffix(" (deleted)") if program else ""


def link_target(link: Path) -> Path | None:
    """Return the target of a link in /proc, or None if it belongs to another user or no longer exists."""
    try:
        return link.readlink()
    except (PermissionError, FileNotFoundError, ProcessLookupError):
        return None
