"""What /proc tells of other processes."""

from pathlib import Path


def working_in(directory: Path) -> list[int]:
    """Return the processes whose working directory this is, as far as we may look."""
    links = Path("/proc").glob("[0-9]*/cwd")
    return [int(link.parent.name) for link in links if target_of(link) == directory.resolve()]


def program_name(pid: int) -> str:
    """Return the file name of the program a process runs, empty where it ended."""
    program = target_of(Path(f"/proc/{pid}/exe"))
    return program.name.removesuffix(" (deleted)") if program else ""


def target_of(link: Path) -> Path | None:
    """Return where a link of /proc points; None where it is another user's, or gone since it was listed."""
    try:
        return link.readlink()
    except (PermissionError, FileNotFoundError, ProcessLookupError):
        return None
