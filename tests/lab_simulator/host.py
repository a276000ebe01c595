"""A simulated host that follows the rules of docs/reference/formats.md, detached runs, like `drivetest start`."""

import io
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from runners.errors import DeviceUnknownError, FileMissingError, StartRefusedError
from runners.hosts.protocol import ProgramState, ProgramStatus, parse_identity
from tests.lab_simulator.act_log import RunLog, parse_config
from tests.lab_simulator.prep_log import PrepLog
from tests.lab_simulator.watch_log import WatchLog

FINISHED, IO_ERROR, INTERRUPTED, REFUSED = 0, 3, 5, 2


class Program:
    """A load on a drive; it ends by itself after its duration, with or without a poll.

    `new_files` makes its output files: RunLog, PrepLog or WatchLog, from the drive, its start and the clock's offset.
    """

    def __init__(self, host, run, drive, generation, new_files):
        self.host, self.run, self.drive, self.generation = host, run, drive, generation
        self.pid = host.next_pid()
        self.exit_status, self.has_ended = None, False
        self.boot_ids = host.boot_ids()
        self.started_s = host.now_s()
        self.files = new_files(drive, self.started_s, host.clock_offset_s)

    def is_running(self):
        """Write the output that is due, end the load after its duration, and return whether it still runs."""
        if not self.has_ended:
            elapsed_s = self.host.now_s() - self.started_s
            self.files.grow(elapsed_s)
            self._put_files()
            if elapsed_s >= self.files.duration_s:
                self.end(FINISHED, "finished")
        return not self.has_ended

    def ends_at_s(self):
        return self.started_s + self.files.duration_s

    def end(self, exit_status, reason=""):
        self.has_ended, self.exit_status = True, exit_status
        if reason:  # a killed program writes nothing
            self.files.finish(reason)
            self._put_files()

    def _put_files(self):
        if self.run in self.host.files:
            self.host.files[self.run] |= {"log": self.files.log, "side.jsonl": self.files.side}


class Stopped:
    """A run directory that was stopped before its start: nothing ever runs there."""

    pid, generation, exit_status, drive, boot_ids = None, 0, None, None, ()

    def is_running(self):
        return False


@dataclass
class SimulatedHost:
    """A simulated host; `drives` maps paths to drives. faults.py adds faults on the way to it."""

    name: str
    clock: object
    drives: dict[str, Any] = field(default_factory=dict)
    programs: dict[str, Any] = field(default_factory=dict)
    files: dict[str, Any] = field(default_factory=dict)
    newest: dict[str, int] = field(default_factory=dict)
    forgotten: list[Any] = field(default_factory=list)
    clock_offset_s: float = 0.0
    pids_count: int = 0
    boots_count: int = 1

    def now_s(self):
        return self.clock.now_s()

    def next_pid(self):
        self.pids_count += 1
        return 4000 + self.pids_count

    def identify(self, path):
        if path not in self.drives:
            raise DeviceUnknownError(f"{path}: no such device")
        discards = {"boot_id": f"{self.name}-{self.boots_count}", "requests_count": 0, "bytes": 0}  # no program trims
        return parse_identity(path, self.drives[path].identity(path, self.now_s()) | {"discards": discards})

    def find(self, drive_key, size_bytes):
        return [path for path, drive in self.drives.items() if (drive.key, drive.size_bytes) == (drive_key, size_bytes)]

    def put(self, run, files):
        self.files.setdefault(run, {}).update(files)

    def start(self, run, drive_key, generation, argv):
        if run not in self.programs:
            path, new_files = self._parse_argv(run, argv)
            drive = self.drives[path]
            self._refuse(drive_key, generation)
            self.newest[drive_key] = generation
            self.programs[run] = Program(self, run, drive, generation, new_files)
            if drive.key != drive_key:  # --expect-drive
                self.programs[run].end(REFUSED, "refused")
            else:
                drive.take_load(self.programs[run])
        return self.status(run)

    def status(self, run):
        program = self.programs.get(run)
        if program is None:
            return ProgramStatus(ProgramState.ABSENT)
        state = ProgramState.RUNNING if program.is_running() else ProgramState.ENDED
        sizes = [len(self.files.get(run, {}).get(name, b"")) for name in ("log", "side.jsonl")]
        boots = {"boot_ids": program.boot_ids}
        return ProgramStatus(state, program.pid, program.generation, program.exit_status, *sizes, **boots)

    def boot_ids(self):
        return (f"{self.name} start {self.boots_count}",)

    def stop(self, run):
        program = self.programs.get(run)
        if program is None and run in self.files:
            self.programs[run] = Stopped()
        elif program is not None and program.is_running():
            program.end(INTERRUPTED, "interrupted")
        return self.status(run)

    def remove(self, run, drive_key, generation):
        if run in [program.run for program in self.running()]:
            return f"{run}: its program still runs"
        if self.newest.get(drive_key, 0) <= generation:
            if any(program.drive.key == drive_key for program in self.running()):
                return f"{run}: its drive is held"
            self.newest[drive_key] = generation
        self.programs.pop(run, None)
        self.files.pop(run, None)
        return ""

    def read(self, run, file, offset, limit):
        return bytes(self._file(run, file)[offset : offset + limit])

    def fetch(self, run, file):
        return io.BytesIO(bytes(self._file(run, file)))

    def first_bytes(self, path, limit):
        return bytes(limit)

    # --- events of the host ---------------------------------------------------------------------------------------

    def reboot(self):
        """End every program without an observed end; the files stay."""
        self.boots_count += 1
        for program in self.running():
            program.end(None)
        self.boots_count += 1

    def fill_disk(self):
        """End all programs with a write error."""
        for program in self.running():
            program.end(IO_ERROR)

    def truncate(self, run, size_bytes):
        """Truncate a log; the program, which appends, continues at the new end."""
        if "log" in self.files.get(run, {}):
            del self.files[run]["log"][size_bytes:]

    def forget(self, run):
        """Remove a run directory; its program continues and still has the drive's lock."""
        self.forgotten.append(self.programs.pop(run))
        self.files.pop(run)

    def wipe(self):
        """Reboot a host whose run directories are lost at each reboot."""
        self.reboot()
        self.programs.clear()
        self.files.clear()

    def running(self):
        programs = [*self.programs.values(), *self.forgotten]
        return [program for program in programs if program.is_running()]

    def _parse_argv(self, run, argv):
        """Return the device to write to, and the factory of the program's files."""
        logs = {"prep": PrepLog, "watch": WatchLog}
        if argv and argv[0] in logs:
            path = next(word for word in argv[1:] if not word.startswith("-"))
            return path, partial(logs[argv[0]], path)
        try:
            config = self.files[run]["config"]
        except KeyError as error:
            raise StartRefusedError(f"{run}: no configuration") from error
        return parse_config(config)["device-names"], partial(RunLog, run, config)

    def _refuse(self, drive_key, generation):
        busy = [program.run for program in self.running() if program.drive.key == drive_key]
        if busy:
            raise StartRefusedError(f"drive busy with {busy[0]}")
        if generation <= self.newest.get(drive_key, 0):
            raise StartRefusedError(f"generation {generation} is not newer than {self.newest[drive_key]}")

    def _file(self, run, file):
        try:
            return self.files[run][file]
        except KeyError as error:
            raise FileMissingError(f"{run}/{file}: expected a file of the run, found none") from error
