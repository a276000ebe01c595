"""Leftover files of dispatches on their hosts: archived as they are, read for no run; also on request.

A request does not wait for the fetch. The turn that removes run directories (cleanup.py) fetches requested files when
nothing is measured on their hosts.
"""

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
from runners.errors import RequestRefusedError
from runners.evidence.submit import LOG_FILE, SIDE_FILE, build_archive, fetch_optional, store_evidence
from runners.hosts.host_pair import telemetry_run
from runners.hosts.protocol import Connect, LabHost, ProgramState, status_or_seal
from runners.inventory.service_state import retired_message
from runners.lifecycle.stages import current_run, lab_host, run_dirs_of, stages_of
from runners.models import Dispatch, Host, Step
from runners.models.dispatch_rows import lock_dispatch
from runners.models.states import FINAL, State
from runners.recipes import prep, ycsb
from runners.recipes.base import YCSB, Role, Stage, run_of

log = logging.getLogger(__name__)

ARCHIVED, TOO_LARGE = "evidence-kept", "evidence-too-large"
OUTPUTS = (LOG_FILE, SIDE_FILE, "stdout", "stderr")
# The process and its end. A sealed directory has an end without a process.
PROCESS, END = "pid", "exit"
# Collected, also by versions that did not record when, or never started: the register has all of it.
STORED = Q(collected_at__isnull=False) | Q(submission__isnull=False) | Q(preparation__isnull=False)
IS_STORED = STORED | Q(is_never_started=True)
# Before this transition nothing is sent to a host.
HAS_BEGUN = Exists(Step.objects.filter(dispatch=OuterRef("pk"), to_state=State.PREPARING))
# Leftover files are not a run and were not collected: the dispatch was cancelled or lost, or failed with a log that was
# too large or that disappeared. They are archived before they are removed.
HAS_LEFTOVERS = Q(state__in=FINAL - {State.DONE}) & ~IS_STORED & HAS_BEGUN


def nothing_runs(dispatch: Dispatch, host: LabHost) -> bool:
    """Return whether nothing of a dispatch runs or can start: only then are its leftover files complete.

    A stage that was not started is sealed: no late start may write to the files. Raise HostError.
    """
    here = current_run(dispatch)
    others = [run_of(dispatch.public_id, stage) for stage in stages_of(dispatch)]
    statuses = [status_or_seal(host, here), *(host.status(run) for run in others if run != here)]
    return all(status.state is not ProgramState.RUNNING for status in statuses)


def is_gone(dispatch: Dispatch, connect_host: Connect) -> bool:
    """Return whether no host has a run directory of a dispatch any more. Raise HostError.

    Each host is queried by itself: as a pair they would seal telemetry that is missing, and so create its directory
    again.
    """
    found = (connect_host(host).status(run) for host, run in run_dirs_of(dispatch))
    return all(status.state is ProgramState.ABSENT for status in found)


def archive_leftovers(dispatch: Dispatch, host: LabHost) -> None:
    """Archive the files of all its run directories once; do nothing if there are none.

    Raise StoreError if the register cannot store them, HostError if the host does not send them. Files that are too
    large are remembered, and not fetched again before the limit is raised.
    """
    if archive_event(dispatch) is not None:
        return
    files = _files(dispatch, host)
    try:
        if (first := next(files, None)) is not None:
            with build_archive(dispatch, chain([first], files)) as archive:
                store_evidence(dispatch, archive, "left.tar", Evidence.Kind.RUN)
    except TooLargeError as error:
        limit = {"bytes_max": settings.UPLOAD_MAX_BYTES}
        record_event(None, TOO_LARGE, ("dispatch", dispatch.public_id), str(error), limit)
        raise


def archive_event(dispatch: Dispatch) -> Event | None:
    """Return the event with the hash and size of the archive; None if there is no archive."""
    return _events(dispatch.public_id, ARCHIVED).filter(details__kind=Evidence.Kind.RUN).first()


def too_large_event(dispatch: Dispatch) -> Event | None:
    """Return the event that states why the leftover files stay on their host; None if they were not too large."""
    return _events(dispatch.public_id, TOO_LARGE).last()


def is_too_large() -> Exists:
    """Return a condition for dispatches whose leftover files exceed the current limit."""
    refused = _events(OuterRef("public_id"), TOO_LARGE)
    return Exists(refused.filter(details__bytes_max__gte=settings.UPLOAD_MAX_BYTES))


