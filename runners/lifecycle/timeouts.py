"""Programs that do not end: past what their stage may take, or after they were asked to."""

from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from runners.lifecycle.stages import current
from runners.models import Dispatch, exit_codes


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
