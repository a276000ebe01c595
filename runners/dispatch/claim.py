"""Taking a queued dispatch: one live dispatch per physical drive, register-wide, and a new generation for each."""

import logging
from collections.abc import Iterator

from django.db import IntegrityError, transaction
from django.db.models import Max, Q
from django.utils import timezone

from runners.dispatch.failures import put_off
from runners.errors import HostError
from runners.hosts.protocol import Connect, Detached, LabHost, ProgramStatus, close, status_or_close, was_never_started
from runners.inventory.health import why_no_work
from runners.lifecycle.stages import current, current_run, is_last, lab_host, machines_count, pass_on
from runners.lifecycle.transitions import move, note
from runners.locks import hold_drive, hold_host
from runners.models import UNCONFIRMED, Dispatch, Host
from runners.models.campaign import Campaign
from runners.models.dispatch_rows import read
from runners.models.postgres import is_second
from runners.models.states import LIVE, WORKER, State

log = logging.getLogger(__name__)

ONE_PER_DRIVE = "one_live_dispatch_per_drive"


def claim(dispatch: Dispatch, connect: Connect) -> bool:
    """Claim a queued dispatch and return True; False leaves it queued with the reason on its row.

    A drive is busy while a dispatch on it is live, and while one was lost whose host has not said that nothing runs.
    A host that fails its health check, or was not checked for too long, gets no work.
    """
    for host in filter(None, [dispatch.device.host, dispatch.load_host]):
        if unfit := why_no_work(host):
            return _wait(dispatch, f"{host} gets no work: {unfit}{_when_found(host)}")
    if held := _held_by_campaign(dispatch):
        return _wait(dispatch, held)
    if not _ask_about_lost(dispatch.drive_key, connect):
        put_off(dispatch)
    try:
        with transaction.atomic():
            return _claim_free_drive(dispatch)
    except IntegrityError as error:
        if not is_second(error, ONE_PER_DRIVE):
            raise
    note(dispatch, f"drive busy with {_holder(dispatch)}; waiting until it has ended")
    return False


def _when_found(host: Host) -> str:
    """Say when a check found what speaks against a host: it may hold no more, and stands until the next check."""
    is_of_check = host.objections and host.checked_at is not None and host.retired_at is None
    return f" (checked on {host.checked_at:%-d %B %Y, %H:%M} UTC)" if is_of_check else ""


def _held_by_campaign(dispatch: Dispatch) -> str:
    """Say which campaign keeps a dispatch waiting: another one that has the drive, or its own that is held."""
    campaign = Campaign.objects.filter(drive_key=dispatch.drive_key, state__in=Campaign.OPEN_STATES).first()
    if campaign is None:
        return ""
    if campaign.pk != dispatch.campaign_id:
        return f"drive busy: campaign {campaign} has it; waiting until that has ended"
    is_held = campaign.state == Campaign.State.PAUSED
    return f"campaign {campaign} is paused; waiting until it goes on" if is_held else ""


def _claim_free_drive(dispatch: Dispatch) -> bool:
    """Claim inside a transaction. The drive is held first: the newest generation must not change under our eyes."""
    hold_drive(dispatch.drive_key)
    lost = next(unconfirmed(dispatch.drive_key), None)
    if lost is not None:
        still = f"{lost} was lost and may still run on {lost.device.host}"
        wanted = "waiting for its host to say that nothing of it runs, or for a person who does on its page"
        return _wait(dispatch, f"drive busy: {still}; {wanted}")
    if holder := holder_of_hosts(dispatch):
        return _wait(dispatch, f"host busy with {holder}; waiting until it has ended")
    newest = Dispatch.objects.filter(drive_key=dispatch.drive_key).aggregate(newest=Max("generation"))["newest"]
    return move(dispatch, State.QUEUED, State.CLAIMED, WORKER, "", generation=newest + 1)


def _wait(dispatch: Dispatch, reason: str) -> bool:
    note(dispatch, reason)
    return False


def unconfirmed(drive_key: str) -> Iterator[Dispatch]:
    """Yield the lost dispatches of a drive whose programs may still run, the latest ordered first."""
    for pk in Dispatch.objects.filter(UNCONFIRMED, drive_key=drive_key).values_list("pk", flat=True):
        yield read(pk)