def is_archived() -> Exists:
    """Return a condition for dispatches whose leftover files are archived."""
    return Exists(_events(OuterRef("public_id"), ARCHIVED).filter(details__kind=Evidence.Kind.RUN))


def _events(public_id: str | OuterRef, *kinds: str) -> QuerySet[Event]:
    return Event.objects.filter(kind__in=kinds, subject_type="dispatch", subject_id=public_id)


def unarchived_on(host: Host) -> QuerySet[Dispatch]:
    """Return the ended dispatches whose leftover files on a host are stored nowhere else."""
    return unarchived().filter(Q(device__host=host) | Q(load_host=host)).order_by("pk")


def unarchived() -> QuerySet[Dispatch]:
    """Return the ended dispatches whose leftover files are only on their hosts."""
    left = Dispatch.objects.filter(HAS_LEFTOVERS, ended_at__isnull=False, run_dirs_removed_at=None)
    return left.exclude(is_archived())


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
        with fetch_optional(host, run, name) as stream:
            if stream is not None:
                yield f"{run}/{name}", stream
            elif name == PROCESS:
                return


# The hosts may have the files after all, once a disk is mounted: the request may be repeated after nothing was found.
FETCH_REQUESTED, FOUND_NOTHING = "fetch-asked", "fetch-found-nothing"


class FetchRefusedError(RequestRefusedError):
    """No leftover files can be fetched. The text gives the reason and the remedy."""


def may_be_fetched(dispatch: Dispatch) -> bool:
    """Return whether a dispatch has ended and its hosts, all in service, may have files that are stored nowhere else.

    False if they were too large: they are not fetched again before the limit is raised.
    """
    is_left = unarchived().filter(~is_too_large(), ~_is_fetch_requested(), pk=dispatch.pk).exists()
    hosts = filter(None, [dispatch.device.host, dispatch.load_host])
    return is_left and not any(retired_message(host) for host in hosts)


def request_fetch(dispatch: Dispatch, actor: AbstractBaseUser) -> None:
    """Request the leftover files; the next turn of the host fetches them. Raise FetchRefusedError."""
    if not may_be_fetched(dispatch):
        raise FetchRefusedError(f"{dispatch} has no leftover files on a host in service; reload its page")
    record_event(actor, FETCH_REQUESTED, ("dispatch", dispatch.public_id))
    remote = Host.objects.filter(pk=dispatch.device.host_id, kind__in=Host.REMOTE_KINDS)
    remote.update(next_check_at=Now())


def last_fetch_event(dispatch: Dispatch) -> Event | None:
    """Return the later event: the request (FETCH_REQUESTED), or that the hosts had no files (FOUND_NOTHING)."""
    return _events(dispatch.public_id, FETCH_REQUESTED, FOUND_NOTHING).order_by("pk").last()


def is_fetch_pending(dispatch: Dispatch) -> bool:
    """Return whether a requested fetch is still to come."""
    return fetch_requests(dispatch.device.host).filter(pk=dispatch.pk).exists()


def fetch_requests(host: Host) -> QuerySet[Dispatch]:
    """Return the dispatches on the drives of a host whose leftover files were requested and not fetched yet.

    Retired hosts are left out: the register does not query them.
    """
    requested = unarchived().filter(_is_fetch_requested(), ~is_too_large(), device__host=host)
    serving = requested.filter(Q(load_host=None) | Q(load_host__retired_at=None), device__host__retired_at=None)
    return serving.select_related("device__host", "load_host", "organisation", "ordered_by")


def fetch_leftovers(dispatch: Dispatch, connect_host: Connect) -> None:
    """Archive requested files, unless another worker has the dispatch or its program runs.

    Raise HostError if a host gives no answer or no file, and StoreError or OSError if the archive cannot be stored.
    """
    with lock_dispatch(dispatch.pk) as locked:
        if locked is None or not is_fetch_pending(locked):
            return
        if not is_gone(locked, connect_host):
            host = lab_host(locked, connect_host)
            if not nothing_runs(locked, host):
                log.warning("%s was requested, and its program runs on %s", locked, locked.device.host)
                return
            archive_leftovers(locked, host)
        if archive_event(locked) is None:
            record_event(None, FOUND_NOTHING, ("dispatch", locked.public_id))


def _is_fetch_requested() -> Exists:
    outdone = _events(OuterRef("subject_id"), FOUND_NOTHING).filter(pk__gt=OuterRef("pk"))
    return Exists(_events(OuterRef("public_id"), FETCH_REQUESTED).filter(~Exists(outdone)))
