"""The one way a dispatch changes state: a conditional UPDATE checked against the table, with its step beside it."""

from typing import Any

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from runners.locks import hold_drive
from runners.models import Dispatch, Step
from runners.models.dispatch_rows import read_again
from runners.models.postgres import storable
from runners.models.states import FINAL, ON_HOST, TRANSITIONS, State
from runners.monitoring.connectivity import enter_all

CANCEL_ASKED = "a cancel was asked for"  # how the step of whoever asked begins; ": " and why may follow


def move(dispatch: Dispatch, from_state: State, to_state: State, actor: str, reason: str, **columns: Any) -> bool:
    """Move a dispatch and return True; False where it was no longer in `from_state`. `dispatch` is fresh afterwards.

    Raises ValueError for a move that the table lacks and for an end without a reason: both are bugs.
    """
    _check(from_state, to_state, reason)
    reason = storable(reason)
    with transaction.atomic():
        if to_state in FINAL:
            # A claim must not look past the drive between live and lost. And the drive before any row: of two that end
            # at once on one drive, each would hold its own row and wait for the other's, to wake it.
            hold_drive(dispatch.drive_key)
        moved = Dispatch.objects.filter(pk=dispatch.pk, state=from_state).update(
            state=to_state,
            reason=_told(dispatch, to_state, reason),
            silent_since=None,
            **_stamp(from_state, to_state),
            **columns,
        )
        if moved:
            if from_state in ON_HOST and to_state in FINAL:
                _end_gaps(dispatch, to_state)
            Step.objects.create(dispatch=dispatch, from_state=from_state, to_state=to_state, actor=actor, reason=reason)
            _wake_who_waits(dispatch.drive_key, to_state)
    read_again(dispatch)
    return bool(moved)


def _told(dispatch: Dispatch, to_state: State, reason: str) -> str:
    """Return what the row says: of a cancelled one first who asked for that and why, which is a step of its own."""
    asked = dispatch.steps.filter(reason__startswith=CANCEL_ASKED).last() if to_state is State.CANCELLED else None
    if asked is None:
        return reason
    return f"by {asked.actor}{asked.reason.removeprefix(CANCEL_ASKED)}; {reason}"


def _end_gaps(dispatch: Dispatch, to_state: State) -> None:
    """A lost one says itself since when nobody answered; else a machine that is silent at the end is told."""
    if to_state is State.LOST:
        dispatch.silences = {}
    enter_all(dispatch)
    Dispatch.objects.filter(pk=dispatch.pk).update(silences={})


def _wake_who_waits(drive_key: str, to_state: State) -> None:
    """A drive that is free now is claimed in the same round, by who has waited longest."""
    if to_state in FINAL:
        waiting = Dispatch.objects.filter(drive_key=drive_key, state=State.QUEUED).order_by("ordered_at")
        Dispatch.objects.filter(pk__in=waiting.values("pk")[:1]).update(next_look_at=Now())


def _check(from_state: State, to_state: State, reason: str) -> None:
    if to_state not in TRANSITIONS[from_state]:
        following = ", ".join(sorted(TRANSITIONS[from_state])) or "nothing"
        raise ValueError(f"{from_state} -> {to_state}: not in the table; {from_state} is followed by {following}")
    if to_state in FINAL and not reason:
        raise ValueError(f"{from_state} -> {to_state}: an end needs a reason in words")


def _stamp(from_state: State, to_state: State) -> dict[str, Any]:
    """Return the times that a state brings. What is lost has not been seen to end, unless its log was collected."""
    now = timezone.now()
    has_ended = to_state in FINAL and (to_state is not State.LOST or from_state is State.COLLECTING)
    ended = {"ended_at": now} if has_ended else {}
    return {"heartbeat_at": now} | ended


def note(dispatch: Dispatch, reason: str) -> None:
    """Say on the page why a dispatch that is not at its end stands where it stands; no step, nothing moves."""
    reason = storable(reason)
    if reason != dispatch.reason:
        Dispatch.objects.filter(pk=dispatch.pk, state=dispatch.state).exclude(state__in=FINAL).update(reason=reason)
        dispatch.reason = reason
