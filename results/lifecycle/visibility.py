"""The life of a result: the one place that changes who sees a run, by a table of the moves that are allowed.

Each move is one transaction: a conditional update that only one of two reviewers can win, and one event. Nothing is
deleted, and every move of what everyone sees has one that takes it back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from results.access.history import accepted_warnings
from results.certification.certificates import refresh_certificates
from results.errors import ReviewRefusedError
from results.history import history_of, record_event, run_subject
from results.models import Run, Tier, Verdict, Visibility, YcsbRun

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from django.contrib.auth.models import AbstractBaseUser


@dataclass(frozen=True)
class Transition:
    """One way from state to state; `is_approval` where nobody may do it for what they sent themselves."""

    name: str
    before: frozenset[Visibility]
    after: frozenset[Visibility]
    event_kind: str
    is_approval: bool
    meaning: str


def _move(name: str, before: str, after: str, event_kind: str, *, is_approval: bool, meaning: str) -> Transition:
    return Transition(name, _states(before), _states(after), event_kind, is_approval, meaning)


def _states(words: str) -> frozenset[Visibility]:
    return frozenset(Visibility(word) for word in words.split())


TRANSITIONS = {
    move.name: move
    for move in (
        _move("publish", "unreviewed", "public", "run-published", is_approval=True, meaning="everyone sees it"),
        _move(
            "embargo",
            "unreviewed",
            "embargoed",
            "run-embargoed",
            is_approval=True,
            meaning="publish, where its submission is under embargo: reviewed, and seen as before until the moment",
        ),
        _move(
            "disclose",
            "embargoed",
            "public",
            "run-published",
            is_approval=False,
            meaning="the register itself does it when the embargo ends: everyone sees it",
        ),
        _move(
            "recall",
            "embargoed",
            "unreviewed",
            "run-recalled",
            is_approval=False,
            meaning="back to review before anybody saw it",
        ),
        _move(
            "supersede",
            "public",
            "superseded",
            "run-superseded",
            is_approval=False,
            meaning="a better run of the same product stands in its place; both link to each other",
        ),
        _move(
            "unsupersede",
            "superseded",
            "public",
            "run-unsuperseded",
            is_approval=True,
            meaning="it stands again beside the run that had taken its place",
        ),
        _move(
            "withdraw",
            "public superseded",
            "withdrawn",
            "run-withdrawn",
            is_approval=False,
            meaning="not to be relied on; it stays readable, with the notice and the reason",
        ),
        _move(
            "reinstate",
            "withdrawn",
            "public superseded",
            "run-reinstated",
            is_approval=True,
            meaning="back to where it was withdrawn from",
        ),
    )
}


WITHOUT_REASON = frozenset({"publish", "embargo", "disclose"})


@dataclass(frozen=True)
class _Change:
    """What a move writes besides the state."""

    columns: dict[str, Any] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)


def publish(run: Run, actor: AbstractBaseUser, in_spite_of: Sequence[str] = ()) -> None:
    """Show an unreviewed run to everyone, as reviewed or, from a lab of the register, as lab-verified.

    Under embargo it is reviewed now and shown when that ends. `in_spite_of` are warnings that the actor saw and
    accepted: the event keeps them. Raises ReviewRefusedError where it is the actor's own, has no product, ran on a
    virtual device, or is void.
    """
    with transaction.atomic():
        held = _hold(run)
        _refuse_unpublishable(held)
        tier = held.tier if held.tier == Tier.LAB_VERIFIED else Tier.REVIEWED
        details = {"in_spite_of": list(in_spite_of)} if in_spite_of else {}
        if ends_at := embargo_of(held):
            told = details | {"until": ends_at.isoformat()}
            _carry_out("embargo", held, actor, "", _Change({"tier": tier}, told))
        else:
            _carry_out("publish", held, actor, "", _Change({"tier": tier, "published_at": timezone.now()}, details))


def disclose(run: Run) -> None:
    """Show a run whose embargo has ended to everyone: the register does it, nobody else.

    The warnings that its reviewer accepted go with it: everyone may read them from here on.
    Raises ReviewRefusedError while the embargo lasts, and where the run could not be published now: it may have been
    judged anew since.
    """
    with transaction.atomic():
        held = _hold(run)
        if ends_at := embargo_of(held):
            raise ReviewRefusedError(f"{held.public_id} is under embargo until {ends_at:%Y-%m-%d %H:%M} UTC.")
        _refuse_unpublishable(held)
        in_spite_of = accepted_warnings(history_of(held).filter(subject_type="run"))
        details = {"in_spite_of": in_spite_of} if in_spite_of else {}
        _carry_out("disclose", held, None, "", _Change({"published_at": timezone.now()}, details))


def recall(run: Run, actor: AbstractBaseUser | None, reason: str) -> None:
    """Take a run that waits for the end of its embargo back into review: nobody has approved it then."""
    with transaction.atomic():
        held = _hold(run)
        tier = held.tier if held.tier == Tier.LAB_VERIFIED else Tier.VENDOR_REPORTED
        _carry_out("recall", held, actor, reason, _Change({"tier": tier}))


def embargo_of(run: Run) -> datetime | None:
    """Return when the embargo of a run's submission ends; None where it has none, or no longer."""
    ends_at = run.submission.embargo_until if run.submission else None
    return ends_at if ends_at is not None and ends_at > timezone.now() else None


