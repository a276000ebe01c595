"""Visibility of runs. Only this module changes it, by a table of the allowed transitions.

Each transition is one database transaction with the run locked, so that only one of two reviewers can win, and one
event. A transition that makes a result public happens with its last approval (results/lifecycle/approvals.py); before
that, its function stores one and returns False. Nothing is deleted, and each transition of a public run has one that
reverts it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils import timezone

from results.certification.certificates import refresh_certificates
from results.errors import ReviewRefusedError
from results.history import ACCEPTED_WARNINGS, accepted_warnings, history_of, record_event, run_subject
from results.ingest.same_logs import run_of_same_log
from results.lifecycle import approvals
from results.models import ApprovedStep, Evidence, Organisation, Run, Tier, Verdict, Visibility, VoidReason, YcsbRun


class SameLogError(ReviewRefusedError):
    """The organisation has another public run of the same log."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "same-log")


OWN_RUN = "own-submission"  # the code of a refusal: reviewers approve nothing that they sent


@dataclass(frozen=True)
class Transition:
    """One allowed change of state; `is_approval` if reviewers may not do it for their own runs."""

    name: str
    before: frozenset[Visibility]
    after: frozenset[Visibility]
    event_kind: str
    is_approval: bool
    meaning: str


def _states(words: str) -> frozenset[Visibility]:
    return frozenset(map(Visibility, words.split()))


APPROVALS = frozenset(ApprovedStep.values)


def _transitions(*rows: tuple[str, str, str, str, str]) -> dict[str, Transition]:
    """Return transitions by name from rows of a name, the states before and after, the event kind and the meaning."""
    return {
        name: Transition(name, _states(before), _states(after), event_kind, name in APPROVALS, meaning)
        for name, before, after, event_kind, meaning in rows
    }


TRANSITIONS = _transitions(
    ("publish", "unreviewed", "public", "run-published", "everyone sees the run"),
    ("embargo", "unreviewed", "embargoed", "run-embargoed",
     "the run is reviewed now, and becomes public when its embargo ends"),
    ("disclose", "embargoed", "public", "run-published", "the register publishes the run when its embargo ends"),
    ("recall", "embargoed", "unreviewed", "run-recalled", "the run returns to review before it becomes public"),
    ("supersede", "public", "superseded", "run-superseded",
     "a better run of the same product replaces this run; both link to each other"),
    ("unsupersede", "superseded", "public", "run-unsuperseded",
     "the run is listed again, together with the run that replaced it"),
    ("withdraw", "public superseded", "withdrawn", "run-withdrawn",
     "the run is marked as unreliable; its page stays, with a notice and the reason"),
    ("reinstate", "withdrawn", "public superseded", "run-reinstated",
     "the run returns to its state before the withdrawal"),
)  # fmt: skip
# Example runs have transitions of their own, and no others: no reviewer publishes or withdraws them.
EXAMPLE_TRANSITIONS = _transitions(
    ("show-example", "unreviewed", "public", "run-shown-as-example",
     "everyone sees the example run at its own address; no list has it"),
    ("remove-example", "public", "unreviewed", "run-removed-as-example",
     "the example run leaves the site; its evidence stays"),
)  # fmt: skip
# What only the sender does, before a run was public (results/lifecycle/own_withdrawal.py).
SENDER_TRANSITIONS = _transitions(
    ("retract", "unreviewed embargoed", "retracted", "run-retracted",
     "the sender withdrew the run before it was public; no reviewer publishes it"),
    ("restore", "retracted", "unreviewed", "run-restored", "the sender returned the run to review"),
)  # fmt: skip
# What only operators do, two for each takedown (results/lifecycle/takedowns.py).
TAKEDOWN_TRANSITIONS = _transitions(
    ("sequester", "public superseded withdrawn", "sequestered", "run-sequestered",
     "the run is withheld for legal reasons; its page says so, and only operators see the run"),
    ("release", "sequestered", "public superseded withdrawn", "run-released",
     "the run returns to its state before the takedown"),
)  # fmt: skip


WITHOUT_REASON = frozenset({"publish", "embargo", "disclose", "show-example", "restore"})


