"""The stages of a dispatch: which one runs, what follows it, and on which host each is."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from runners.hosts.host_pair import TwoHosts, telemetry_run
from runners.hosts.protocol import Connect, LabHost, ProgramStatus
from runners.inventory.safety import may_be_told_to_destroy
from runners.models import Dispatch, Host, StageEnd, exit_codes
from runners.models.dispatch_rows import read_again
from runners.models.postgres import storable
from runners.models.states import State
from runners.monitoring.progress import last_words
from runners.recipes import RECIPES, ycsb
from runners.recipes.base import Role, Stage, run_of

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


def overdue_since(dispatch: Dispatch) -> datetime | None:
    """Return since when the program of the current stage should have ended by itself; None before that."""
    return _over_since(dispatch, current(dispatch).limit_s)


def _over_since(dispatch: Dispatch, limit_s: int | None) -> datetime | None:
    begun_at = _begun_at(dispatch)
    if begun_at is None or limit_s is None:
        return None
    latest = begun_at + timedelta(seconds=limit_s + settings.RUN_OVERDUE_S)
    return latest if timezone.now() >= latest else None


def _begun_at(dispatch: Dispatch) -> datetime | None:
    """Return when the stage became due: it is started at once, and what keeps it from that counts too."""
    if dispatch.stage == 0:
        return dispatch.started_at
    before = dispatch.stage_ends.filter(ordinal__lt=dispatch.stage).last()
    return before.at if before else None


def asked_to_end_since(dispatch: Dispatch) -> datetime | None:
    """Return since when every look asks the program to end; None where it may run on. A cancel ends no clean-up."""
    stage = current(dispatch)
    cancelled_at = None if stage.is_cleanup else dispatch.cancel_requested_at
    return cancelled_at or _over_since(dispatch, stage.limit_s)


def will_not_end(dispatch: Dispatch) -> bool:
    """Tell whether a program has been asked to end for so long that nobody can say when it will."""
    asked = asked_to_end_since(dispatch)
    return asked is not None and timezone.now() - asked >= timedelta(seconds=settings.HOST_SILENCE_S)


def overdue_words(dispatch: Dispatch, exit_status: int | None) -> str:
    """Return what to add to the reason of a program that was asked to end and did; empty where it ended by itself.

    Whoever looks late must not say so of a program that ended in time while nobody looked.
    """
    if dispatch.end_asked_at is None or not exit_codes.was_stopped(exit_status):
        return ""
    limit_s = current(dispatch).limit_s
    is_ordered = limit_s == dispatch.duration_s
    time = f"the ordered {limit_s} s" if is_ordered else f"the {limit_s} s that it may take"
    return f"; it was asked to end, {settings.RUN_OVERDUE_S} s after {time} were over"


def why_it_ended(dispatch: Dispatch, host: LabHost, exit_status: int | None, told: str = "") -> str:
    """Return the end of a program in words; of one that did not do its job, with what it said itself."""
    if exit_status is None:
        return _why_without_status(dispatch, host, told)
    if exit_status not in exit_codes.DID_ITS_JOB:
        told = last_words(host, current_run(dispatch)) or told
    if exit_status == exit_codes.REFUSED:
        told = exit_codes.in_words_of_lab(told, may_consent=may_be_told_to_destroy(dispatch.device))
    return exit_codes.reason(exit_status, told)


def _why_without_status(dispatch: Dispatch, host: LabHost, told: str) -> str:
    """Return the end of a program that left no status: by a signal, or seen by nobody. Its last words are no cause."""
    run = current_run(dispatch)
    cause = _unseen_cause(set(dispatch.boot_ids), set(host.boot_ids()))
    end = exit_codes.reason(None, told or host.status(run).reason, cause)
    said = last_words(host, run)
    return f"{end}; it said last: {said}" if said else end


def _unseen_cause(known: set[str], now: set[str]) -> str:
    """Return why nobody saw a program end, by the starts of its machines that it ran under and that are now."""
    if not known or not now:
        return exit_codes.UNSEEN_CAUSE
    return "killed" if known <= now else "the host was restarted"
