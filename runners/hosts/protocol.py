"""The protocol of a lab host, however it is reached. Run directories have names; callers never pass their paths.

After the protocol follow the response times of a host, and the parsers of the JSON documents that drivetest prints on
any host (docs/reference/formats.md).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from enum import StrEnum
from time import monotonic
from types import NoneType
from typing import Any, BinaryIO, Protocol

from django.utils import timezone

from runners.errors import HostUnavailableError
from runners.models.exit_codes import EndCause, end_cause_of
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


class DriveUse(StrEnum):
    """What a host uses a drive for: nothing may be written to a drive with a use."""

    MOUNTED = "mounted"
    HELD = "held"
    SWAP = "swap"
    OPEN = "open"


@dataclass(frozen=True)
class FoundDrive:
    """A whole drive of a host, one of drivecert.drives/1. `model` and `serial` are None if not reported.

    `uses` are codes of DriveUse; None if the host did not report the use of its drives. `mount_points` states where the
    drive is mounted.
    """

    path: str
    kind: str
    drive_key: str
    size_bytes: int
    model: str | None = None
    serial: str | None = None
    uses: list[str] | None = None
    mount_points: list[str] | None = None


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


@dataclass(frozen=True)
class WaitPeriod:
    """A period in which a request was open and the host sent nothing."""

    since: datetime
    length_s: float

    @property
    def until(self) -> datetime:
        return self.since + timedelta(seconds=self.length_s)


class ResponseTimer:
    """Times the answers of a host since the last `reset`. The thread of the connections reports the bytes.

    One call may take several exchanges. `longest` is the longest wait of the current exchange. `worked_s` is how long
    the host itself worked on its answers there: that it sent nothing meanwhile is no outage. `reports_work` is False
    for a host whose program is too old to report that.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget all times: the next call begins."""
        self.first_byte_at: datetime | None = None
        self.last_byte_at: datetime | None = None
        self.reports_work = True
        self._earlier: WaitPeriod | None = None
        self._accepted: tuple[float, datetime] | None = None
        self._start_exchange()

    def request_sent(self) -> None:
        """Start a new exchange: the wait for its answer begins now."""
        self._earlier = self.longest_unexplained()
        self._start_exchange()

    def _start_exchange(self) -> None:
        self.longest: WaitPeriod | None = None
        self.worked_s = 0.0
        self._since_s = monotonic()

    def bytes_received(self) -> None:
        """Record that bytes came from the host now."""
        self._received_at(monotonic(), timezone.now())

    def connection_accepted(self) -> None:
        """Record that a connection was accepted now. Only the host key shows whether by the host or by a gateway."""
        self._accepted = monotonic(), timezone.now()

    def signed_in(self) -> None:
        """Record a successful login: the host was reachable since it accepted the connection."""
        if self._accepted:
            self._received_at(*self._accepted)
        self.last_byte_at, self._since_s = timezone.now(), monotonic()

    def _received_at(self, now_s: float, now: datetime) -> None:
        length_s = now_s - self._since_s
        if self.longest is None or length_s > self.longest.length_s:
            self.longest = WaitPeriod(now - timedelta(seconds=length_s), length_s)
        self.first_byte_at, self.last_byte_at, self._since_s = self.first_byte_at or now, now, now_s

    def add_work(self, worked_ms: int | None) -> None:
        """Add the time that the host worked on an answer, or None if its program does not report it."""
        self.reports_work = self.reports_work and worked_ms is not None
        self.worked_s += (worked_ms or 0) / 1000

    def longest_unexplained(self) -> WaitPeriod | None:
        """Return the longest wait of all exchanges, each less the work in that exchange. Return None if none ended."""
        if self.longest is None:
            return self._earlier
        length_s = self.longest.length_s - self.worked_s
        current = WaitPeriod(self.longest.until - timedelta(seconds=length_s), length_s)
        return max(filter(None, [self._earlier, current]), key=lambda wait: wait.length_s)


# The types of a drive's fields, unless the field is plain text.
TYPES_OF_DRIVE: Mapping[str, set[type]] = {
    "size_bytes": {int},
    "model": {str, NoneType},
    "serial": {str, NoneType},
    "uses": {list, NoneType},
    "mount_points": {list, NoneType},
}
# The fields of drivecert.drives/1 that report a use of a drive. Without the first one, the use is not reported.
USE_FIELDS = {"mounts": DriveUse.MOUNTED, "holders": DriveUse.HELD, "is_swap": DriveUse.SWAP, "is_open": DriveUse.OPEN}
USES, MOUNT_POINTS = "uses", "mount_points"


@contextmanager
def expecting(schema: str, document: object) -> Iterator[None]:
    """Raise HostUnavailableError if reading a document shows that a field is missing or has another type."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise HostUnavailableError(f"drivetest: expected {schema}, got {document!r:.500} ({error})") from error


def parse_identity(path: str, document: Mapping[str, Any]) -> Identity:
    """Parse a drivecert.identity/1. Raise HostUnavailableError if a field is missing."""
    with expecting("drivecert.identity/1", document):
        return Identity(
            path=path,
            kind=document["kind"],
            drive_key=document["drive_key"],
            size_bytes=document["size_bytes"],
            refusals=tuple(refusal["sentence"] for refusal in document["refusals"]),
            document=document,
        )


def parse_drives(document: Mapping[str, Any]) -> list[FoundDrive]:
    """Parse a drivecert.drives/1. Raise HostUnavailableError if a field is missing or has another type."""
    with expecting("drivecert.drives/1", document):
        return [_found_drive(drive) for drive in document["drives"]]


def _found_drive(document: Mapping[str, Any]) -> FoundDrive:
    """Return one drive. Raise KeyError, ValueError for an unknown use, or TypeError that names a field's type."""
    names = (each.name for each in fields(FoundDrive) if each.name not in {USES, MOUNT_POINTS})
    drive = FoundDrive(**{name: document[name] for name in names}, **_use_of(document))
    for name, value in vars(drive).items():
        if type(value) not in TYPES_OF_DRIVE.get(name, {str}):
            raise TypeError(f"{name}: {value!r:.40}")
    for use in drive.uses or ():
        DriveUse(use)
    for point in drive.mount_points or ():
        if not isinstance(point, str):
            raise TypeError(f"{MOUNT_POINTS}: {point!r:.40}")
    return drive


def _use_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the use of a drive from a host's report, or as an earlier check stored it."""
    if "mounts" not in document:
        return {name: document.get(name) for name in (USES, MOUNT_POINTS)}
    uses = [str(use) for name, use in USE_FIELDS.items() if document.get(name)]
    return {USES: uses, MOUNT_POINTS: [str(mount["point"]) for mount in document["mounts"]]}


def parse_status(document: Mapping[str, Any]) -> ProgramStatus:
    """Parse a drivecert.detached/1. Raise HostUnavailableError if a field is missing."""
    with expecting("drivecert.detached/1", document):
        return ProgramStatus(
            state=ProgramState(document["state"]),
            generation=document["generation"] or 0,
            **{name: document[name] for name in ("pid", "exit_status", "log_bytes", "side_file_bytes", "reason")},
            end_cause=end_cause_of(document),
            boot_ids=(document["boot_id"],) if document.get("boot_id") else (),
        )


def parse_removal(document: Mapping[str, Any]) -> str:
    """Return from a drivecert.removal/1 why a directory was not removed.

    Raises HostUnavailableError for other documents.
    """
    with expecting("drivecert.removal/1", document):
        return "" if document["removed"] else document["reason"] or "not removed; its host gave no reason"
