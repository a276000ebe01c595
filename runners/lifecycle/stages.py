"""The stages of a dispatch: the current one, the next one, their hosts, their time limits, and how they end.

While a second host runs the load, the drive's own host runs telemetry. A poll of that starts a program on the host that
is being measured, so most polls leave it out.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from time import monotonic
from typing import Any, cast

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from runners.hosts.host_pair import HostPair, both_boot_ids, telemetry_end_message, telemetry_run
from runners.hosts.protocol import Connect, LabHost, ProgramState, ProgramStatus
from runners.inventory.safety import may_consent_on_page
from runners.lifecycle.clock_steps import CLOCK_STEPS
from runners.lifecycle.transitions import add_step
from runners.models import Dispatch, Host, StageEnd, Step, exit_codes
from runners.models.dispatch_rows import refresh
from runners.models.postgres import storable
from runners.models.states import WORKER, State
from runners.monitoring.progress import last_error_line
from runners.recipes import RECIPES, ycsb
from runners.recipes.base import Role, Stage, run_of

# A lost dispatch goes on to its cleanup stages once its host answers again.
MAY_ADVANCE = (State.RUNNING, State.LOST)


def stages_of(dispatch: Dispatch) -> tuple[Stage, ...]:
    """Return the stages of a dispatch's recipe."""
    return RECIPES[dispatch.recipe].stages(dispatch)


def current_stage(dispatch: Dispatch) -> Stage:
    """Return the stage that runs, or is to run next."""
    return stages_of(dispatch)[dispatch.stage]


def current_run(dispatch: Dispatch) -> str:
    """Return the run directory of the current stage."""
    return run_of(dispatch.public_id, current_stage(dispatch))


def next_stage_ordinal(dispatch: Dispatch, *, is_success: bool) -> int | None:
    """Return the ordinal of the next stage; after a failure, of the next cleanup stage. None at the end."""
    is_success = is_success and dispatch.exit_status in {None, exit_codes.FINISHED} and not dispatch.cancel_requested_at
    rest = list(enumerate(stages_of(dispatch)))[dispatch.stage + 1 :]
    return next((ordinal for ordinal, stage in rest if is_success or stage.is_cleanup), None)


def advance_stage(dispatch: Dispatch, status: ProgramStatus | None, reason: str) -> bool:
    """Record the end of the stage and make the next one current. Return False if there is none or another worker did.

    `status` is None for a stage that was skipped. The next start takes a new generation: between two stages the host
    releases the drive, and must refuse a late start of an earlier stage.
    """
    exit_status = status.exit_status if status else None
    is_success = status is not None and exit_status == exit_codes.FINISHED
    ordinal = next_stage_ordinal(dispatch, is_success=is_success)
    with transaction.atomic():
        row = Dispatch.objects.filter(pk=dispatch.pk, state=dispatch.state, stage=dispatch.stage)
        if dispatch.state not in MAY_ADVANCE or not row.select_for_update().exists():
            return False
        end = {"name": current_stage(dispatch).name, "exit_status": exit_status, "reason": storable(reason)}
        StageEnd.objects.get_or_create(dispatch=dispatch, ordinal=dispatch.stage, defaults=end)
        failure = exit_codes.UNSEEN if exit_status is None else exit_status
        columns: dict[str, Any] = {} if is_success or dispatch.exit_status else {"exit_status": failure}
        if ordinal is not None:
            columns |= {"stage": ordinal, "generation": F("generation") + 1}
            columns |= {"pid": None, "boot_ids": [], "end_requested_at": None}
        if columns:
            row.update(**columns)
    refresh(dispatch)
    return ordinal is not None


def is_last_stage(dispatch: Dispatch) -> bool:
    """Return whether no stage remains after the current one, for a dispatch that failed."""
    return next_stage_ordinal(dispatch, is_success=False) is None


