"""Cleanup of run directories on hosts: when the register has their contents and the retention time is over.

The host decides last: it refuses to remove a directory in which anything runs. Before it removes the directory of a
drive's newest run, it refuses every further start of that run.
"""

import logging
from datetime import timedelta

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone

from results.evidence.store import EvidenceDamagedError, StoreError
from runners.errors import HostError, HostUnavailableError
from runners.hosts import connect
from runners.hosts.protocol import Connect
from runners.lifecycle.stages import lab_host, stages_of
from runners.models import Dispatch, Host
from runners.models.dispatch_rows import lock_dispatch
from runners.models.states import FINAL, State
from runners.recipes.base import run_of
from runners.retention.leftover_archive import (
    HAS_LEFTOVERS,
    IS_STORED,
    archive_leftovers,
    fetch_leftovers,
    fetch_requests,
    is_archived,
    is_gone,
    is_too_large,
    nothing_runs,
)

log = logging.getLogger(__name__)

RELATED = ("device__host", "load_host", "organisation", "ordered_by")
# A turn is short: the next one continues. It fetches the files of one dispatch at most, which may be large.
TURN_COUNT = 20
# A run may be measured, and a fetch would disturb it.
LOADED = Q(state__in=[State.CLAIMED, State.PREPARING, State.RUNNING])


def remove_old_run_dirs(host: Host, connect_host: Connect = connect) -> None:
    """Remove old run directories of a host that answers, as many as one turn takes, and fetch one requested archive.

    The fetch comes last: an obstacle to it, for example another silent host, must not delay the removals.
    """
    _record_removed(host, connect_host)
    requested = [(fetch_leftovers, dispatch) for dispatch in _unloaded(fetch_requests(host).order_by("?"))[:1]]
    for act, dispatch in [*((_remove, dispatch) for dispatch in _next_dispatches(host)), *requested]:
        try:
            act(dispatch, connect_host)
        except StoreError as error:
            log.warning(
                "%s: its run directories stay on %s, the leftover files cannot be archived: %s", dispatch, host, error
            )
        except HostUnavailableError as error:
            log.warning("%s: its run directories stay on %s, the turn ends: %s", dispatch, host, error)
            return
        except (HostError, EvidenceDamagedError, OSError) as error:  # concerns this dispatch only
            log.warning("%s: its run directories stay on %s: %s", dispatch, host, error)


def removable(host: Host) -> QuerySet[Dispatch]:
    """Return the dispatches that have certainly ended, are old enough, and are stored or can be archived."""
    if not settings.RUN_DIR_RETENTION_S:
        return Dispatch.objects.none()
    before = timezone.now() - timedelta(seconds=settings.RUN_DIR_RETENTION_S)
    ended = Dispatch.objects.filter(state__in=FINAL, ended_at__lte=before, generation__gt=0)
    due = ended.filter(IS_STORED | (HAS_LEFTOVERS & ~is_too_large()), run_dirs_removed_at=None, device__host=host)
    return due.select_related(*RELATED)


def _next_dispatches(host: Host) -> list[Dispatch]:
    """Return the dispatches of one turn in random order: one that cannot be removed must not block the others."""
    due = removable(host).order_by("?")
    needs_no_fetch = IS_STORED | is_archived()
    return [*due.filter(needs_no_fetch)[:TURN_COUNT], *_unloaded(due.exclude(needs_no_fetch))[:1]]


def _unloaded(dispatches: QuerySet[Dispatch]) -> QuerySet[Dispatch]:
    """Return the dispatches on whose hosts no run may be measured."""
    pairs = Dispatch.objects.filter(LOADED).values_list("device__host", "load_host")
    loaded = {host for pair in pairs for host in pair if host is not None}
    return dispatches.exclude(device__host__in=loaded).exclude(load_host__in=loaded)


def _record_removed(host: Host, connect_host: Connect) -> None:
    """Record that run directories which were too large to archive were removed at the host."""
    left = Dispatch.objects.filter(HAS_LEFTOVERS, is_too_large(), run_dirs_removed_at=None, device__host=host)
    for dispatch in left.filter(ended_at__isnull=False).select_related(*RELATED).order_by("?")[:TURN_COUNT]:
        try:
            if is_gone(dispatch, connect_host):
                Dispatch.objects.filter(pk=dispatch.pk).update(run_dirs_removed_at=timezone.now())
        except HostError as error:
            log.warning("%s: it is not known whether %s has its run directories: %s", dispatch, host, error)
            return


def _remove(dispatch: Dispatch, connect_host: Connect) -> None:
    """Remove it, unless another worker has the dispatch or has removed it: a fetch must not meet a removal."""
    with lock_dispatch(dispatch.pk) as locked:
        if locked is None or locked.run_dirs_removed_at is not None:
            return
        host, row = lab_host(dispatch, connect_host), Dispatch.objects.filter(pk=dispatch.pk)
        if not row.filter(IS_STORED).exists():
            if not nothing_runs(dispatch, host):
                log.warning("%s is %s, and its program runs on %s", dispatch, dispatch.state, dispatch.device.host)
                return
            archive_leftovers(dispatch, host)
        for run in (run_of(dispatch.public_id, stage) for stage in stages_of(dispatch)):
            if obstacle := host.remove(run, dispatch.drive_key, dispatch.generation):
                log.info("%s stays on %s: %s", run, dispatch.device.host, obstacle)
                return
        row.update(run_dirs_removed_at=timezone.now())
