"""The stages of a dispatch: which one runs, what follows it, and on which host each is."""

from collections.abc import Iterable

from django.db import transaction
from django.db.models import F

from runners.hosts import Connect
from runners.hosts.host_pair import TwoHosts, telemetry_run
from runners.hosts.protocol import LabHost, ProgramStatus
from runners.models import Dispatch, Host, StageEnd, exit_codes
from runners.models.dispatch_rows import read_again
from runners.models.pg_text import storable
from runners.models.states import State
from runners.recipes import RECIPES, ycsb
from runners.recipes.stage import Role, Stage, run_of

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
    is_well = is_well and dispatch.exit_status in {None, exit_codes.FINISHED} and not dispatch.cancel_requested_at
    rest = list(enumerate(stages_of(dispatch)))[dispatch.stage + 1 :]
    return next((ordinal for ordinal, stage in rest if is_well or stage.is_cleanup), None)


def pass_on(dispatch: Dispatch, status: ProgramStatus | None, reason: str) -> bool:
    """Note how the stage ended and make the following one current; False where there is none, or a worker was faster.

    `status` is None of a stage that was not begun. The next start takes a generation of its own: the host lets go of
    the drive between two stages, and must not take a late start of an earlier one.
    """
    exit_status = status.exit_status if status else None
    is_well = status is not None and exit_status == exit_codes.FINISHED
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
    read_again(dispatch)
    return ordinal is not None


def _kept(exit_status: int | None) -> int:
    """Return what is kept of a stage that ended badly; a program that nobody saw end has no status of its own."""
    return exit_codes.UNSEEN if exit_status is None else exit_status


def is_last(dispatch: Dispatch) -> bool:
    """Tell whether nothing is left to be run once the current stage is over, of a dispatch that ended badly."""
    return following(dispatch, is_well=False) is None


def why_it_ended_badly(dispatch: Dispatch) -> str:
    """Return what the first stage that ended badly said; empty where all went well."""
    ends = dispatch.stage_ends.exclude(exit_status=exit_codes.FINISHED)
    first = ends.order_by("ordinal").first()
    return "" if first is None else f"{first.name}: {first.reason}"


def was_refused(dispatch: Dispatch, exit_status: int | None) -> bool:
    """Tell whether drivetest refused the drive before anything of the dispatch had run on it: nothing was written."""
    has_run = dispatch.stage_ends.filter(ordinal=0).exclude(exit_status=exit_codes.REFUSED).exists()
    return exit_status == exit_codes.REFUSED and not has_run


def machines_count(dispatch: Dispatch) -> int:
    """Return on how many machines something of the current stage runs."""
    return 2 if dispatch.load_host_id is not None and current(dispatch).role is Role.LOAD else 1


def lab_host(dispatch: Dispatch, connect: Connect) -> LabHost:
    """Return the host of a dispatch; where requests come from a second one, both as if they were one."""
    database = connect(dispatch.device.host)
    if dispatch.load_host is None:
        return database
    stages = stages_of(dispatch)
    elsewhere = frozenset(run_of(dispatch.public_id, stage) for stage in stages if stage.role is Role.LOAD)
    return TwoHosts(database, connect(dispatch.load_host), elsewhere, ycsb.beside(dispatch))


def run_dirs_of(dispatch: Dispatch, stages: Iterable[Stage] | None = None) -> list[tuple[Host, str]]:
    """Return each run directory of these stages, by default of all, with the host that it is on by itself.

    Beside a stage whose requests come from a second host there is one on the drive's.
    """
    found = []
    for stage in stages_of(dispatch) if stages is None else stages:
        run = run_of(dispatch.public_id, stage)
        if stage.role is Role.LOAD and dispatch.load_host is not None:
            found += [(dispatch.load_host, run), (dispatch.device.host, telemetry_run(run))]
        else:
            found.append((dispatch.device.host, run))
    return found


def begun_stages(dispatch: Dispatch) -> list[Stage]:
    """Return the stages whose turn has come: only of these anything was put on a host."""
    ended = set(dispatch.stage_ends.values_list("ordinal", flat=True))
    return [stage for ordinal, stage in enumerate(stages_of(dispatch)) if ordinal in ended | {dispatch.stage}]
