"""Fetching what an ended dispatch left on its hosts because a person asks, long before it would be removed.

Who asks does not wait for it: the turn that removes run directories (run_dirs.py) fetches what was asked for, when
nothing is measured on its hosts.
"""

import logging

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from results.history import tell
from results.models import Event
from runners.hosts import Connect
from runners.inventory.service_state import retired_words
from runners.lifecycle.stages import lab_host
from runners.models import Dispatch, Host
from runners.models.dispatch_rows import stepping
from runners.retention.leftover_archive import (
    is_gone,
    is_too_large,
    keep_what_is_left,
    nothing_runs,
    unkept_anywhere,
    what_was_kept,
)

log = logging.getLogger(__name__)

# The hosts may hold it after all, once a disk is mounted: it may be asked for again after nothing was found.
ASKED, FOUND_NOTHING = "fetch-asked", "fetch-found-nothing"


class FetchRefusedError(ValueError):
    """Nothing waits to be fetched; the text says so, and the remedy."""


def may_be_asked(dispatch: Dispatch) -> bool:
    """Tell whether a dispatch has ended and its hosts, all in service, may hold files that are in no other place.

    Not where they were found to be too large: they are not fetched again before more may be kept.
    """
    is_left = unkept_anywhere().filter(~is_too_large(), ~_is_pending(), pk=dispatch.pk).exists()
    return is_left and not any(retired_words(host) for host in _hosts(dispatch))


def ask(dispatch: Dispatch, actor: AbstractBaseUser) -> None:
    """Have it fetched in the next turn of its host, which begins after a check. Raises FetchRefusedError."""
    if not may_be_asked(dispatch):
        raise FetchRefusedError(f"nothing of {dispatch} waits on a host in service; look at its page again")
    tell(actor, ASKED, ("dispatch", dispatch.public_id))
    over_ssh = Host.objects.filter(pk=dispatch.device.host_id, kind=Host.Kind.SSH)
    over_ssh.update(next_check_at=Now())


def told_last(dispatch: Dispatch) -> Event | None:
    """Return the later event: that somebody asked (ASKED), or that the hosts held nothing then (FOUND_NOTHING)."""
    told = Event.objects.filter(kind__in=[ASKED, FOUND_NOTHING], subject_type="dispatch", subject_id=dispatch.public_id)
    return told.order_by("pk").last()


def is_pending(dispatch: Dispatch) -> bool:
    """Tell whether it is to be fetched yet."""
    return asked_for(dispatch.device.host).filter(pk=dispatch.pk).exists()


def asked_for(host: Host) -> QuerySet[Dispatch]:
    """Return the dispatches on the drives of a host of which what they left was asked for and is not fetched yet.

    None of a retired host: nothing is asked of it, and a given up one never answers.
    """
    asked = unkept_anywhere().filter(_is_pending(), ~is_too_large(), device__host=host)
    serving = asked.filter(Q(load_host=None) | Q(load_host__retired_at=None), device__host__retired_at=None)
    return serving.select_related("device__host", "load_host", "organisation", "ordered_by")


def fetch(dispatch: Dispatch, connect_host: Connect) -> None:
    """Keep what was asked for as one archive, read for no run, unless another worker is at it or its program runs.

    Raises HostError where a host gives no answer or no file, and StoreError or OSError where it cannot be kept.
    """
    with stepping(dispatch.pk) as held:
        if held is None or not is_pending(held):
            return
        if not is_gone(held, connect_host):
            host = lab_host(held, connect_host)
            if not nothing_runs(held, host):
                log.warning("%s was asked for, and its program runs on %s", held, held.device.host)
                return
            keep_what_is_left(held, host)
        if what_was_kept(held) is None:
            tell(None, FOUND_NOTHING, ("dispatch", held.public_id))


def _is_pending() -> Exists:
    about = Event.objects.filter(subject_type="dispatch")
    outdone = about.filter(kind=FOUND_NOTHING, subject_id=OuterRef("subject_id"), pk__gt=OuterRef("pk"))
    return Exists(about.filter(~Exists(outdone), kind=ASKED, subject_id=OuterRef("public_id")))


def _hosts(dispatch: Dispatch) -> list[Host]:
    return [host for host in (dispatch.device.host, dispatch.load_host) if host is not None]
