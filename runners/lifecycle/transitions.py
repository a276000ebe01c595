"""The only way a dispatch changes state: a conditional UPDATE checked against the table, with a step in the history."""

from typing import Any

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from results.logs.tracing import note_change
from runners.models import Dispatch, Step
from runners.models.dispatch_rows import refresh
from runners.models.postgres import lock_drive, storable
from runners.models.states import FINAL, ON_HOST, TRANSITIONS, WORKER, State
from runners.monitoring.connectivity import close_outages_of_ended


def transition(dispatch: Dispatch, from_state: State, to_state: State, reason: str, **columns: Any) -> bool:
    """Change the state of a dispatch for a worker and return True; False if it is not in `from_state`. Refresh it.

    Raise ValueError for a transition that the table lacks and for an end without a reason: both are bugs.
    """
    _check(from_state, to_state, reason)
    reason = storable(reason)
    with transaction.atomic():
        if to_state in FINAL:
            # A claim must not read between live and lost. The drive is locked before any row: otherwise two dispatches
            # that end at once on one drive would each lock their own row and wait for the other's.
            lock_drive(dispatch.drive_key)
        moved = Dispatch.objects.filter(pk=dispatch.pk, state=from_state).update(
            state=to_state,
            reason=_row_reason(dispatch, to_state, reason),
            silent_since=None,
            **_stamp(from_state, to_state),
            **columns,
        )
        if moved:
            if from_state in ON_HOST and to_state in FINAL:
                close_outages_of_ended(dispatch)
            states = {"from_state": from_state, "to_state": to_state}
            Step.objects.create(dispatch=dispatch, **states, actor=WORKER, reason=reason)
            if to_state in FINAL:
                # The longest waiting dispatch of the drive becomes due: a free drive is claimed in the same round.
                waiting = Dispatch.objects.filter(drive_key=dispatch.drive_key, state=State.QUEUED)
                longest = waiting.order_by("ordered_at").values("pk")[:1]
                Dispatch.objects.filter(pk__in=longest).update(next_poll_at=Now())
    refresh(dispatch)
    if moved:
        note_change(f"{from_state} -> {to_state}")
    return bool(moved)


def _row_reason(dispatch: Dispatch, to_state: State, reason: str) -> str:
    """Return the reason for the row. For a cancelled dispatch, it begins with who requested the cancel and why."""
    if to_state is not State.CANCELLED:
        return reason
    requested = dispatch.steps.filter(kind=Step.Kind.CANCEL_REQUESTED).last()
    if requested is None:
        return reason
    why = requested.details.get("reason", "")
    return f"{requested.actor} cancelled the run{f': {why}' if why else ''}; {reason}"


def add_step(dispatch: Dispatch, state: str, kind: Step.Kind, actor: str, reason: str, details: dict[str, Any]) -> None:
    """Add a line to the history that is no transition."""
    states = {"from_state": state, "to_state": state}
    Step.objects.create(dispatch=dispatch, **states, kind=kind, actor=actor, reason=reason, details=details)


def _check(from_state: State, to_state: State, reason: str) -> None:
    if to_state not in TRANSITIONS[from_state]:
        following = ", ".join(sorted(TRANSITIONS[from_state])) or "nothing"
        raise ValueError(f"{from_state} -> {to_state}: not in the table; expected after {from_state}: {following}")
    if to_state in FINAL and not reason:
        raise ValueError(f"{from_state} -> {to_state}: an end needs a reason")


def _stamp(from_state: State, to_state: State) -> dict[str, Any]:
    """Return the time columns of a state. A lost program was not seen to end, unless its log was collected."""
    now = timezone.now()
    has_ended = to_state in FINAL and (to_state is not State.LOST or from_state is State.COLLECTING)
    ended = {"ended_at": now} if has_ended else {}
    return {"heartbeat_at": now} | ended


def update_reason(dispatch: Dispatch, reason: str, waits_for: str = "") -> None:
    """Update the reason shown on the page of an unfinished dispatch, without a transition."""
    reason = storable(reason)
    if (reason, waits_for) != (dispatch.reason, dispatch.waits_for):
        row = Dispatch.objects.filter(pk=dispatch.pk, state=dispatch.state).exclude(state__in=FINAL)
        row.update(reason=reason, waits_for=waits_for)
        dispatch.reason, dispatch.waits_for = reason, waits_for
