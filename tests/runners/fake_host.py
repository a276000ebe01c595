"""A lab host in memory that follows docs/reference/formats.md, detached runs."""

import io
from dataclasses import dataclass, field
from pathlib import Path

from runners.errors import (
    DeviceUnknownError,
    FileMissingError,
    HostUnavailableError,
    StartFailedError,
    StartRefusedError,
)
from runners.hosts.protocol import Identity, ProgramState, ProgramStatus
from runners.models.exit_codes import end_cause_of

DRIVE_BYTES = 64 * 1024 * 1024
REAL_LOG = (Path(__file__).parent.parent / "data/act/6.6/four-us.log").read_bytes()


class WorkerKilledError(BaseException):
    """A simulated kill -9, which no code of the worker may catch."""


@dataclass
class Program:
    """The program of one run directory."""

    pid: int | None
    drive_key: str
    generation: int
    exit_status: int | None = None
    is_running: bool = True
    boot_id: str = ""
    reason: str = ""


class FetchedFile(io.BytesIO):
    """A stream that is closed after it was read: for a log, after the intake has accepted it."""

    def __init__(self, host, content):
        super().__init__(content)
        self.host = host

    def __exit__(self, *raised):
        super().__exit__(*raised)
        self.host._done("hand in", None)


@dataclass
class FakeHost:
    """A fake lab host. `most_loads` is the largest number of loads at once on one drive; it must never exceed 1."""

    drives: dict[str, Identity] = field(default_factory=dict)
    programs: dict[str, Program] = field(default_factory=dict)
    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    newest: dict[str, int] = field(default_factory=dict)
    starts_count: int = 0
    stops_count: int = 0
    most_loads: int = 0
    is_silent: bool = False
    cannot_start: bool = False
    refused_stages: tuple[str, ...] = ()
    ignores_stop: bool = False
    boot_id: str = "first start"
    dies_after: str = ""  # kill the calling worker after this call

    def add_drive(
        self, path="/dev/fake0", drive_key="loop:1:2", size_bytes=DRIVE_BYTES, refusals=(), kind="virtual", **further
    ):
        document = {"path": path, "signature": None} | further
        self.drives[path] = Identity(path, kind, drive_key, size_bytes, tuple(refusals), document)
        return self.drives[path]

    def identify(self, path):
        self._answer()
        if path not in self.drives:
            raise DeviceUnknownError(f"{path}: no such device")
        return self._done("identify", self.drives[path])

    def find(self, drive_key, size_bytes):
        self._answer()
        wanted = (drive_key, size_bytes)
        return [path for path, seen in self.drives.items() if (seen.drive_key, seen.size_bytes) == wanted]

    def first_bytes(self, path, limit):
        self._answer()
        return b""

    def create_file(self, path, size_bytes):
        self._answer()
        self.add_drive(path, f"file:{path}", size_bytes)

    def put(self, run, files):
        self._answer()
        self.files.setdefault(run, {}).update(files)
        self._done("put", None)

    def start(self, run, drive_key, generation, argv):
        self._answer()
        if run not in self.programs:
            self._refuse(run, drive_key, generation)
            self.starts_count += 1
            self.newest[drive_key] = generation
            self.programs[run] = Program(4000 + self.starts_count, drive_key, generation, boot_id=self.boot_id)
            self.most_loads = max(self.most_loads, len(self._running_on(drive_key)))
        return self._done("start", self._status(run))

    def status(self, run):
        self._answer()
        return self._done("status", self._status(run))

    def boot_ids(self):
        self._answer()
        return (self.boot_id,)

    def stop(self, run):
        self._answer()
        self.stops_count += 1
        program = self.programs.get(run)
        if program and program.is_running and not self.ignores_stop:
            self.end(run, 5)
        if program is None and run in self.files:
            self.programs[run] = Program(None, "", 0, is_running=False)
        return self._done("stop", self._status(run))

    def remove(self, run, drive_key, generation):
        self._answer()
        if run in self._running_on(drive_key):
            return f"{run}: its program still runs"
        if self.newest.get(drive_key, 0) <= generation:
            if self._running_on(drive_key):
                return f"{run}: its drive is locked"
            self.newest[drive_key] = generation
        self.lose(run)
        return self._done("remove", "")

    def read(self, run, file, offset, limit):
        self._answer()
        return self._file(run, file)[offset : offset + limit]

    def fetch(self, run, file):
        self._answer()
        return self._done("fetch", FetchedFile(self, self._file(run, file)))

    def write_log(self, run, content=REAL_LOG):
        self.files.setdefault(run, {})["log"] = content

    def end(self, run, exit_status, reason=""):
        self.programs[run].is_running = False
        self.programs[run].exit_status = exit_status
        self.programs[run].reason = reason

    def lose(self, run):
        self.programs.pop(run, None)
        self.files.pop(run, None)

    def fall_silent(self):
        """Stop answering from now on."""
        self.is_silent = True
        self._answer()

    def _running_on(self, drive_key):
        return [run for run, program in self.programs.items() if program.is_running and program.drive_key == drive_key]

    def _refuse(self, run, drive_key, generation):
        if run.partition(".")[2] in self.refused_stages:
            raise StartRefusedError(f"{run}: refused")
        if self.cannot_start:
            raise StartFailedError("cannot fork")
        if self._running_on(drive_key):
            raise StartRefusedError(f"drive busy with {self._running_on(drive_key)[0]}")
        if generation <= self.newest.get(drive_key, 0):
            raise StartRefusedError(f"generation {generation} is not newer than {self.newest[drive_key]}")

    def _status(self, run):
        program = self.programs.get(run)
        if program is None:
            return ProgramStatus(ProgramState.ABSENT)
        state = ProgramState.RUNNING if program.is_running else ProgramState.ENDED
        log_bytes, side_bytes = (len(self.files.get(run, {}).get(file, b"")) for file in ("log", "side.jsonl"))
        boot_ids = (program.boot_id,) if program.boot_id else ()
        further = {
            "log_bytes": log_bytes,
            "side_file_bytes": side_bytes,
            "boot_ids": boot_ids,
            "reason": program.reason,
        }
        # like drivetest 0.2, which reports no cause
        cause = end_cause_of({"state": state, "exit_status": program.exit_status, "reason": program.reason})
        return ProgramStatus(state, program.pid, program.generation, program.exit_status, end_cause=cause, **further)

    def _file(self, run, file):
        try:
            return self.files[run][file]
        except KeyError as error:
            raise FileMissingError(f"{run}/{file}: expected a file of the run, found none") from error

    def _answer(self):
        if self.is_silent:
            raise HostUnavailableError("fake: no answer")

    def _done(self, call, answer):
        if self.dies_after == call:
            self.dies_after = ""
            raise WorkerKilledError(call)
        return answer