def first_failure_message(dispatch: Dispatch) -> str:
    """Return the reason of the first stage that failed; empty if none did."""
    ends = dispatch.stage_ends.exclude(exit_status=exit_codes.FINISHED)
    first = ends.order_by("ordinal").first()
    return "" if first is None else f"stage {first.name}: {first.reason}"


def was_refused(dispatch: Dispatch, exit_status: int | None) -> bool:
    """Return whether drivetest refused the drive before anything ran on it: nothing was written."""
    has_run = dispatch.stage_ends.filter(ordinal=0).exclude(exit_status=exit_codes.REFUSED).exists()
    return exit_status == exit_codes.REFUSED and not has_run


def machines_count(dispatch: Dispatch) -> int:
    """Return on how many machines a part of the current stage runs."""
    return 2 if dispatch.load_host_id is not None and current_stage(dispatch).role is Role.LOAD else 1


def lab_host(dispatch: Dispatch, connect: Connect) -> LabHost:
    """Return the host of a dispatch. If a second host sends the requests, return both as one."""
    database = connect(dispatch.device.host)
    if dispatch.load_host is None:
        return database
    stages = stages_of(dispatch)
    load_runs = frozenset(run_of(dispatch.public_id, stage) for stage in stages if stage.role is Role.LOAD)
    pair = HostPair(database, connect(dispatch.load_host), load_runs, ycsb.telemetry_argv(dispatch))
    return cast(LabHost, pair)