def withdraw(run: Run, actor: AbstractBaseUser, reason: str) -> None:
    """Mark a run that everyone sees as withdrawn: it stays readable, with the notice and the reason."""
    _do("withdraw", run, actor, reason)


def reinstate(run: Run, actor: AbstractBaseUser, reason: str) -> None:
    """Take a withdrawal back: the run is public again, or superseded where it was."""
    _do("reinstate", run, actor, reason)


def supersede(run: Run, successor: Run, actor: AbstractBaseUser, reason: str) -> None:
    """Let another public run of the same product stand in the place of this one."""
    with transaction.atomic():
        # By rising key, so that two who supersede each other's run wait instead of locking each other out.
        both = Run.objects.select_for_update().filter(pk__in=[run.pk, successor.pk]).order_by("pk")
        held = {each.pk: each for each in both}
        _refuse_successor(held[run.pk], held[successor.pk])
        details = {"successor": successor.public_id}
        _carry_out("supersede", held[run.pk], actor, reason, _Change({"superseded_by": successor}, details))


def unsupersede(run: Run, actor: AbstractBaseUser, reason: str) -> None:
    """Let a superseded run stand again."""
    with transaction.atomic():
        held = _hold(run)
        details = {"successor": held.superseded_by.public_id} if held.superseded_by else {}
        _carry_out("unsupersede", held, actor, reason, _Change({"superseded_by": None}, details))


def allowed_transitions(run: Run, actor: AbstractBaseUser) -> list[Transition]:
    """Return the moves that the actor may make with a run as it stands, in the order of the table."""
    own = is_own(run, actor)
    return [move for move in TRANSITIONS.values() if run.visibility in move.before and not (own and move.is_approval)]


def is_own(run: Run, actor: AbstractBaseUser) -> bool:
    """Tell whether the actor sent the run."""
    return run.submission is not None and run.submission.submitted_by_id == actor.pk


def refuse_own(run: Run, actor: AbstractBaseUser, what: str) -> None:
    """Raise ReviewRefusedError where the actor sent the run: nobody approves their own."""
    if is_own(run, actor):
        raise ReviewRefusedError(f"{run.public_id}: you sent it yourself; another reviewer has to {what} it.")


def _do(name: str, run: Run, actor: AbstractBaseUser, reason: str) -> None:
    with transaction.atomic():
        _carry_out(name, _hold(run), actor, reason, _Change())


def _hold(run: Run) -> Run:
    """Lock the run's row until the transaction ends; what is read of it then is what the move is judged by."""
    return Run.objects.select_for_update(of=("self",)).select_related("submission", "superseded_by").get(pk=run.pk)


def _carry_out(name: str, held: Run, actor: AbstractBaseUser | None, reason: str, change: _Change) -> None:
    move = TRANSITIONS[name]
    if move.is_approval and actor is not None:
        refuse_own(held, actor, move.name)
    if name not in WITHOUT_REASON and not reason.strip():
        raise ReviewRefusedError(f"A reason is needed to {name} a run: it is shown with it.")
    after = _after(move, held)
    standing = Run.objects.filter(pk=held.pk, visibility__in=move.before)
    if not standing.update(visibility=after, **change.columns):
        expected = " or ".join(sorted(move.before))
        raise ReviewRefusedError(f"{held.public_id} is {held.visibility}; only a run that is {expected} can be: {name}")
    details = {"before": held.visibility, "after": after.value} | change.details
    record_event(actor, move.event_kind, run_subject(held), reason, details)
    refresh_certificates([held.product_id])


def _after(move: Transition, held: Run) -> Visibility:
    """Return the state that the move leads to; a reinstated run is superseded where it was."""
    if len(move.after) == 1:
        return next(iter(move.after))
    return Visibility.SUPERSEDED if held.superseded_by_id else Visibility.PUBLIC


def _refuse_unpublishable(run: Run) -> None:
    if run.is_virtual or (run.submission and run.submission.is_virtual):
        raise ReviewRefusedError(
            "It ran on a virtual device (loop, zram, file, or a disk without a name of its own), which never "
            "certifies: it cannot be published; decline it."
        )
    if run.product_id is None:
        raise ReviewRefusedError("No product is named yet; choose or create one first.")
    verdict = run.verdicts.first()
    if verdict is not None and verdict.outcome == Verdict.Outcome.VOID:
        # A void run is no valid measurement: its shares would head a table that ranks the lowest first.
        raise ReviewRefusedError(f"{run.public_id} is {verdict.headline}. A void run is not published; decline it.")
    if YcsbRun.objects.filter(run=run, validity=YcsbRun.Validity.INVALID).exists():
        raise ReviewRefusedError(f"{run.public_id} is no valid run of YCSB. It is not published; decline it.")


def _refuse_successor(run: Run, successor: Run) -> None:
    if run.pk == successor.pk:
        raise ReviewRefusedError(f"{run.public_id} cannot supersede itself; name another run.")
    if successor.visibility != Visibility.PUBLIC:
        raise ReviewRefusedError(f"{successor.public_id} is {successor.visibility}; only a public run supersedes one.")
    if run.product_id != successor.product_id:
        raise ReviewRefusedError(f"{successor.public_id} is of another product; only a run of the same one supersedes.")