def publish(run: Run, actor: AbstractBaseUser, warnings: Sequence[str] = ()) -> bool:
    """Publish an unreviewed run as reviewed or, from a lab of the register, as lab-verified; return whether it is done.

    Under embargo, the run is reviewed now and public when the embargo ends. `warnings` are those that the actor
    saw and accepted; they are stored in the event. Raises ReviewRefusedError if the run is the actor's own, has no
    product, ran on a virtual device, or is void, and if no operator has confirmed its organisation. Raises SameLogError
    if the organisation has the same log in another submission that is public or will be.
    """
    with transaction.atomic():
        locked = lock_run(run)
        _refuse_unpublishable(locked)
        _refuse_same_log(locked)
        tier = locked.tier if locked.tier == Tier.LAB_VERIFIED else Tier.REVIEWED
        details: dict[str, Any] = {ACCEPTED_WARNINGS: list(warnings)} if warnings else {}
        if ends_at := embargo_of(locked):
            details["until"] = ends_at.isoformat()
            return _carry_out("embargo", locked, actor, columns={"tier": tier}, details=details)
        columns = {"tier": tier, "published_at": timezone.now()}
        return _carry_out("publish", locked, actor, columns=columns, details=details)


def disclose(run: Run) -> None:
    """Publish a run whose embargo has ended; only the register itself does this.

    The warnings that its reviewer accepted become public, too. Raises ReviewRefusedError while the embargo lasts, and
    if the run can no longer be published, for example after a re-evaluation.
    """
    with transaction.atomic():
        locked = lock_run(run)
        if ends_at := embargo_of(locked):
            raise ReviewRefusedError(f"{locked.public_id} is under embargo until {ends_at:%Y-%m-%d %H:%M} UTC.")
        _refuse_unpublishable(locked)
        if not approvals.has_approvals(locked):
            raise ReviewRefusedError(
                f"The approvals of {locked.public_id} are void: its reading or its verdict changed. It needs new ones."
            )
        warnings = accepted_warnings(history_of(locked).filter(subject_type="run"))
        details = {ACCEPTED_WARNINGS: warnings} if warnings else {}
        _carry_out("disclose", locked, None, columns={"published_at": timezone.now()}, details=details)


def recall(
    run: Run, actor: AbstractBaseUser | None, reason: str, void_reason: VoidReason = VoidReason.RECALLED
) -> None:
    """Return an embargoed run to review. Its approvals become void."""
    with transaction.atomic():
        locked = lock_run(run)
        approvals.void_approvals(locked, void_reason)
        tier = locked.tier if locked.tier == Tier.LAB_VERIFIED else Tier.VENDOR_REPORTED
        _carry_out("recall", locked, actor, reason, columns={"tier": tier, "predates_approvals": False})


def require_new_approvals(run: Run, actor: AbstractBaseUser | None, void_reason: VoidReason, reason: str) -> None:
    """Make the approvals of a changed run void. A run under embargo returns to review; a public one stays public."""
    if run.visibility == Visibility.EMBARGOED:
        recall(run, actor, reason, void_reason)
    else:
        approvals.void_approvals(run, void_reason)


def retract(run: Run, actor: AbstractBaseUser, reason: str) -> None:
    """Withdraw a run of the actor's organisation that was never public. Its approvals become void."""
    with transaction.atomic():
        locked = lock_run(run)
        approvals.void_approvals(locked, VoidReason.WITHDRAWN)
        tier = locked.tier if locked.tier == Tier.LAB_VERIFIED else Tier.VENDOR_REPORTED
        _carry_out("retract", locked, actor, reason, columns={"tier": tier, "predates_approvals": False})


def restore(run: Run, actor: AbstractBaseUser) -> None:
    """Return a retracted run to review."""
    with transaction.atomic():
        _carry_out("restore", lock_run(run), actor)


def embargo_of(run: Run) -> datetime | None:
    """Return the end of the embargo of a run's submission; None if it has no embargo or the embargo has ended."""
    ends_at = run.submission.embargo_until if run.submission else None
    return ends_at if ends_at is not None and ends_at > timezone.now() else None


def withdraw(run: Run, actor: AbstractBaseUser, reason: str) -> None:
    """Mark a public run as withdrawn. It stays readable, with the notice and the reason."""
    with transaction.atomic():
        locked = lock_run(run)
        approvals.void_approvals(locked, VoidReason.WITHDRAWN)
        _carry_out("withdraw", locked, actor, reason)


def reinstate(run: Run, actor: AbstractBaseUser, reason: str) -> bool:
    """Revert a withdrawal: the run is public again, or superseded if it was superseded before."""
    with transaction.atomic():
        locked = lock_run(run)
        _refuse_same_log(locked)
        return _carry_out("reinstate", locked, actor, reason)


