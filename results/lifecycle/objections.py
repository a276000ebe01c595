"""Objections to public results: admission, reply, decision, and the limit of each state.

A reviewer admits or refuses an objection. Until then only its filer, reviewers and operators read it. Afterwards
everyone does, the organisation that submitted the result replies, and a reviewer decides. A state whose limit passes
moves to a named state in which the action is still possible. Before that, the person who must act is reminded once.
The sweep records an event of each, whose receivers notify people.
An upheld objection changes no result: its outcome names the step that a reviewer takes.

Events about what is not public have the objection as their subject; all others the run, whose history everyone reads.
"""

import logging
from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils import timezone

from results.errors import ReviewRefusedError, contained
from results.history import OBJECTION_REPLIED, record_event, run_subject
from results.lifecycle import approvals, visibility
from results.lifecycle.deadlines import NEAR, Party, Rule
from results.models import Objection, ObjectionState, Organisation, Run, Visibility
from results.models.objection import BEFORE_ADMISSION, FINAL_STATES

log = logging.getLogger(__name__)
REFUSED_KIND, WITHDRAWN_KIND = "objection-refused", "objection-withdrawn"
ADMITTED_KIND, UPHELD_KIND, REJECTED_KIND = "objection-admitted", "objection-upheld", "objection-rejected"
ADMISSION_OVERDUE_KIND, OVERDUE_KIND = "objection-admission-overdue", "objection-overdue"
NEAR_KIND = "objection-deadline-near"
UPHOLDING = frozenset({Objection.Outcome.WITHDRAW, Objection.Outcome.ANNOTATE, Objection.Outcome.CORRECT})


# An overdue state repeats: each time its limit passes, the same people are notified again.
RULES = {
    ObjectionState.RECEIVED: Rule(timedelta(days=7), Party.REVIEWER, ObjectionState.ADMISSION_OVERDUE),
    ObjectionState.ADMISSION_OVERDUE: Rule(timedelta(days=7), Party.REVIEWER, ObjectionState.ADMISSION_OVERDUE),
    ObjectionState.ADMITTED: Rule(timedelta(days=14), Party.SUBMITTER, ObjectionState.UNANSWERED),
    ObjectionState.UNANSWERED: Rule(timedelta(days=14), Party.REVIEWER, ObjectionState.DECISION_OVERDUE),
    ObjectionState.IN_DECISION: Rule(timedelta(days=14), Party.REVIEWER, ObjectionState.DECISION_OVERDUE),
    ObjectionState.DECISION_OVERDUE: Rule(timedelta(days=14), Party.REVIEWER, ObjectionState.DECISION_OVERDUE),
}
DECIDABLE = frozenset({ObjectionState.UNANSWERED, ObjectionState.IN_DECISION, ObjectionState.DECISION_OVERDUE})
REPLY_POSSIBLE = DECIDABLE | {ObjectionState.ADMITTED}


def admit(objection: Objection, reviewer: AbstractBaseUser) -> None:
    """Make an objection public. Raises ReviewRefusedError if it does not wait for this, or the reviewer is partial.

    No one replies for a result that no organisation of the register submitted: a reviewer decides next.
    """
    with transaction.atomic():
        locked = _lock(objection, BEFORE_ADMISSION, "admitted")
        refuse_partial(locked, reviewer)
        after = ObjectionState.ADMITTED if locked.run.submission else ObjectionState.IN_DECISION
        columns: dict[str, Any] = {"admitted_by_id": reviewer.pk, "admitted_at": timezone.now()}
        _move(locked, after, reviewer, ADMITTED_KIND, columns=columns)


def refuse(objection: Objection, reviewer: AbstractBaseUser, refusal: Objection.Refusal, note: str = "") -> None:
    """Refuse to admit an objection. Everyone can count the reason; only the filer and reviewers read the note."""
    with transaction.atomic():
        locked = _lock(objection, BEFORE_ADMISSION, "refused")
        refuse_partial(locked, reviewer)
        columns = {"refusal": refusal, "refusal_note": note.strip(), "refused_by_id": reviewer.pk}
        _move(locked, ObjectionState.REFUSED, reviewer, REFUSED_KIND, columns=columns)


