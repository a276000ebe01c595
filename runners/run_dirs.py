"""Removing run directories from hosts: when what they hold is stored here, and nobody needs to look at them any more.

The host has the last word: it keeps a directory under which anything runs, and that of the newest run of a drive.
"""

import logging
from datetime import timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from runners.errors import HostError
from runners.hosts import Connect, connect, is_within_reach
from runners.models import Dispatch, Host
from runners.recipes.stage import run_of
from runners.stages import lab_host, stages_of
from runners.states import FINAL

log = logging.getLogger(__name__)

# A turn is short: a host is asked for others again in the next one.
TURN_COUNT = 20
# Handed in by versions that did not write down when, or never begun: nothing there is missing here.
STORED = Q(taken_in_at__isnull=False) | Q(submission__isnull=False) | Q(preparation__isnull=False)


def remove_old(host: Host, connect_host: Connect = connect) -> None:
    """Remove what is old enough from a host that answers, as much as one turn takes."""
    for dispatch in removable(host).order_by("?")[:TURN_COUNT]:  # what stays must not stand before the others
        try:
            _remove(dispatch, connect_host)
        except HostError as error:
            log.warning("%s: its run directories stay on %s: %s", dispatch, host, error)
            return


def remove_old_here() -> None:
    """Remove what is old enough from this machine, if it is a host."""
    for host in Host.objects.filter(kind=Host.Kind.LOCAL):
        if is_within_reach(host):
            remove_old(host)


def removable(host: Host) -> QuerySet[Dispatch]:
    """Return the dispatches that have ended for certain, are stored, were followed by others, and are old enough."""
    if not settings.RUN_DIR_RETENTION_S:
        return Dispatch.objects.none()
    before = timezone.now() - timedelta(seconds=settings.RUN_DIR_RETENTION_S)
    later = Dispatch.objects.filter(drive_key=OuterRef("drive_key"), generation__gt=OuterRef("generation"))
    ended = Dispatch.objects.filter(state__in=FINAL, ended_at__lte=before, generation__gt=0)
    due = ended.filter(STORED | Q(is_never_started=True), Exists(later), run_dirs_removed_at=None, device__host=host)
    return due.select_related("device__host", "load_host")


def _remove(dispatch: Dispatch, connect_host: Connect) -> None:
    host = lab_host(dispatch, connect_host)
    for stage in stages_of(dispatch):
        run = run_of(dispatch.public_id, stage)
        if why_it_stays := host.remove(run, dispatch.drive_key, dispatch.generation):
            log.info("%s stays on %s: %s", run, dispatch.device.host, why_it_stays)
            return
    Dispatch.objects.filter(pk=dispatch.pk).update(run_dirs_removed_at=timezone.now())
