"""The stages of a dispatch: which one runs, what follows it, and on which host each is."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import BinaryIO

from django.db import transaction
from django.db.models import F

from runners import exits
from runners.hosts import Connect
from runners.hosts.protocol import Detached, Identity, LabHost, ProgramStatus
from runners.models import Dispatch, StageEnd
from runners.recipes import RECIPES, ycsb
from runners.recipes.stage import Role, Stage, beside_run, run_of
from runners.states import State
from runners.storable import storable

# A lost one goes on to what cleans up, once its host speaks again.
PASSING_ON = (State.RUNNING, State.LOST)


def stages_of(dispatch: Dispatch) -> tuple[Stage, ...]:
    """Return the stages of a dispatch's recipe."""
    return RECIPES[dispatch.recipe].stages(dispatch)


def current(dispatch: Dispatch) -> Stage:
    """Return the stage that runs, or is to be run next."""
    return stages_of(dispatch)[dispatch.stage]


def current_run(dispatch: Dispatch) -> str:
    """Return the name of the run directory of the stage that runs."""
    return run_of(dispatch.public_id, current(dispatch))


def following(dispatch: Dispatch, *, is_well: bool) -> int | None:
    """Return the ordinal of the next stage: after one that ended badly the next that cleans up; None at the end."""
    is_well = is_well and dispatch.exit_status in {None, exits.FINISHED} and not dispatch.cancel_requested_at
    rest = list(enumerate(stages_of(dispatch)))[dispatch.stage + 1 :]
    return next((ordinal for ordinal, stage in rest if is_well or stage.is_cleanup), None)


def pass_on(dispatch: Dispatch, status: ProgramStatus | None, reason: str) -> bool:
    """Note how the stage ended and make the following one current; False where there is none, or a worker was faster.

    `status` is None of a stage that was not begun. The next start takes a generation of its own: the host lets go of
    the drive between two stages, and must not take a late start of an earlier one.
    """
    exit_status = status.exit_status if status else None
    is_well = status is not None and exit_status == exits.FINISHED
    ordinal = following(dispatch, is_well=is_well)
    with transaction.atomic():
        here = Dispatch.objects.filter(pk=dispatch.pk, state=dispatch.state, stage=dispatch.stage)
        if dispatch.state not in PASSING_ON or not here.select_for_update().exists():
            return False
        end = {"name": current(dispatch).name, "exit_status": exit_status, "reason": storable(reason)}
        StageEnd.objects.get_or_create(dispatch=dispatch, ordinal=dispatch.stage, defaults=end)
        worst = dispatch.exit_status if is_well or dispatch.exit_status else _kept(exit_status)
        if ordinal is None:
            here.update(exit_status=worst)
        else:
            here.update(
                stage=ordinal,
                generation=F("generation") + 1,
                pid=None,
                boot_ids=[],
                end_asked_at=None,
                exit_status=worst,
            )
    dispatch.refresh_from_db()
    return ordinal is not None


def _kept(exit_status: int | None) -> int:
    """Return what is kept of a stage that ended badly; a program that nobody saw end has no status of its own."""
    return exits.UNSEEN if exit_status is None else exit_status


def is_last(dispatch: Dispatch) -> bool:
    """Tell whether nothing is left to be run once the current stage is over, of a dispatch that ended badly."""
    return following(dispatch, is_well=False) is None


def why_it_ended_badly(dispatch: Dispatch) -> str:
    """Return what the first stage that ended badly said; empty where all went well."""
    ends = dispatch.stage_ends.exclude(exit_status=exits.FINISHED)
    first = ends.order_by("ordinal").first()
    return "" if first is None else f"{first.name}: {first.reason}"


def was_refused(dispatch: Dispatch, exit_status: int | None) -> bool:
    """Tell whether drivetest refused the drive before anything of the dispatch had run on it: nothing was written."""
    has_run = dispatch.stage_ends.filter(ordinal=0).exclude(exit_status=exits.REFUSED).exists()
    return exit_status == exits.REFUSED and not has_run


def lab_host(dispatch: Dispatch, connect: Connect) -> LabHost:
    """Return the host of a dispatch; where requests come from a second one, both as if they were one."""
    database = connect(dispatch.device.host)
    if dispatch.load_host is None:
        return database
    return TwoHosts(dispatch, database, connect(dispatch.load_host))


class TwoHosts:
    """Two hosts of one dispatch as a LabHost: the drive is the database's, each run is where its stage's role is."""

    def __init__(self, dispatch: Dispatch, database: LabHost, load: LabHost) -> None:
        self.database, self.load, self.beside = database, load, ycsb.beside(dispatch)
        roles = {run_of(dispatch.public_id, stage): stage.role for stage in stages_of(dispatch)}
        self.elsewhere = {run for run, role in roles.items() if role is Role.LOAD}

    def _at(self, run: str) -> LabHost:
        return self.load if run in self.elsewhere else self.database

    def identify(self, path: str) -> Identity:
        return self.database.identify(path)

    def find(self, drive_key: str, size_bytes: int) -> list[str]:
        return self.database.find(drive_key, size_bytes)

    def first_bytes(self, path: str, limit: int) -> bytes:
        return self.database.first_bytes(path, limit)

    def create_file(self, path: str, size_bytes: int) -> None:
        self.database.create_file(path, size_bytes)

    def put(self, run: str, files: Mapping[str, bytes]) -> None:
        if run in self.elsewhere:
            self.database.put(beside_run(run), {})
        self._at(run).put(run, files)

    def start(self, run: str, drive_key: str, generation: int, argv: Sequence[str]) -> ProgramStatus:
        """Telemetry of the drive begins before the requests and holds the drive on its own host meanwhile."""
        if run not in self.elsewhere:
            return self.database.start(run, drive_key, generation, argv)
        beside = self.database.start(beside_run(run), drive_key, generation, self.beside)
        started = self.load.start(run, drive_key, generation, argv)
        return replace(started, boot_ids=(*beside.boot_ids, *started.boot_ids))

    def status(self, run: str) -> ProgramStatus:
        return self._with_beside(run, self._at(run).status(run))

    def _with_beside(self, run: str, status: ProgramStatus) -> ProgramStatus:
        """A stage on the load's host has ended when the telemetry beside it has ended too."""
        if run not in self.elsewhere or status.state is not Detached.ENDED:
            return status
        is_held = self.database.stop(beside_run(run)).state is Detached.RUNNING
        return replace(status, state=Detached.RUNNING) if is_held else status

    def remove(self, run: str, drive_key: str, generation: int) -> str:
        beside = self.database.remove(beside_run(run), drive_key, generation) if run in self.elsewhere else ""
        return self._at(run).remove(run, drive_key, generation) or beside

    def read(self, run: str, file: str, offset: int, limit: int) -> bytes:
        return self._at(run).read(run, file, offset, limit)

    def fetch(self, run: str, file: str) -> BinaryIO:
        return self._at(run).fetch(run, file)

    def boot_ids(self) -> tuple[str, ...]:
        both = self.database.boot_ids(), self.load.boot_ids()
        return (*both[0], *both[1]) if all(both) else ()

    def stop(self, run: str) -> ProgramStatus:
        return self._with_beside(run, self._at(run).stop(run))
