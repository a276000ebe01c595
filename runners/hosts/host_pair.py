"""Two hosts of one dispatch as if they were one: the drive is the database's, the requests come from the load's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO

from runners.errors import StartFailedError
from runners.hosts.protocol import Detached, FoundDrive, Identity, LabHost, ProgramStatus, close
from runners.models import exit_codes


def telemetry_run(run: str) -> str:
    """Return the name of the run directory with the telemetry of the drive's host, while `run` is on another host."""
    return f"{run}-database"


@dataclass(frozen=True)
class TwoHosts:
    """A LabHost of two: the runs `elsewhere` are on the load's host, all others on the database's.

    Beside each run elsewhere telemetry of the drive runs on the drive's own host, and holds the drive there; `watch`
    are its arguments. The load's host is told first what it has to be told: the other one may give no answer.
    """

    database: LabHost
    load: LabHost
    elsewhere: frozenset[str]
    watch: tuple[str, ...]

    def _at(self, run: str) -> LabHost:
        return self.load if run in self.elsewhere else self.database

    def identify(self, path: str) -> Identity:
        return self.database.identify(path)

    def list_drives(self) -> list[FoundDrive]:
        return self.database.list_drives()

    def find(self, drive_key: str, size_bytes: int) -> list[str]:
        return self.database.find(drive_key, size_bytes)

    def first_bytes(self, path: str, limit: int) -> bytes:
        return self.database.first_bytes(path, limit)

    def create_file(self, path: str, size_bytes: int) -> None:
        self.database.create_file(path, size_bytes)

    def put(self, run: str, files: Mapping[str, bytes]) -> None:
        self._at(run).put(run, files)

    def start(self, run: str, drive_key: str, generation: int, argv: Sequence[str]) -> ProgramStatus:
        """Telemetry of the drive begins before the requests, which are not begun where it has ended at once."""
        if run not in self.elsewhere:
            return self.database.start(run, drive_key, generation, argv)
        self.database.put(telemetry_run(run), {})
        beside = self.database.start(telemetry_run(run), drive_key, generation, self.watch)
        if beside.state is not Detached.RUNNING and self.load.status(run).state is Detached.ABSENT:
            raise StartFailedError(f"{run}: not begun, for telemetry of the drive beside it {why_it_is_over(beside)}")
        started = self.load.start(run, drive_key, generation, argv)
        return replace(started, boot_ids=of_both(beside.boot_ids, started.boot_ids))

    def status(self, run: str) -> ProgramStatus:
        """Of a run elsewhere that runs only its own host is asked; the start of that machine alone comes with it."""
        return self._with_beside(run, self._at(run).status(run))

    def stop(self, run: str) -> ProgramStatus:
        return self._with_beside(run, self._at(run).stop(run))

    def _with_beside(self, run: str, status: ProgramStatus) -> ProgramStatus:
        """A run elsewhere has ended when the telemetry beside it has ended too, and can begin no more."""
        if run not in self.elsewhere or status.state is not Detached.ENDED:
            return status
        is_held = close(self.database, telemetry_run(run)).state is Detached.RUNNING
        return replace(status, state=Detached.RUNNING) if is_held else status

    def status_beside(self, run: str) -> ProgramStatus:
        """Return what became of the telemetry beside a run elsewhere."""
        return self.database.status(telemetry_run(run))

    def remove(self, run: str, drive_key: str, generation: int) -> str:
        beside = self.database.remove(telemetry_run(run), drive_key, generation) if run in self.elsewhere else ""
        return self._at(run).remove(run, drive_key, generation) or beside

    def read(self, run: str, file: str, offset: int, limit: int) -> bytes:
        return self._at(run).read(run, file, offset, limit)

    def fetch(self, run: str, file: str) -> BinaryIO:
        return self._at(run).fetch(run, file)

    def boot_ids(self) -> tuple[str, ...]:
        return of_both(self.database.boot_ids(), self.load.boot_ids())


def of_both(database: tuple[str, ...], load: tuple[str, ...]) -> tuple[str, ...]:
    """Return the starts of both machines; none where one of them is not known: half of them would pass for all."""
    return (*database, *load) if database and load else ()


def why_it_is_over(beside: ProgramStatus) -> str:
    """Say how telemetry came to its end that should run."""
    if beside.pid is None:
        return "has left nothing on its host"
    return exit_codes.reason(beside.exit_status, beside.reason)
