"""Removing run directories from hosts: when what they hold is stored here, and nobody needs to look at them any more.

The host has the last word: it keeps a directory under which anything runs. Before it removes that of the newest run of
a drive it lets no start of that run in any more.
"""

import logging
from datetime import timedelta

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone

from results.evidence.store import EvidenceDamagedError, StoreError
from runners.errors import HostError, HostSilentError
from runners.hosts import connect, is_within_reach
from runners.hosts.protocol import Connect
from runners.lifecycle.stages import lab_host, stages_of
from runners.models import Dispatch, Host
from runners.models.dispatch_rows import stepping
from runners.models.states import FINAL, State
from runners.recipes.base import run_of
from runners.retention.leftover_archive import (
    IS_STORED,
    LEFT_BEHIND,
    asked_for,
    fetch,
    is_gone,
    is_kept,
    is_too_large,
    keep_what_is_left,
    nothing_runs,
)

log = logging.getLogger(__name__)

RELATED = ("device__host", "load_host", "organisation", "ordered_by")
# A turn is short: a host is asked for others again in the next one. Of what is to be fetched first, which may be large,
# it takes one.
TURN_COUNT = 20
# What runs may be measured, and a fetch would be measured with it.
LOADED = Q(state__in=[State.CLAIMED, State.PREPARING, State.RUNNING])


def remove_old(host: Host, connect_host: Connect = connect) -> None:
    """Remove what is old enough from a host that answers, as much as one turn takes, and fetch one that was asked for.

    That comes last: whatever speaks against it, another host that is silent, say, must not stand before the others.
    """
    _note_gone(host, connect_host)
    asked = [(fetch, dispatch) for dispatch in _unloaded(asked_for(host).order_by("?"))[:1]]
    for act, dispatch in [*((_remove_alone, dispatch) for dispatch in _of_one_turn(host)), *asked]:
        try:
            act(dispatch, connect_host)
        except StoreError as error:
            log.warning("%s: its run directories stay on %s, what is left cannot be kept: %s", dispatch, host, error)
        except HostSilentError as error:
            log.warning("%s: its run directories stay on %s, nothing more is asked of it: %s", dispatch, host, error)
            return
        except (HostError, EvidenceDamagedError, OSError) as error:  # of this one; the next may be well
            log.warning("%s: its run directories stay on %s: %s", dispatch, host, error)


def hosts_here() -> list[Host]:
    """Return the hosts that this machine is: they are not checked."""
    return [host for host in Host.objects.filter(kind=Host.Kind.LOCAL) if is_within_reach(host)]


def removable(host: Host) -> QuerySet[Dispatch]:
    """Return the dispatches that have ended for certain, are old enough, and are stored or may be kept as they are."""
    if not settings.RUN_DIR_RETENTION_S:
        return Dispatch.objects.none()
    before = timezone.now() - timedelta(seconds=settings.RUN_DIR_RETENTION_S)
    ended = Dispatch.objects.filter(state__in=FINAL, ended_at__lte=before, generation__gt=0)
    due = ended.filter(IS_STORED | (LEFT_BEHIND & ~is_too_large()), run_dirs_removed_at=None, device__host=host)
    return due.select_related(*RELATED)


def _of_one_turn(host: Host) -> list[Dispatch]:
    """Return what one turn takes, in any order: what stays must not stand before the others."""
    due = removable(host).order_by("?")
    needs_no_fetch = IS_STORED | is_kept()
    return [*due.filter(needs_no_fetch)[:TURN_COUNT], *_unloaded(due.exclude(needs_no_fetch))[:1]]


def _unloaded(dispatches: QuerySet[Dispatch]) -> QuerySet[Dispatch]:
    """Return those on whose hosts no run may be measured."""
    pairs = Dispatch.objects.filter(LOADED).values_list("device__host", "load_host")
    loaded = {host for pair in pairs for host in pair if host is not None}
    return dispatches.exclude(device__host__in=loaded).exclude(load_host__in=loaded)


def _note_gone(host: Host, connect_host: Connect) -> None:
    """Note of what was too large to be kept that somebody has removed it at the host since."""
    left = Dispatch.objects.filter(LEFT_BEHIND, is_too_large(), run_dirs_removed_at=None, device__host=host)
    for dispatch in left.filter(ended_at__isnull=False).select_related(*RELATED).order_by("?")[:TURN_COUNT]:
        try:
            if is_gone(dispatch, connect_host):
                Dispatch.objects.filter(pk=dispatch.pk).update(run_dirs_removed_at=timezone.now())
        except HostError as error:
            log.warning("%s: whether its run directories are on %s is not known: %s", dispatch, host, error)
            return


def _is_stored(dispatch: Dispatch) -> bool:
    """Tell what IS_STORED asks for, of a row."""
    return Dispatch.objects.filter(IS_STORED, pk=dispatch.pk).exists()


def _remove_alone(dispatch: Dispatch, connect_host: Connect) -> None:
    """Remove it, unless another worker is at it or was: none may fetch what the other one removes meanwhile."""
    with stepping(dispatch.pk) as held:
        if held is not None and Dispatch.objects.filter(pk=dispatch.pk, run_dirs_removed_at=None).exists():
            _remove(dispatch, connect_host)


def _remove(dispatch: Dispatch, connect_host: Connect) -> None:
    host = lab_host(dispatch, connect_host)
    runs = [run_of(dispatch.public_id, stage) for stage in stages_of(dispatch)]
    if not _is_stored(dispatch):
        if not nothing_runs(dispatch, host):
            log.warning("%s is %s, and its program runs on %s", dispatch, dispatch.state, dispatch.device.host)
            return
        keep_what_is_left(dispatch, host)
    for run in runs:
        if why_it_stays := host.remove(run, dispatch.drive_key, dispatch.generation):
            log.info("%s stays on %s: %s", run, dispatch.device.host, why_it_stays)
            return
    Dispatch.objects.filter(pk=dispatch.pk).update(run_dirs_removed_at=timezone.now())
