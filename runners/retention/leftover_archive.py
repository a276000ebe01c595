"""What a dispatch left on its host that was never taken in: kept as it is, and read for no run."""

import logging
from collections.abc import Iterator
from itertools import chain
from typing import IO

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from results.evidence.store import TooLargeError
from results.history import record_event
from results.models import Event, Evidence
from runners.evidence.submit import LOG_FILE, SIDE_FILE, archived, fetch_if_there, keep_archive
from runners.hosts.host_pair import telemetry_run
from runners.hosts.protocol import Connect, Detached, LabHost, status_or_close
from runners.inventory.service_state import retired_words
from runners.lifecycle.stages import current_run, lab_host, run_dirs_of, stages_of
from runners.models import Dispatch, Host, Step
from runners.models.dispatch_rows import stepping
from runners.models.states import FINAL, State
from runners.recipes import prep, ycsb
from runners.recipes.base import YCSB, Role, Stage, run_of

KEPT, TOO_LARGE = "evidence-kept", "evidence-too-large"
OUTPUTS = (LOG_FILE, SIDE_FILE, "stdout", "stderr")
# Who ran there, and how that ended. A directory that was closed before any start has an end too, of no program.
PROCESS, END = "pid", "exit"
# Handed in, also by versions that did not write down when, or never begun: nothing there is missing here.
STORED = Q(taken_in_at__isnull=False) | Q(submission__isnull=False) | Q(preparation__isnull=False)
IS_STORED = STORED | Q(is_never_started=True)
# Before this move nothing is sent to a host.
HAS_BEGUN = Exists(Step.objects.filter(dispatch=OuterRef("pk"), to_state=State.PREPARING))
# Whatever they left is no run, and was not handed in: cancelled, lost, or failed with a log that was too large or that
# was seen and is gone. It is kept as it is before it is removed.
LEFT_BEHIND = Q(state__in=FINAL - {State.DONE}) & ~IS_STORED & HAS_BEGUN


def nothing_runs(dispatch: Dispatch, host: LabHost) -> bool:
    """Tell whether nothing of a dispatch runs, nor can: only then is what it left whole.

    A stage that was not begun is closed: no late start may write to what is about to be kept. Raises HostError.
    """
    here = current_run(dispatch)
    others = [run_of(dispatch.public_id, stage) for stage in stages_of(dispatch)]
    statuses = [status_or_close(host, here), *(host.status(run) for run in others if run != here)]
    return all(status.state is not Detached.RUNNING for status in statuses)


def is_gone(dispatch: Dispatch, connect_host: Connect) -> bool:
    """Tell whether no host has a run directory of a dispatch any more. Raises HostError.

    Each host by itself: asked as one they close telemetry that is not there, and so make its directory anew.
    """
    found = (connect_host(place).status(run) for place, run in run_dirs_of(dispatch))
    return all(status.state is Detached.ABSENT for status in found)


def keep_what_is_left(dispatch: Dispatch, host: LabHost) -> None:
    """Keep the files of all its run directories as one archive, once; nothing where there is none.

    Raises StoreError where the register cannot keep them, HostError where the host does not give them. That they are
    too large is remembered: they are not fetched again before more may be kept.
    """
    if what_was_kept(dispatch) is not None:
        return
    files = _files(dispatch, host)
    try:
        if (first := next(files, None)) is not None:
            with archived(dispatch, chain([first], files)) as archive:
                keep_archive(dispatch, archive)
    except TooLargeError as error:
        about = {"subject_type": "dispatch", "subject_id": dispatch.public_id}
        details = {"bytes_max": settings.UPLOAD_MAX_BYTES}
        Event.objects.create(kind=TOO_LARGE, reason=str(error), details=details, **about)
        raise


def what_was_kept(dispatch: Dispatch) -> Event | None:
    """Return the event that tells the hash and the size of what was kept; None where nothing was."""
    kept = Event.objects.filter(kind=KEPT, subject_type="dispatch", subject_id=dispatch.public_id)
    return kept.filter(details__kind=Evidence.Kind.RUN).first()


def what_was_too_large(dispatch: Dispatch) -> Event | None:
    """Return the event that tells why what it left stays on its host; None where it was not refused for its size."""
    refused = Event.objects.filter(kind=TOO_LARGE, subject_type="dispatch", subject_id=dispatch.public_id)
    return refused.last()


def is_too_large() -> Exists:
    """Tell of rows of dispatches which left more than may be kept now; more may be, once the limit is raised."""
    refused = Event.objects.filter(kind=TOO_LARGE, subject_type="dispatch", subject_id=OuterRef("public_id"))
    return Exists(refused.filter(details__bytes_max__gte=settings.UPLOAD_MAX_BYTES))


def is_kept() -> Exists:
    """Tell of rows of dispatches whose archive is kept."""
    about = {"subject_type": "dispatch", "subject_id": OuterRef("public_id")}
    return Exists(Event.objects.filter(kind=KEPT, details__kind=Evidence.Kind.RUN, **about))


def unkept(host: Host) -> QuerySet[Dispatch]:
    """Return the dispatches that have ended of which what they left on a host is in no other place."""
    return unkept_anywhere().filter(Q(device__host=host) | Q(load_host=host)).order_by("pk")


def unkept_anywhere() -> QuerySet[Dispatch]:
    """Return the dispatches that have ended of which what they left is only on their hosts."""
    left = Dispatch.objects.filter(LEFT_BEHIND, ended_at__isnull=False, run_dirs_removed_at=None)
    return left.exclude(is_kept())


def _files(dispatch: Dispatch, host: LabHost) -> Iterator[tuple[str, IO[bytes]]]:
    for stage in stages_of(dispatch):
        run = run_of(dispatch.public_id, stage)
        yield from _of_run(host, run, _names(stage, dispatch.recipe))
        if stage.role is Role.LOAD:
            yield from _of_run(host, telemetry_run(run), OUTPUTS)


def _names(stage: Stage, recipe: str) -> tuple[str, ...]:
    clients = [file for file, _ in ycsb.outputs(stage)] if recipe == YCSB and stage.is_measured else []
    marks = [prep.STATE_FILE] if recipe == "prep" else []
    return tuple(dict.fromkeys([*OUTPUTS, *stage.files, *clients, *marks]))


def _of_run(host: LabHost, run: str, names: tuple[str, ...]) -> Iterator[tuple[str, IO[bytes]]]:
    for name in (*names, PROCESS, END):
        stream = fetch_if_there(host, run, name)
        if stream is not None:
            with stream:
                yield f"{run}/{name}", stream
        elif name == PROCESS:
            return


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
    record_event(actor, ASKED, ("dispatch", dispatch.public_id))
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
            record_event(None, FOUND_NOTHING, ("dispatch", held.public_id))


def _is_pending() -> Exists:
    about = Event.objects.filter(subject_type="dispatch")
    outdone = about.filter(kind=FOUND_NOTHING, subject_id=OuterRef("subject_id"), pk__gt=OuterRef("pk"))
    return Exists(about.filter(~Exists(outdone), kind=ASKED, subject_id=OuterRef("public_id")))


def _hosts(dispatch: Dispatch) -> list[Host]:
    return [host for host in (dispatch.device.host, dispatch.load_host) if host is not None]
