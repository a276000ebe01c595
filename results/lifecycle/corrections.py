"""Corrections of stated facts, annotations, and one decision about many runs; each is an event that can be undone."""

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from results.certification.certificates import refresh_certificates
from results.errors import ReviewRefusedError
from results.history import record_event, run_subject
from results.lifecycle import visibility
from results.lifecycle.visibility import refuse_own
from results.models import Annotation, Event, Finding, Run
from results.models.querysets import RunQuerySet

CORRECTED, TAKEN_BACK = "run-corrected", "correction-taken-back"
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
    return _write(run, stated, actor, (CORRECTED, reason))


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
        return _write(locked, before, actor, (TAKEN_BACK, reason))


def _write(run: Run, stated: Values, actor: AbstractBaseUser, kind_and_reason: tuple[str, str]) -> Event:
    kind, reason = kind_and_reason
    if not reason.strip():
        raise ReviewRefusedError("A reason is needed. The history shows it with both values.")
    with transaction.atomic():
        locked = Run.objects.select_for_update().get(pk=run.pk)
        changes = {
            name: value for name, value in stated.items() if json_value(getattr(locked, name)) != json_value(value)
        }
        if not changes:
            raise ReviewRefusedError(f"{run.public_id} already has these values. Nothing was changed.")
        details = {
            "changes": {name: [json_value(getattr(locked, name)), json_value(value)] for name, value in changes.items()}
        }
        Run.objects.filter(pk=locked.pk).update(**changes)
        event = record_event(actor, kind, run_subject(locked), reason, details)
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


def retract(annotation: Annotation, actor: AbstractBaseUser, reason: str) -> None:
    """Remove an annotation from the page; it stays in the history.

    Raises ReviewRefusedError for a run of the actor's own, without a reason, and where it was retracted already.
    """
    run = annotation.run
    refuse_own(run, actor, "retract an annotation of")
    if not reason.strip():
        raise ReviewRefusedError("A reason is needed to retract an annotation.")
    with transaction.atomic():
        current = Annotation.objects.current().filter(pk=annotation.pk)
        if not current.update(retracted_at=timezone.now()):
            raise ReviewRefusedError(f"This annotation of {run.public_id} was retracted already.")
        record_event(
            actor,
            "annotation-retracted",
            run_subject(run),
            reason,
            {"annotation": annotation.pk, "text": annotation.text},
        )


Decision = Callable[[Run, AbstractBaseUser, str], object]


@dataclass(frozen=True)
class Choice:
    """Conditions that select runs. Empty fields are ignored; a selected run meets all others."""

    organisation: str = ""
    tool_version: str = ""
    firmware: str = ""
    finding: str = ""
    reader_version: str = ""

    @property
    def is_empty(self) -> bool:
        """Return whether no condition is set. Such a choice would select every public run of the register."""
        return not any(vars(self).values())

    def runs(self) -> RunQuerySet:
        """Return the selected public runs, superseded and withdrawn ones included."""
        columns = {
            "submission__organisation__slug": self.organisation,
            "tool_version": self.tool_version,
            "firmware": self.firmware,
            "reading__reader_version": self.reader_version,
        }
        runs = Run.objects.public().filter(**{name: value for name, value in columns.items() if value})
        if self.finding:
            runs = runs.filter(Exists(Finding.objects.filter(run=OuterRef("pk"), rule_id=self.finding)))
        return runs.order_by("pk")


@dataclass
class Outcome:
    """Result of a decision about many runs: ids of changed runs, and the reason for each refused one."""

    done: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


def _retract(run: Run, actor: AbstractBaseUser, text: str) -> None:
    annotation = Annotation.objects.current().filter(run=run, text=text.strip()).first()
    if annotation is None:
        raise ReviewRefusedError(f"{run.public_id} carries no such annotation.")
    retract(annotation, actor, "retracted in bulk")


# `annotate` and `retract` take the annotation's own words in the place of a reason.
DECISIONS: dict[str, Decision] = {
    "annotate": lambda run, actor, text: annotate(run, text, actor),
    "retract": _retract,
    "withdraw": visibility.withdraw,
    "reinstate": visibility.reinstate,
}


def decide(runs: RunQuerySet, decision: str, actor: AbstractBaseUser, reason: str, *, is_dry: bool) -> Outcome:
    """Make a decision about each run, or in a dry run make it and take it back."""
    outcome = Outcome()
    for run in runs.select_related("submission"):
        try:
            with transaction.atomic():
                DECISIONS[decision](run, actor, reason)
                transaction.set_rollback(is_dry)
        except ReviewRefusedError as refusal:
            outcome.refused[run.public_id] = str(refusal)
        else:
            outcome.done.append(run.public_id)
    return outcome