def _ask_about_lost(drive_key: str, connect: Connect) -> bool:
    """Free the drive of lost dispatches whose host says that nothing of them runs; False where one gave no answer."""
    answers = [settle_lost(lost, connect) for lost in unconfirmed(drive_key)]
    return all(answers)


def settle_lost(lost: Dispatch, connect: Connect) -> bool:
    """Free the drive of a lost dispatch where its host says that nothing of it runs; end its program where asked to.

    False where the host gave no answer.
    """
    try:
        runs_nothing = _runs_nothing(lost, lab_host(lost, connect))
    except HostError as error:
        log.info("%s: lost, and its host cannot be asked: %s", lost.public_id, error)
        return False
    if runs_nothing:
        Dispatch.objects.filter(pk=lost.pk, ended_at__isnull=True).update(ended_at=timezone.now())
    return True


def _runs_nothing(lost: Dispatch, host: LabHost) -> bool:
    """Ask the host, and end the program where somebody asked for that; tell whether nothing of the dispatch runs.

    A program that was seen to run and has left nothing on the host has not ended for that: its run directory may have
    been removed, or the host's name may lead to another machine. Only a restart of all its machines has ended it.
    """
    status = _how_it_stands(lost, host)
    if status.state is Detached.RUNNING:
        return False
    if lost.pid is None and lost.stage == 0 and was_never_started(status):
        Dispatch.objects.filter(pk=lost.pk).update(is_never_started=True)
    was_seen, has_left_trace = lost.pid is not None, status.pid is not None
    has_ended = not was_seen or has_left_trace or _were_restarted(lost, host)
    if has_ended and not is_last(lost):
        # A drive that stays mounted takes no other run: the next ask begins what cleans up.
        pass_on(lost, status if has_left_trace else None, "lost; nothing of it runs any more")
        return False
    return has_ended


def _how_it_stands(lost: Dispatch, host: LabHost) -> ProgramStatus:
    """Ask about the current stage; what cleans up is begun where it was not, and is not ended."""
    run, stage = current_run(lost), current(lost)
    if not stage.is_cleanup:
        return (close if lost.cancel_requested_at else status_or_close)(host, run)
    try:
        host.put(run, stage.files)
        started = host.start(run, lost.drive_key, lost.generation, stage.argv)
    except HostError as error:
        if error.retry:
            raise
        log.warning("%s: %s is not begun: %s", lost.public_id, stage.name, error)
        return close(host, run)
    told = {"pid": started.pid, "boot_ids": list(started.boot_ids)}
    Dispatch.objects.filter(pk=lost.pk, stage=lost.stage, pid__isnull=True).update(**told)
    return started


def _were_restarted(lost: Dispatch, host: LabHost) -> bool:
    """Tell whether every machine of a lost run was started anew since; of none whose earlier start nobody knows."""
    known, now = set(lost.boot_ids), set(host.boot_ids())
    return len(lost.boot_ids) >= machines_count(lost) and bool(now) and not now & known


def _holder(dispatch: Dispatch) -> str:
    """Name who has the drive; by now it may be free again."""
    holder = Dispatch.objects.filter(drive_key=dispatch.drive_key, state__in=LIVE).first()
    return str(holder or "a dispatch that has just ended")


# The recipes that need their hosts for themselves; ACT's loads may share one, each with a drive of its own.
ALONE = frozenset({"ycsb"})


def holder_of_hosts(dispatch: Dispatch) -> Dispatch | None:
    """Return a live dispatch that keeps this one from its hosts, None where they are free for it.

    Belongs into the transaction of the claim: the hosts are held to its end, by rising number, so that two claims do
    not wait for each other.
    """
    second = set() if dispatch.load_host_id is None else {dispatch.load_host_id}
    hosts = sorted({dispatch.device.host_id} | second)
    for host_id in hosts:
        hold_host(host_id)
    there = Q(device__host__in=hosts) | Q(load_host__in=hosts)
    others = Dispatch.objects.filter(there, state__in=LIVE).exclude(pk=dispatch.pk)
    holders = others if dispatch.recipe in ALONE else others.filter(recipe__in=ALONE)
    return next((read(pk) for pk in holders.values_list("pk", flat=True)[:1]), None)
