"""Corrections of stated facts, and annotations; each is an event that can be undone."""

from decimal import Decimal
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils import timezone

from results.certification.certificates import refresh_certificates
from results.errors import ReviewRefusedError
from results.history import ANNOTATION_REPLIED, record_event, run_subject
from results.lifecycle.visibility import refuse_own, require_new_approvals
from results.models import Annotation, Event, Run, Visibility, VoidReason

CORRECTED, TAKEN_BACK = "run-corrected", "correction-taken-back"
STATED_BY_SENDER = "stated by the sender for this log"
CORRECTABLE = ("firmware", "over_provisioning_pct", "over_provisioned_to_gb", "region", "zone", "notes")
Values = dict[str, Any]


def correct(run: Run, stated: Values, actor: AbstractBaseUser, reason: str) -> Event:
    """Write the values that differ from the current ones, and return the event with both.

    Raises ReviewRefusedError for a field that the log states, if no value differs, without a reason, and for the
    actor's own run.
    """
    refuse_own(run, actor, "correct")
    unknown = sorted(set(stated) - set(CORRECTABLE))
    if unknown:
        raise ReviewRefusedError(f"Not corrected by hand: {', '.join(unknown)}; only {', '.join(CORRECTABLE)} are.")
    return _write(run, stated, actor, CORRECTED, reason)


def may_state_facts(run: Run) -> bool:
    """Return whether the sender may state other facts about one log: of an archive, before its review has ended."""
    return bool(run.member) and run.visibility == Visibility.UNREVIEWED


def state_facts(run: Run, stated: Values, actor: AbstractBaseUser) -> Event:
    """Write what the sender states about one log of an archive, and return the event with the values before and after.

    The submission states one set of facts for all its logs. Open approvals of the run become void. Raises
    ReviewRefusedError if no value differs, and for a run that is reviewed or not in an archive.
    """
    with transaction.atomic():
        locked = Run.objects.select_for_update().get(pk=run.pk)
        if not may_state_facts(locked):
            raise ReviewRefusedError(
                f"{run.public_id} is {locked.visibility}. The sender states facts only of a log in an archive, before "
                "its review has ended. Ask a reviewer to correct them."
            )
        return _write(locked, stated, actor, CORRECTED, STATED_BY_SENDER)


def take_back(event: Event, actor: AbstractBaseUser, reason: str) -> Event:
    """Restore the values from before a correction. Raises ReviewRefusedError if one of them was changed since."""
    run = Run.objects.filter(public_id=event.subject_id).first()
    if event.kind != CORRECTED or run is None:
        raise ReviewRefusedError("Only a correction of a run is taken back.")
    refuse_own(run, actor, "take back a correction of")
    changes: dict[str, list[str | int | None]] = event.details["changes"]
    with transaction.atomic():
        locked = Run.objects.select_for_update().get(pk=run.pk)
        later = sorted(name for name, (_, after) in changes.items() if json_value(getattr(locked, name)) != after)
        if later:
            raise ReviewRefusedError(f"{run.public_id}: {', '.join(later)} was changed since; correct it instead.")
        before = {name: _value(name, before) for name, (before, _) in changes.items()}
        return _write(locked, before, actor, TAKEN_BACK, reason)


def _write(run: Run, stated: Values, actor: AbstractBaseUser, kind: str, reason: str) -> Event:
    if not reason.strip():
        raise ReviewRefusedError("A reason is needed. The history shows it with both values.")
    with transaction.atomic():
        locked = Run.objects.select_for_update().get(pk=run.pk)
        both = {name: [json_value(getattr(locked, name)), json_value(value)] for name, value in stated.items()}
        changes = {name: [before, after] for name, (before, after) in both.items() if before != after}
        if not changes:
            raise ReviewRefusedError(f"{run.public_id} already has these values. Nothing was changed.")
        Run.objects.filter(pk=locked.pk).update(**{name: stated[name] for name in changes})
        event = record_event(actor, kind, run_subject(locked), reason, {"changes": changes})
        require_new_approvals(locked, actor, VoidReason.CORRECTED, reason)
        refresh_certificates([locked.product_id])
    return event


def json_value(value: Any) -> str | int | None:
    """Return a value as an event's JSON holds it: decimals as text without trailing zeros."""
    if isinstance(value, Decimal):
        text = f"{value:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return value if value is None or isinstance(value, int) else str(value)


def _value(name: str, before: str | int | None) -> Any:
    return Decimal(before) if name == "over_provisioning_pct" and before is not None else before


def annotate(run: Run, text: str, actor: AbstractBaseUser) -> Annotation:
    """Add a sentence to a run's figures, for everyone who sees the run.

    Raises ReviewRefusedError without a sentence, or if the run already has the same one.
    """
    sentence = text.strip()
    if not sentence:
        raise ReviewRefusedError("Enter the text of the annotation.")
    with transaction.atomic():
        Run.objects.select_for_update().get(pk=run.pk)  # of two reviewers at once, the second one sees the first
        if run.annotations.current().filter(text=sentence).exists():
            raise ReviewRefusedError(f"{run.public_id} carries this annotation already.")
        annotation = Annotation.objects.create(run=run, text=sentence, author_id=actor.pk)
        record_event(actor, "run-annotated", run_subject(run), sentence, {"annotation": annotation.pk})
    return annotation


def reply_to_annotation(annotation: Annotation, actor: AbstractBaseUser, text: str) -> None:
    """Reply in public to a current annotation, once, for the organisation that submitted the run.

    The caller checks the user's role. Raises ReviewRefusedError without a text, and for a second reply.
    """
    if not text.strip():
        raise ReviewRefusedError("Enter the text of the reply. Everyone reads it below the annotation.")
    with transaction.atomic():
        open_ones = Annotation.objects.current().filter(pk=annotation.pk, reply="")
        replied = {"reply": text.strip(), "replied_by": actor.pk, "replied_at": timezone.now()}
        if not open_ones.update(**replied):
            raise ReviewRefusedError(
                f"This annotation of {annotation.run.public_id} was retracted, or has a reply already. It gets one."
            )
        details = {"annotation": annotation.pk}
        record_event(actor, ANNOTATION_REPLIED, run_subject(annotation.run), text.strip(), details)


def retract(annotation: Annotation, actor: AbstractBaseUser, reason: str) -> None:
    """Remove an annotation from the page; it stays in the history.

    Raises ReviewRefusedError for a run of the actor's own, without a reason, and where it was retracted already.
    """
    run = annotation.run
    refuse_own(run, actor, "retract an annotation of")
    if not reason.strip():
        raise ReviewRefusedError("A reason is needed to retract an annotation.")
    with transaction.atomic():
        Run.objects.select_for_update().get(pk=run.pk)  # as for each change of what tables show of a run
        current = Annotation.objects.current().filter(pk=annotation.pk)
        if not current.update(retracted_at=timezone.now()):
            raise ReviewRefusedError(f"This annotation of {run.public_id} was retracted already.")
        details = {"annotation": annotation.pk, "text": annotation.text}
        record_event(actor, "annotation-retracted", run_subject(run), reason, details)
