"""Claims of queued dispatches: one live dispatch per physical drive in the register, and a new generation for each."""

import logging
from collections.abc import Iterator

from django.db import IntegrityError, transaction
from django.db.models import Max, Q
from django.utils import timezone

from runners.dispatch.failures import schedule_retry
from runners.errors import HostError
from runners.hosts.protocol import (
    Connect,
    LabHost,
    ProgramState,
    ProgramStatus,
    status_or_seal,
    stop_and_seal,
    was_never_started,
)
from runners.inventory.health import no_work_message
from runners.inventory.maintenance_windows import blocking_window, window_message
from runners.lifecycle.stages import advance_stage, current_run, current_stage, is_last_stage, lab_host, machines_count
from runners.lifecycle.transitions import transition, update_reason
from runners.models import LOST_UNCONFIRMED, Dispatch, Host
from runners.models.campaign import Campaign
from runners.models.dispatch import ALONE_OPTION
from runners.models.dispatch_rows import read
from runners.models.postgres import lock_drive, lock_host, violates
from runners.models.states import LIVE, State
from runners.recipes.base import YCSB

log = logging.getLogger(__name__)

WaitsFor = Dispatch.WaitsFor

DRIVE_BUSY_CONSTRAINT = "one_live_dispatch_per_drive"


def claim(dispatch: Dispatch, connect: Connect) -> bool:
    """Claim a queued dispatch and return True. Return False if it stays queued, with the reason on its row.

    A drive is busy while a dispatch on it is live, and while a lost one may still run. A host gets no work if its
    health check failed or is overdue, and none that would reach into a maintenance window.
    """
    if obstacle := _obstacle(dispatch):
        return _leave_queued(dispatch, *obstacle)
    # Each lost dispatch frees the drive once its host confirms that nothing of it runs.
    answers = [settle_lost(lost, connect) for lost in unconfirmed_dispatches(dispatch.drive_key)]
    if not all(answers):
        schedule_retry(dispatch)
    try:
        with transaction.atomic():
            return _claim_free_drive(dispatch)
    except IntegrityError as error:
        if not violates(error, DRIVE_BUSY_CONSTRAINT):
            raise
    user = Dispatch.objects.filter(drive_key=dispatch.drive_key, state__in=LIVE).first()
    ended = "another dispatch used the drive and has just ended; the run waits for the next poll"
    reason = f"{user} uses the drive; the run waits until {user} has ended" if user else ended
    return _leave_queued(dispatch, WaitsFor.DRIVE, reason)


def _obstacle(dispatch: Dispatch) -> tuple[WaitsFor, str] | None:
    """Return what a queued dispatch waits for and why, apart from other dispatches; None if nothing is in its way."""
    for host in filter(None, [dispatch.device.host, dispatch.load_host]):
        if unfit := no_work_message(host):
            return WaitsFor.HOST, f"host {host} gets no work: {unfit}{_checked_message(host)}"
    if window := blocking_window(dispatch):
        return WaitsFor.WINDOW, f"{window_message(window)}; the run waits for its end"
    campaign = Campaign.objects.filter(drive_key=dispatch.drive_key, state__in=Campaign.OPEN_STATES).first()
    if campaign is not None and campaign.pk != dispatch.campaign_id:
        return WaitsFor.DRIVE, f"campaign {campaign} uses the drive; the run waits until the campaign has ended"
    if campaign is not None and campaign.state == Campaign.State.PAUSED:
        return WaitsFor.CAMPAIGN, f"campaign {campaign} is paused; the run waits until a person resumes the campaign"
    return None


def _checked_message(host: Host) -> str:
    """Return when a check found the objections to a host: they are kept until the next check."""
    is_of_check = host.objections and host.checked_at is not None and host.retired_at is None
    return f" (checked on {host.checked_at:%-d %B %Y, %H:%M} UTC)" if is_of_check else ""


def _claim_free_drive(dispatch: Dispatch) -> bool:
    """Claim inside a transaction. The drive is locked first: the newest generation must not change meanwhile."""
    lock_drive(dispatch.drive_key)
    lost = next(unconfirmed_dispatches(dispatch.drive_key), None)
    if lost is not None:
        reason = f"{lost} was lost, and its program may still use the drive on {lost.device.host}; the run waits until "
        reason += "the host confirms that this program has ended, or a person declares on the page of "
        reason += f"{lost} that it has ended"
        return _leave_queued(dispatch, WaitsFor.DRIVE, reason)
    if other := host_user(dispatch):
        is_earlier = other.state == State.QUEUED
        why = (
            f"{other} was ordered earlier and waits to be alone on the host" if is_earlier else f"{other} uses the host"
        )
        return _leave_queued(dispatch, WaitsFor.HOST, f"{why}; the run waits until {other} has ended")
    newest = Dispatch.objects.filter(drive_key=dispatch.drive_key).aggregate(newest=Max("generation"))["newest"]
    return transition(dispatch, State.QUEUED, State.CLAIMED, "", generation=newest + 1)


def _leave_queued(dispatch: Dispatch, waits_for: WaitsFor, reason: str) -> bool:
    update_reason(dispatch, reason, waits_for)
    return False


