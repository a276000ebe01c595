"""The protocol of a lab host, however it is reached. Run directories have names; callers never pass their paths."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, BinaryIO, Protocol

from runners.models.exit_codes import EndCause
from runners.models.host import Host


@dataclass(frozen=True)
class Identity:
    """The identity of a device, and why it may not be written to. `document` is the host's drivecert.identity/1."""

    path: str
    kind: str
    drive_key: str
    size_bytes: int
    refusals: tuple[str, ...] = ()
    document: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class FoundDrive:
    """A whole drive of a host, one of drivecert.drives/1. `model` and `serial` are None if not reported."""

    path: str
    kind: str
    drive_key: str
    size_bytes: int
    model: str | None = None
    serial: str | None = None


class ProgramState(StrEnum):
    """The state of the program in a run directory: never started there, running, or ended."""

    ABSENT = "absent"
    RUNNING = "running"
    ENDED = "ended"


@dataclass(frozen=True)
class ProgramStatus:
    """drivecert.detached/1. `exit_status` is None while the program runs, and after an end by signal or unobserved.

    `boot_ids` identify the boots of the machines during which it runs or ran. Earlier versions of drivetest report
    none.
    """

    state: ProgramState
    pid: int | None = None
    generation: int = 0
    exit_status: int | None = None
    log_bytes: int = 0
    side_file_bytes: int = 0
    reason: str = ""
    end_cause: EndCause | None = None
    boot_ids: tuple[str, ...] = ()


class LabHost(Protocol):
    """A host. Every call may be repeated. All raise HostError, and HostUnavailableError if there is no answer."""

    def identify(self, path: str) -> Identity:
        """Return what the device at a path is now. Raise DeviceUnknownError if the host cannot identify it."""

    def list_drives(self) -> list[FoundDrive]:
        """Return the whole drives of the host, by their paths, without opening any of them."""

    def find(self, drive_key: str, size_bytes: int) -> list[str]:
        """Return the current paths of a drive, or of its partition of that size. Empty if the drive is missing."""

    def first_bytes(self, path: str, limit: int) -> bytes:
        """Return up to `limit` bytes from the beginning of a plain file. Raise DeviceUnknownError."""

    def create_file(self, path: str, size_bytes: int) -> None:
        """Create a plain file to serve as a device. Raise FileExistsOnHostError if it exists, and leave it alone."""

    def put(self, run: str, files: Mapping[str, bytes]) -> None:
        """Write files into a run directory. Create the directory if it is absent."""

    def start(self, run: str, drive_key: str, generation: int, argv: Sequence[str]) -> ProgramStatus:
        """Start drivetest in the background, with the run directory as its working directory.

        Repeating the call reports the running process. Raise StartRefusedError if the drive is busy or the generation
        outdated, and StartFailedError if repeating cannot help.
        """

    def status(self, run: str) -> ProgramStatus:
        """Return the status of the program in a run directory."""

    def read(self, run: str, file: str, offset: int, limit: int) -> bytes:
        """Return up to `limit` bytes of a file of a run directory. Raise FileMissingError."""

    def fetch(self, run: str, file: str) -> BinaryIO:
        """Open a whole file of a run directory for reading; the caller closes it. Raise FileMissingError."""

    def boot_ids(self) -> tuple[str, ...]:
        """Return an id of the current boot of each machine: a program that ran under another id has ended.

        Empty if a machine does not report one.
        """

    def remove(self, run: str, drive_key: str, generation: int) -> str:
        """Remove a run directory. Return why it was not removed, or an empty text. `generation` is its last one.

        The directory stays while any process of the run lives. Once it is gone, the host refuses every start of that
        generation or an older one.
        """

    def stop(self, run: str) -> ProgramStatus:
        """Ask the program of a run directory, and no other, to end. Return its status at once.

        If nothing was started in the directory yet, nothing ever will be: a later start reports "ended".
        """


Connect = Callable[[Host], LabHost]


def stop_and_seal(host: LabHost, run: str) -> ProgramStatus:
    """Stop the program of a run, prevent any later start there, and return its status."""
    host.put(run, {})  # a missing directory cannot be sealed
    return host.stop(run)


def was_never_started(status: ProgramStatus) -> bool:
    """Return whether a sealed run never had a program: none is there, and none can start."""
    return status.state is ProgramState.ENDED and status.pid is None


def status_or_seal(host: LabHost, run: str) -> ProgramStatus:
    """Return the status of a run that no dispatch waits for. Seal it if nothing was started there.

    A start whose answer was lost may still be in progress when its host reports "absent".
    """
    status = host.status(run)
    return stop_and_seal(host, run) if status.state is ProgramState.ABSENT else status
