"""Programs that do not end: past the ordered duration, or after they were asked to."""

from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from runners import exits
from runners.models import Dispatch

# Recipes whose program runs for the ordered duration; preparations and databases take as long as they take.
OF_A_DURATION = frozenset({"act-storage", "act-index"})


def overdue_since(dispatch: Dispatch) -> datetime | None:
    """Return since when the program should have ended by itself; None before that, and of a recipe without end."""
    if dispatch.started_at is None or dispatch.duration_s is None or dispatch.recipe not in OF_A_DURATION:
        return None
    latest = dispatch.started_at + timedelta(seconds=dispatch.duration_s + settings.RUN_OVERDUE_S)
    return latest if timezone.now() >= latest else None


def asked_to_end_since(dispatch: Dispatch) -> datetime | None:
    """Return since when every look asks the program to end; None where it may run on."""
    return dispatch.cancel_requested_at or overdue_since(dispatch)


def will_not_end(dispatch: Dispatch) -> bool:
    """Tell whether a program has been asked to end for so long that nobody can say when it will."""
    asked = asked_to_end_since(dispatch)
    return asked is not None and timezone.now() - asked >= timedelta(seconds=settings.HOST_SILENCE_S)


def overdue_words(dispatch: Dispatch, exit_status: int | None) -> str:
    """Return what to add to the reason of a program that was asked to end and did; empty where it ended by itself.

    Whoever looks late must not say so of a program that ended in time while nobody looked.
    """
    if dispatch.end_asked_at is None or not exits.was_stopped(exit_status):
        return ""
    return f"; it was asked to end, {settings.RUN_OVERDUE_S} s after the ordered {dispatch.duration_s} s were over"