def withdraw(objection: Objection, user: AbstractBaseUser) -> None:
    """Withdraw one's own objection before it is admitted. It stays stored, and never becomes public."""
    with transaction.atomic():
        locked = _lock(objection, BEFORE_ADMISSION, "withdrawn")
        if locked.filed_by_id != user.pk:
            raise ReviewRefusedError(f"You did not file {locked.public_id}. Only its filer withdraws it.")
        _move(locked, ObjectionState.WITHDRAWN, user, WITHDRAWN_KIND)


def reply(objection: Objection, user: AbstractBaseUser, text: str) -> None:
    """Reply in public for the organisation that submitted the result, once. The caller checks the user's role.

    A reply after the limit is shown too. The limit of a decision that is overdue does not begin again with it.
    """
    if not text.strip():
        raise ReviewRefusedError("Enter the text of the reply. Everyone reads it next to the objection.")
    with transaction.atomic():
        locked = _lock(objection, REPLY_POSSIBLE, "replied to")
        if locked.reply:
            raise ReviewRefusedError(f"Your organisation has replied to {locked.public_id} already. It replies once.")
        is_overdue = locked.state == ObjectionState.DECISION_OVERDUE
        columns = {"reply": text.strip(), "replied_by_id": user.pk, "replied_at": timezone.now()}
        _move(locked, None if is_overdue else ObjectionState.IN_DECISION, user, OBJECTION_REPLIED, columns=columns)


def decide(objection: Objection, reviewer: AbstractBaseUser, outcome: Objection.Outcome, note: str) -> None:
    """Uphold or reject an admitted objection with a public note. The outcome names the step that follows.

    Raises ReviewRefusedError while the organisation may still reply, without a note, and if the reviewer is partial.
    """
    if not note.strip():
        raise ReviewRefusedError("Enter the reason of the decision. Everyone reads it next to the objection.")
    with transaction.atomic():
        locked = _lock(objection, DECIDABLE, "decided")
        refuse_partial(locked, reviewer)
        is_upheld = outcome in UPHOLDING
        columns: dict[str, Any] = {"outcome": outcome, "outcome_note": note.strip()}
        columns |= {"decided_by_id": reviewer.pk, "decided_at": timezone.now()}
        after = ObjectionState.UPHELD if is_upheld else ObjectionState.REJECTED
        kind = UPHELD_KIND if is_upheld else REJECTED_KIND
        _move(locked, after, reviewer, kind, note.strip(), columns)


def sweep_objections() -> int:
    """Move the objections whose limit has passed to their next state, and return their number; remind of near limits.

    While a takedown withholds a run, nobody can act on its objections, so that no limit of them passes.
    """
    moved = 0
    for objection in Objection.objects.waiting().filter(deadline__lte=timezone.now() + NEAR).order_by("pk"):
        if _is_due(objection):
            with contained(log, "objection %s: its deadline could not be handled", objection.public_id):
                moved += _handle(objection)
    return moved


def _handle(objection: Objection) -> bool:
    """Move an objection whose limit has passed, or record a reminder. Return whether it moved."""
    with transaction.atomic():
        visibility.lock_run(objection.run)
        waiting = Objection.objects.waiting().filter(pk=objection.pk)
        locked = waiting.select_for_update(of=("self",)).select_related("run__submission").first()
        if locked is None or not _is_due(locked):  # another worker, or a person, was faster
            return False
        if not _is_passed(locked):
            _remind(locked)
            return False
        kind = OVERDUE_KIND if locked.is_admitted else ADMISSION_OVERDUE_KIND
        _move(locked, ObjectionState(RULES[ObjectionState(locked.state)].then), None, kind)
    return True


def _is_due(objection: Objection) -> bool:
    """Return whether the sweep has something to do, so that most objections are neither locked nor written."""
    due_at = objection.deadline
    is_near = due_at is not None and RULES[ObjectionState(objection.state)].is_near(due_at, objection.reminded_at)
    return _is_passed(objection) or is_near


def _is_passed(objection: Objection) -> bool:
    return objection.deadline is not None and objection.deadline <= timezone.now()


def _remind(locked: Objection) -> None:
    """Record that a deadline is near. The event is not public: it changes nothing that everyone reads."""
    locked.reminded_at = timezone.now()
    locked.save(update_fields=["reminded_at"])
    record_event(None, NEAR_KIND, objection_subject(locked), "", _stated(locked))