def supersede(run: Run, successor: Run, actor: AbstractBaseUser, reason: str, warnings: Sequence[str] = ()) -> bool:
    """Supersede a run by another public run of the same product.

    `warnings` are those that the actor saw and accepted; they are stored in the event.
    """
    with transaction.atomic():
        # By rising key, so that two reviewers who supersede each other's run wait instead of causing a deadlock.
        both = Run.objects.select_for_update().filter(pk__in=[run.pk, successor.pk]).order_by("pk")
        locked = {each.pk: each for each in both}
        _refuse_successor(locked[run.pk], locked[successor.pk])
        details: dict[str, Any] = {"successor": successor.public_id}
        if warnings:
            details[ACCEPTED_WARNINGS] = list(warnings)
        columns = {"superseded_by": successor}
        return _carry_out("supersede", locked[run.pk], actor, reason, columns=columns, details=details)


def unsupersede(run: Run, actor: AbstractBaseUser, reason: str) -> bool:
    """Make a superseded run public again."""
    with transaction.atomic():
        locked = lock_run(run)
        details = {"successor": locked.superseded_by.public_id} if locked.superseded_by else {}
        return _carry_out("unsupersede", locked, actor, reason, columns={"superseded_by": None}, details=details)


def sequester(run: Run, actor: AbstractBaseUser, reason: str, details: Mapping[str, Any]) -> Visibility:
    """Withhold a public run for legal reasons, and return its state before. Its approvals stay valid."""
    with transaction.atomic():
        locked = lock_run(run)
        _carry_out("sequester", locked, actor, reason, details=details)
        return Visibility(locked.visibility)


def release(run: Run, actor: AbstractBaseUser | None, reason: str, details: Mapping[str, Any]) -> None:
    """Return a sequestered run to its state before."""
    with transaction.atomic():
        _carry_out("release", lock_run(run), actor, reason, details=details)


def show_example(run: Run) -> None:
    """Show an example run of the register at its own address."""
    with transaction.atomic():
        _carry_out("show-example", lock_run(run), None, columns={"published_at": timezone.now()})


def remove_example(run: Run, reason: str) -> None:
    """Remove an example run from the site. Its evidence and rows stay, and show_example() shows it again."""
    with transaction.atomic():
        _carry_out("remove-example", lock_run(run), None, reason)


def allowed_transitions(run: Run, actor: AbstractBaseUser) -> list[Transition]:
    """Return the transitions that the actor may make with a run now, in the order of the table; none for examples."""
    if run.is_demo:
        return []
    own = is_own(run, actor)
    return [
        transition
        for transition in TRANSITIONS.values()
        if run.visibility in transition.before and not (own and transition.is_approval)
    ]


def is_own(run: Run, actor: AbstractBaseUser) -> bool:
    """Return whether the actor sent the run."""
    return run.submission is not None and run.submission.submitted_by_id == actor.pk


def refuse_own(run: Run, actor: AbstractBaseUser, what: str) -> None:
    """Raise ReviewRefusedError if the actor sent the run: approval needs another person."""
    if is_own(run, actor):
        raise ReviewRefusedError(f"You submitted run {run.public_id}, so another reviewer has to {what} it.", OWN_RUN)


def lock_run(run: Run) -> Run:
    """Lock the run's row until the transaction ends, and return the run that the transition is checked against."""
    return (
        Run.objects.select_for_update(of=("self",))
        .select_related("submission__organisation", "superseded_by")
        .get(pk=run.pk)
    )


def _carry_out(
    name: str,
    locked: Run,
    actor: AbstractBaseUser | None,
    reason: str = "",
    *,
    columns: Mapping[str, Any] = MappingProxyType({}),
    details: Mapping[str, Any] = MappingProxyType({}),
) -> bool:
    """Make one transition, with the columns and event details that it writes in addition to the state.

    Return False if the transition still needs another approval.
    """
    table = EXAMPLE_TRANSITIONS if locked.is_demo else TRANSITIONS | SENDER_TRANSITIONS | TAKEDOWN_TRANSITIONS
    if name not in table:
        raise ReviewRefusedError(_wrong_kind_message(locked, name))
    transition = table[name]
    if transition.is_approval and actor is not None:
        refuse_own(locked, actor, transition.name)
    if name not in WITHOUT_REASON and not reason.strip():
        raise ReviewRefusedError(f"Enter a reason to {name} a run. The page of the run shows the reason.")
    if locked.visibility not in transition.before:
        expected = " or ".join(sorted(transition.before))
        raise ReviewRefusedError(
            f"{locked.public_id} is {locked.visibility}; only a run that is {expected} can be: {name}"
        )
    if transition.is_approval or transition.name == "disclose":
        _refuse_hidden_log(locked)
    if not _is_approved(transition, locked, actor, reason, columns.get("superseded_by")):
        return False
    after = _after(transition, locked)
    Run.objects.filter(pk=locked.pk).update(visibility=after, **columns)
    stated = {"before": locked.visibility, "after": after.value, **details}
    record_event(actor, transition.event_kind, run_subject(locked), reason, stated)
    refresh_certificates([locked.product_id])
    return True