def run_dirs_of(dispatch: Dispatch, stages: Iterable[Stage] | None = None) -> list[tuple[Host, str]]:
    """Return the run directories of these stages, by default of all, each with its host.

    If a second host sends the requests, the drive's host has a directory for telemetry.
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
    """Return the stages that have begun: the hosts have files of these only."""
    ended = set(dispatch.stage_ends.values_list("ordinal", flat=True))
    return [stage for ordinal, stage in enumerate(stages_of(dispatch)) if ordinal in ended | {dispatch.stage}]


def is_overdue(dispatch: Dispatch, stage: Stage) -> bool:
    """Return whether the program of the current stage should have ended by itself.

    A stage starts as soon as it is due. A delay of the start counts too. After a step of the clock it is not known how
    long the stage has lasted: its limit counts from then on.
    """
    begun_at = dispatch.started_at
    if dispatch.stage > 0:
        before = dispatch.stage_ends.filter(ordinal__lt=dispatch.stage).last()
        begun_at = before.at if before else None
    if begun_at is None or stage.limit_s is None:
        return False
    limit_s = stage.limit_s + settings.RUN_OVERDUE_S
    return timezone.now() - begun_at >= timedelta(seconds=limit_s) and not CLOCK_STEPS.seen_within(limit_s)


def stop_requested_since(dispatch: Dispatch, stage: Stage) -> datetime | None:
    """Return since when each poll stops the current stage; None if it may run on. A cancel does not stop cleanup."""
    cancelled_at = None if stage.is_cleanup else dispatch.cancel_requested_at
    return cancelled_at or dispatch.end_requested_at


def overdue_message(dispatch: Dispatch, exit_status: int | None) -> str:
    """Return an addition to the reason of a program that was stopped at its limit; empty if it ended by itself.

    A late poll must not claim this of a program that ended in time.
    """
    if dispatch.end_requested_at is None or not exit_codes.was_stopped(exit_status):
        return ""
    limit_s = current_stage(dispatch).limit_s
    is_ordered = limit_s == dispatch.duration_s
    time = f"the ordered {limit_s} s" if is_ordered else f"its limit of {limit_s} s"
    return f"; the register stopped the program {settings.RUN_OVERDUE_S} s after {time}"


def end_message(dispatch: Dispatch, host: LabHost, status: ProgramStatus) -> str:
    """Return how a program ended. If it did not finish its work, add its own last message."""
    exit_status, reason, run = status.exit_status, status.reason, current_run(dispatch)
    if exit_status is None:  # its last output is not the cause
        unseen_cause = _unseen_cause(set(dispatch.boot_ids), set(host.boot_ids()))
        end = exit_codes.end_message(None, status.end_cause, reason, unseen_cause)
        last_line = last_error_line(host, run)
        return f"{end}; the last message of the program: {last_line}" if last_line else end
    if exit_status not in exit_codes.DID_ITS_JOB:
        reason = last_error_line(host, run) or reason
    if exit_status == exit_codes.REFUSED:
        reason = exit_codes.with_lab_remedy(reason, may_consent=may_consent_on_page(dispatch.device))
    return exit_codes.end_message(exit_status, status.end_cause, reason)


def _unseen_cause(known: set[str], now: set[str]) -> str:
    """Return what is known of an unobserved end, from the boots of its machines during the run and now."""
    if not known or not now:
        return exit_codes.UNSEEN_CAUSE
    return f"{exit_codes.UNSEEN_CAUSE}; the host was not restarted" if known <= now else "the host was restarted"


TELEMETRY_PERIOD_S = 60
# The ends of telemetry that was stopped: `watch` without a program exits with 0 then.
EXPECTED_ENDS = frozenset({exit_codes.FINISHED, exit_codes.INTERRUPTED})

# When this process last polled a run's telemetry. Another process may poll it once more than necessary.
_polled_at_s: dict[str, float] = {}


def poll_telemetry(dispatch: Dispatch, host: LabHost, status: ProgramStatus) -> ProgramStatus:
    """Return the status of a running stage, with the boot ids of both machines if the telemetry was polled."""
    if not isinstance(host, HostPair):
        return status
    run = current_run(dispatch)
    if run not in host.load_runs or not _is_due(dispatch, run):
        return status
    telemetry = host.telemetry_status(run)
    if telemetry.state is not ProgramState.RUNNING:
        _record_end_once(dispatch, telemetry)
    _record_poll(run)
    return replace(status, boot_ids=both_boot_ids(telemetry.boot_ids, status.boot_ids))


def telemetry_message(dispatch: Dispatch, host: LabHost) -> str:
    """Return an addition to the end of a stage whose telemetry ended by itself; empty if it was stopped."""
    run = current_run(dispatch)
    if not isinstance(host, HostPair) or run not in host.load_runs:
        return ""
    telemetry = host.telemetry_status(run)
    is_expected = telemetry.pid is not None and telemetry.exit_status in EXPECTED_ENDS
    return "" if is_expected else f"; {telemetry_end_message(telemetry)}"


def _is_due(dispatch: Dispatch, run: str) -> bool:
    """Return whether the telemetry is due. During an outage it always is: skipping it would look like an answer."""
    polled_at_s = _polled_at_s.get(run)
    return polled_at_s is None or dispatch.silent_since is not None or monotonic() - polled_at_s >= TELEMETRY_PERIOD_S


def _record_poll(run: str) -> None:
    """Store when a run was polled, and forget the runs that have not been polled for a while."""
    now_s = monotonic()
    _polled_at_s[run] = now_s
    for other, polled_at_s in list(_polled_at_s.items()):
        if now_s - polled_at_s > 2 * TELEMETRY_PERIOD_S:
            _polled_at_s.pop(other, None)


def _record_end_once(dispatch: Dispatch, telemetry: ProgramStatus) -> None:
    """Add to the history that telemetry ended while the stage runs; the stage goes on without it."""
    stage = current_stage(dispatch).name
    if dispatch.steps.filter(kind=Step.Kind.TELEMETRY_ENDED, details__stage=stage).exists():
        return
    end = telemetry_end_message(telemetry, f"the drive telemetry of stage {stage} on {dispatch.device.host}")
    reason = f"{end}; the stage continues without telemetry"
    add_step(dispatch, dispatch.state, Step.Kind.TELEMETRY_ENDED, WORKER, reason, {"stage": stage})