def is_partial(objection: Objection, reviewer: AbstractBaseUser) -> bool:
    """Return whether a reviewer may not decide about an objection: who filed it, or belongs to an organisation of it.

    These are the organisations of the filer, the one that submitted the result, and the drive's maker. Nobody decides
    about an objection of another register.
    """
    now = timezone.now()
    own = approvals.organisations_of(reviewer, now) | approvals.organisations_of(reviewer, objection.filed_at)
    return (
        objection.is_mirrored
        or objection.filed_by_id == reviewer.pk
        or bool(own & set(objection.organisations))
        or visibility.is_own(objection.run, reviewer)
        or approvals.is_barred(objection.run, reviewer)
    )


def refuse_partial(objection: Objection, reviewer: AbstractBaseUser) -> None:
    """Raise ReviewRefusedError if another reviewer has to decide about an objection."""
    if is_partial(objection, reviewer):
        raise ReviewRefusedError(
            f"You filed {objection.public_id}, sent the result, or belong to an organisation that filed the objection, "
            "submitted the result or makes the drive. A reviewer of another organisation has to decide."
        )


def partial_organisations(objection: Objection) -> frozenset[int]:
    """Return the organisations whose members decide nothing about an objection."""
    return approvals.barred_organisations(objection.run) | frozenset(objection.organisations)


def may_reply(objection: Objection) -> bool:
    """Return whether the organisation that submitted the result can still reply."""
    is_open = objection.state in REPLY_POSSIBLE and not objection.reply and not objection.is_mirrored
    return is_open and objection.run.submission_id is not None


def replying_organisation(objection: Objection) -> Organisation | None:
    """Return the organisation that replies; None if none submitted the result."""
    return objection.run.submission.organisation if objection.run.submission else None


def refuse_withheld_run(run: Run) -> None:
    """Raise ReviewRefusedError while a takedown withholds a run."""
    if run.visibility == Visibility.SEQUESTERED:
        raise ReviewRefusedError(
            f"Run {run.public_id} is withheld for legal reasons. Its objections are withheld with it, and continue "
            "when the takedown ends."
        )


def _lock(objection: Objection, states: frozenset[ObjectionState] | tuple[ObjectionState, ...], act: str) -> Objection:
    """Lock the run and the objection. Raises ReviewRefusedError if the objection is not in one of the states."""
    refuse_withheld_run(visibility.lock_run(objection.run))
    if objection.is_mirrored:
        raise ReviewRefusedError(
            f"{objection.public_id} came with the dump of another register. Only that register decides about it."
        )
    found = Objection.objects.select_for_update(of=("self",)).select_related("run__submission__organisation")
    locked = found.get(pk=objection.pk)
    if locked.state not in states:
        until = f" until {locked.deadline:%Y-%m-%d %H:%M} UTC" if locked.deadline else ""
        expected = " or ".join(sorted(states))
        raise ReviewRefusedError(
            f"{locked.public_id} is {locked.state}{until}; only an objection that is {expected} can be {act}."
        )
    return locked


def _move(
    locked: Objection,
    after: ObjectionState | None,
    actor: AbstractBaseUser | None,
    kind: str,
    reason: str = "",
    columns: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Write the next state with its deadline, and the event. Without a next state, the current one and its limit stay.

    Once an objection is public, its events are those of the run.
    """
    written = dict(columns)
    if after is not None:
        written |= {"state": after, **limit_of(after)}
    for name, value in written.items():
        setattr(locked, name, value)
    locked.save(update_fields=written)
    subject = run_subject(locked.run) if locked.is_admitted else objection_subject(locked)
    record_event(actor, kind, subject, reason, _stated(locked))


def _stated(objection: Objection) -> dict[str, str]:
    """Return the details of an event about an objection, as codes."""
    stated = {"objection": objection.public_id, "state": str(objection.state)}
    if objection.deadline:
        stated["deadline"] = objection.deadline.isoformat()
    if objection.outcome:
        stated["outcome"] = str(objection.outcome)
    return stated


def limit_of(state: ObjectionState) -> dict[str, Any]:
    """Return the columns of a state that begins now: since when, and until when; None for a final state.

    No reminder of the new limit was sent yet.
    """
    now = timezone.now()
    deadline = None if state in FINAL_STATES else now + RULES[state].limit
    return {"state_since": now, "deadline": deadline, "reminded_at": None}


def objection_subject(objection: Objection) -> tuple[str, str]:
    """Return an objection as the subject of an event that is not public."""
    return "objection", objection.public_id
