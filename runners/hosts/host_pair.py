"""Two hosts of one dispatch as one LabHost: the database host has the drive, the load host sends the requests."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from runners.errors import StartFailedError, StartRefusedError
from runners.hosts.protocol import LabHost, ProgramState, ProgramStatus, stop_and_seal
from runners.models import exit_codes

# The methods of a LabHost that need no more than the host of their run.
OF_A_RUN = frozenset({"put", "read", "fetch"})


def requests_key(drive_key: str) -> str:
    """Return the key under which a load host runs the requests for a drive.

    It has no such drive: under the drive's own key, a load host that is the same machine as the drive's host would
    refuse the requests, because telemetry holds the drive there.
    """
    return f"requests:{drive_key}"


def telemetry_run(run: str) -> str:
    """Return the run directory of the drive's telemetry, while `run` is on another host."""
    return f"{run}-database"


@dataclass(frozen=True)
class HostPair:
    """A LabHost of two: `load_runs` are on the load host, all other runs on the database host.

    While a load run is active, telemetry of the drive runs on the drive's own host and holds the drive there.
    `telemetry_argv` are its arguments. The pair sends a stop to the load host first: the other one may not answer.
    """

    database: LabHost
    load: LabHost
    load_runs: frozenset[str]
    telemetry_argv: tuple[str, ...]

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return a method of one host: calls with a run go to the run's host, all others to the database host."""
        if name not in OF_A_RUN:
            return cast(Callable[..., Any], getattr(self.database, name))
        return lambda run, *args, **kwargs: getattr(self._at(run), name)(run, *args, **kwargs)

    def _at(self, run: str) -> LabHost:
        return self.load if run in self.load_runs else self.database

    def start(self, run: str, drive_key: str, generation: int, argv: Sequence[str]) -> ProgramStatus:
        """Start telemetry of the drive, then the requests. Do not start them if telemetry ended at once."""
        if run not in self.load_runs:
            return self.database.start(run, drive_key, generation, argv)
        self.database.put(telemetry_run(run), {})
        telemetry = self.database.start(telemetry_run(run), drive_key, generation, self.telemetry_argv)
        if telemetry.state is not ProgramState.RUNNING and self.load.status(run).state is ProgramState.ABSENT:
            raise StartFailedError(f"{run} was not started: {telemetry_end_message(telemetry)}")
        started = self.load.start(run, requests_key(drive_key), generation, argv)
        return replace(started, boot_ids=both_boot_ids(telemetry.boot_ids, started.boot_ids))

    def status(self, run: str) -> ProgramStatus:
        """Return the status. For a load run that is active, query only its own host, with that machine's boot id."""
        return self._with_telemetry(run, self._at(run).status(run))

    def stop(self, run: str) -> ProgramStatus:
        return self._with_telemetry(run, self._at(run).stop(run))

    def _with_telemetry(self, run: str, status: ProgramStatus) -> ProgramStatus:
        """Return a load run as ended only when its telemetry has ended too and cannot start any more."""
        if run not in self.load_runs or status.state is not ProgramState.ENDED:
            return status
        is_running = stop_and_seal(self.database, telemetry_run(run)).state is ProgramState.RUNNING
        return replace(status, state=ProgramState.RUNNING) if is_running else status

    def telemetry_status(self, run: str) -> ProgramStatus:
        """Return the status of the telemetry of a load run."""
        return self.database.status(telemetry_run(run))

    def remove(self, run: str, drive_key: str, generation: int) -> str:
        if run not in self.load_runs:
            return self.database.remove(run, drive_key, generation)
        telemetry = self.database.remove(telemetry_run(run), drive_key, generation)
        return self._remove_requests(run, drive_key, generation) or telemetry

    def _remove_requests(self, run: str, drive_key: str, generation: int) -> str:
        """Remove a load run. Registers before 0.5 started it under the key of the drive itself."""
        try:
            obstacle = self.load.remove(run, requests_key(drive_key), generation)
        except StartRefusedError as error:  # drivetest knows no start of this key
            obstacle = str(error)
        return obstacle and self.load.remove(run, drive_key, generation) and obstacle

    def boot_ids(self) -> tuple[str, ...]:
        return both_boot_ids(self.database.boot_ids(), self.load.boot_ids())


def both_boot_ids(database: tuple[str, ...], load: tuple[str, ...]) -> tuple[str, ...]:
    """Return the boot ids of both machines; empty if one is unknown, because half of them would pass for all."""
    return (*database, *load) if database and load else ()


def telemetry_end_message(telemetry: ProgramStatus, subject: str = "the drive telemetry") -> str:
    """Return how telemetry ended that should still run."""
    if telemetry.pid is None:
        return f"{subject} left no files on the host"
    return exit_codes.end_message(telemetry.exit_status, telemetry.end_cause, telemetry.reason, subject=subject)
