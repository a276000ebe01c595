"""What the register asks of a lab host, however it is reached. Run directories are named, never given as paths."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, BinaryIO, Protocol

from runners.models.host import Host


@dataclass(frozen=True)
class Identity:
    """What a device is and why it may not be written to; `document` is drivecert.identity/1 as the host gave it."""

    path: str
    kind: str
    drive_key: str
    size_bytes: int
    refusals: tuple[str, ...] = ()
    document: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class FoundDrive:
    """A whole drive of a host, one of drivecert.drives/1; `model` and `serial` are None where it tells none."""

    path: str
    kind: str
    drive_key: str
    size_bytes: int
    model: str | None = None
    serial: str | None = None


class Detached(StrEnum):
    """What became of the program of a run directory: never started there, running, or ended."""

    ABSENT = "absent"
    RUNNING = "running"
    ENDED = "ended"


@dataclass(frozen=True)
class ProgramStatus:
    """drivecert.detached/1. `exit_status` is None while it runs and where nobody was left to see the end.

    `boot_ids` are the starts of the machines under which it runs, or ran; empty where an earlier drivetest tells none.
    """

    state: Detached
    pid: int | None = None
    generation: int = 0
    exit_status: int | None = None
    log_bytes: int = 0
    side_file_bytes: int = 0
    reason: str = ""
    boot_ids: tuple[str, ...] = ()


class LabHost(Protocol):
    """A host. Every call may be repeated; all raise HostError, HostSilentError where there is no answer."""

    def identify(self, path: str) -> Identity:
        """Return what the device at a path is now. Raises DeviceUnknownError where that cannot be told."""
        ...

    def list_drives(self) -> list[FoundDrive]:
        """Return the whole drives that the host has, by their paths; none of them is opened or asked."""
        ...

    def find(self, drive_key: str, size_bytes: int) -> list[str]:
        """Return the paths under which a drive, or its partition of that size, is found now; none where it is away."""
        ...

    def first_bytes(self, path: str, limit: int) -> bytes:
        """Return up to `limit` bytes from the beginning of a plain file. Raises DeviceUnknownError."""
        ...

    def create_file(self, path: str, size_bytes: int) -> None:
        """Create a plain file to serve as a device. Raises FileExistsOnHostError and then leaves the file alone."""
        ...

    def put(self, run: str, files: Mapping[str, bytes]) -> None:
        """Write files into a run directory, which is created where it is absent."""
        ...

    def start(self, run: str, drive_key: str, generation: int, argv: Sequence[str]) -> ProgramStatus:
        """Start drivetest detached in a run directory, its working directory; asked again, tell the same process.

        Raises StartRefusedError where the drive is busy or the generation old, StartFailedError where asking again
        cannot help.
        """
        ...

    def status(self, run: str) -> ProgramStatus:
        """Return what became of the program of a run directory."""
        ...

    def read(self, run: str, file: str, offset: int, limit: int) -> bytes:
        """Return up to `limit` bytes of a file of a run directory. Raises FileMissingError."""
        ...

    def fetch(self, run: str, file: str) -> BinaryIO:
        """Open a whole file of a run directory for reading; the caller closes it. Raises FileMissingError."""
        ...

    def boot_ids(self) -> tuple[str, ...]:
        """Return what tells this start of each machine from every other: a program that ran under another one ended.

        Empty where a machine tells none.
        """
        ...

    def remove(self, run: str, drive_key: str, generation: int) -> str:
        """Remove a run directory and return why it stays, empty where nothing of it is left; `generation` is its last.

        It stays while anything of the run lives. Once it is gone no start of that generation, or of an older one, is
        let in on the drive any more.
        """
        ...

    def stop(self, run: str) -> ProgramStatus:
        """Ask the program of a run directory, and no other, to end; return its status at once.

        In a directory where nothing was started yet, nothing ever will be: a start that comes later tells "ended".
        """
        ...


Connect = Callable[[Host], LabHost]


def close(host: LabHost, run: str) -> ProgramStatus:
    """Ask the program of a run to end, make sure that none starts there later, and return how it stands."""
    host.put(run, {})  # a directory that is not there cannot be closed
    return host.stop(run)


def was_never_started(closed: ProgramStatus) -> bool:
    """Tell whether a run that was closed never had a program: none is there, and none can come."""
    return closed.state is Detached.ENDED and closed.pid is None


def status_or_close(host: LabHost, run: str) -> ProgramStatus:
    """Return the status of a run that nobody waits for any more; where nothing was started, nothing ever will be.

    A start whose answer never came may still be under way when its host says "absent".
    """
    status = host.status(run)
    return close(host, run) if status.state is Detached.ABSENT else status