def _is_approved(
    transition: Transition, locked: Run, actor: AbstractBaseUser | None, reason: str, successor: Run | None
) -> bool:
    """Store the actor's approval of a step that needs approvals, and return whether the step has enough of them."""
    if not transition.is_approval or actor is None or not approvals.needs_approvals(locked):
        return True
    step = ApprovedStep(transition.name)
    if not approvals.approve(locked, step, actor, reason, successor).is_enough:
        return False
    approvals.carry_out(locked, step, successor)
    return True


def _wrong_kind_message(run: Run, name: str) -> str:
    if run.is_demo:
        return (
            f"{run.public_id} is an example run of the register, so it cannot be: {name}. `manage.py demo --remove` "
            "removes it from the site."
        )
    return f"{run.public_id} is no example run, so it cannot be: {name}."


def _after(transition: Transition, locked: Run) -> Visibility:
    """Return the state after the transition. Two transitions return to the state before.

    A reinstated run is superseded if it was superseded before; a takedown stores the state.
    """
    if len(transition.after) == 1:
        return next(iter(transition.after))
    if locked.visibility == Visibility.SEQUESTERED:
        return Visibility(locked.takedowns.get(ended_at__isnull=True).before)
    return Visibility.SUPERSEDED if locked.superseded_by_id else Visibility.PUBLIC


def _refuse_unpublishable(run: Run) -> None:
    if run.submission and run.submission.organisation.confirmed_at is None:
        raise ReviewRefusedError(
            f"No operator has confirmed the organisation {run.submission.organisation} yet, so its runs cannot be "
            "published. Ask an operator to confirm it at /accounts/organisations/.",
            "organisation-not-confirmed",
        )
    if run.is_virtual or (run.submission and run.submission.is_virtual):
        raise ReviewRefusedError(
            "The run used a virtual device (loop, zram, file, or a disk without a name of its own), which never "
            "certifies, so the run cannot be published. Decline it.",
            "virtual-device",
        )
    if run.product_id is None:
        raise ReviewRefusedError("The run has no product yet. Choose or create a product first.", "no-product")
    verdict = run.verdicts.first()
    if verdict is not None and verdict.outcome == Verdict.Outcome.VOID:
        # A void run is no valid measurement: its shares would head a table that ranks the lowest first.
        raise ReviewRefusedError(
            f"{run.public_id} is {verdict.headline}. A void run is not published; decline it.", "void-run"
        )
    if YcsbRun.objects.filter(run=run, validity=YcsbRun.Validity.INVALID).exists():
        raise ReviewRefusedError(
            f"{run.public_id} is no valid run of YCSB. It is not published; decline it.", "invalid-run"
        )


def _refuse_hidden_log(run: Run) -> None:
    """Raise ReviewRefusedError if the log is hidden: no reader could check the result."""
    if Evidence.objects.filter(submission__runs=run, hidden=True).exists():
        raise ReviewRefusedError(
            f"The log of run {run.public_id} is hidden on request of its organisation, so no reader can check the "
            "result. It cannot be approved or become public. An operator can end the hiding at /hidden-files/."
        )


def _refuse_same_log(run: Run) -> None:
    """Raise ReviewRefusedError if the organisation has the same log in another submission that is public or will be."""
    if run.submission is None:
        return
    # Of two reviewers who publish the two submissions at once, the second one waits and then sees the first.
    Organisation.objects.select_for_update(no_key=True).get(pk=run.submission.organisation_id)
    same = run_of_same_log(run)
    if same is not None and same.submission is not None:
        raise SameLogError(
            f"{run.public_id} has the same log as run {same.public_id} of submission {same.submission.public_id}, "
            f"which is {same.visibility}. A log is published once. Decline this one, or withdraw that "
            "run first."
        )


def _refuse_successor(run: Run, successor: Run) -> None:
    if run.pk == successor.pk:
        raise ReviewRefusedError(f"{run.public_id} cannot supersede itself; name another run.")
    if successor.visibility != Visibility.PUBLIC:
        raise ReviewRefusedError(f"{successor.public_id} is {successor.visibility}; only a public run supersedes one.")
    if run.product_id != successor.product_id:
        raise ReviewRefusedError(
            f"{successor.public_id} is of another product; only a run of the same product supersedes."
        )