def unconfirmed_dispatches(drive_key: str) -> Iterator[Dispatch]:
    """Yield the lost dispatches of a drive whose programs may still run, the latest ordered first."""
    for pk in Dispatch.objects.filter(LOST_UNCONFIRMED, drive_key=drive_key).values_list("pk", flat=True):
        yield read(pk)


def settle_lost(lost: Dispatch, connect: Connect) -> bool:
    """Free the drive of a lost dispatch if its host confirms that nothing of it runs. Stop it if that was requested.

    Return False if the host gave no answer.
    """
    try:
        runs_nothing = _runs_nothing(lost, lab_host(lost, connect))
    except HostError as error:
        log.info("%s: lost, and its host cannot be reached: %s", lost.public_id, error)
        return False
    if runs_nothing:
        Dispatch.objects.filter(pk=lost.pk, ended_at__isnull=True).update(ended_at=timezone.now())
    return True


def _runs_nothing(lost: Dispatch, host: LabHost) -> bool:
    """Return whether nothing of the dispatch runs on the host. Stop its program if a cancel was requested.

    If a program was seen running and left no trace on the host, it may not have ended: its run directory may have been
    removed, or the host's name may lead to another machine. Then only a reboot of all its machines proves the end.
    """
    status = _program_status(lost, host)
    if status.state is ProgramState.RUNNING:
        return False
    if lost.pid is None and lost.stage == 0 and was_never_started(status):
        Dispatch.objects.filter(pk=lost.pk).update(is_never_started=True)
    was_seen, has_left_trace = lost.pid is not None, status.pid is not None
    has_ended = not was_seen or has_left_trace or _were_restarted(lost, host)
    if has_ended and not is_last_stage(lost):
        # A drive that stays mounted cannot take another run: the next poll starts the cleanup.
        advance_stage(
            lost,
            status if has_left_trace else None,
            "the run was lost; the program of this stage does not run any more",
        )
        return False
    return has_ended


def _program_status(lost: Dispatch, host: LabHost) -> ProgramStatus:
    """Return the status of the current stage. Start a cleanup stage that was not started, and do not stop it."""
    run, stage = current_run(lost), current_stage(lost)
    if not stage.is_cleanup:
        return (stop_and_seal if lost.cancel_requested_at else status_or_seal)(host, run)
    try:
        host.put(run, stage.files)
        started = host.start(run, lost.drive_key, lost.generation, stage.argv)
    except HostError as error:
        if error.retry:
            raise
        log.warning("%s: %s was not started: %s", lost.public_id, stage.name, error)
        return stop_and_seal(host, run)
    process = {"pid": started.pid, "boot_ids": list(started.boot_ids)}
    Dispatch.objects.filter(pk=lost.pk, stage=lost.stage, pid__isnull=True).update(**process)
    return started


def _were_restarted(lost: Dispatch, host: LabHost) -> bool:
    """Return whether every machine of a lost run has rebooted since; False if an earlier boot id is unknown."""
    known, now = set(lost.boot_ids), set(host.boot_ids())
    return len(lost.boot_ids) >= machines_count(lost) and bool(now) and not now & known


# The dispatches that need their hosts exclusively.
EXCLUSIVE_RECIPES = frozenset({YCSB})
EXCLUSIVE = Q(recipe__in=EXCLUSIVE_RECIPES) | Q(**{f"options__{ALONE_OPTION}": True})


def needs_host_alone(dispatch: Dispatch) -> bool:
    """Return whether no other run may be on the hosts of a dispatch. EXCLUSIVE is the same condition as a query."""
    return dispatch.recipe in EXCLUSIVE_RECIPES or dispatch.options.get(ALONE_OPTION) is True


def host_user(dispatch: Dispatch) -> Dispatch | None:
    """Return a dispatch that blocks the hosts of this one; None if they are free.

    ACT loads may share a host, each with its own drive, unless one was ordered alone. A YCSB sweep also measures its
    hosts' processors, so it needs them exclusively. A dispatch that waits to be alone blocks those ordered later:
    otherwise they would keep the host busy for ever.

    Call this in the transaction of the claim: it locks the hosts in ascending order, so that two claims cannot wait for
    each other.
    """
    second = set() if dispatch.load_host_id is None else {dispatch.load_host_id}
    hosts = sorted({dispatch.device.host_id} | second)
    for host_id in hosts:
        lock_host(host_id)
    there = Q(device__host__in=hosts) | Q(load_host__in=hosts)
    others = Dispatch.objects.filter(there).exclude(pk=dispatch.pk)
    waiting = Q(state=State.QUEUED, waits_for=WaitsFor.HOST, cancel_requested_at=None)
    live = others.filter(Q(state__in=LIVE) | LOST_UNCONFIRMED)  # the program of a lost one may still run
    blocking = live if needs_host_alone(dispatch) else live.filter(EXCLUSIVE)
    earlier = others.filter(EXCLUSIVE, waiting, ordered_at__lt=dispatch.ordered_at).order_by("ordered_at")
    return next((read(pk) for rows in (blocking, earlier) for pk in rows.values_list("pk", flat=True)[:1]), None)
